import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerSummary, type AnswerVerdict, judgeAnswer, sameId } from '../../src/wire/summary.js';

const judge = (text: string): Omit<AnswerVerdict, 'id_from' | 'id_to'> => {
  const { id_from, id_to, ...rest } = judgeAnswer(Buffer.from(text));
  return rest;
};
const base: Omit<AnswerVerdict, 'id_from' | 'id_to'> = {
  kind: 'other',
  id: undefined,
  method: undefined,
  outcome: 'ok',
  rpc_code: undefined,
  progress: false,
  complete: true,
};

test('answers, errors, notifications and requests are told apart at any key order', () => {
  assert.deepEqual(judge('{"jsonrpc":"2.0","id":1,"result":{}}'), { ...base, kind: 'response', id: '1' });
  assert.deepEqual(judge('{"result":{"content":[{"isError":true}],"isError":false},"id":"a b"}'), {
    ...base,
    kind: 'response',
    id: '"a b"',
  });
  assert.deepEqual(judge('{"result":{"content":[{"text":"}{\\""}],"isError" : true , "x":1},"id":-0}'), {
    ...base,
    kind: 'response',
    id: '-0',
    outcome: 'tool_error',
  });
  assert.deepEqual(judge(' {"id":null,"error":{"data":{"code":1},"message":"code","code":-32601}}\n'), {
    ...base,
    kind: 'response',
    outcome: 'rpc_error',
    rpc_code: -32601,
  });
  assert.deepEqual(judge('{"method":"notifications/progress","params":{"id":5,"result":{"isError":true}}}'), {
    ...base,
    kind: 'notification',
    method: 'notifications/progress',
    progress: true,
  });
  assert.deepEqual(judge('{"id":"e1","method":"elicitation/create"}'), {
    ...base,
    kind: 'request',
    id: '"e1"',
    method: 'elicitation/create',
  });
  assert.deepEqual(judge('{"id":1,"result":[{"isError":true}]}'), { ...base, kind: 'response', id: '1' });
  assert.deepEqual(judge('{"id":1,"result":null,"error":null}'), { ...base, kind: 'response', id: '1' });
  assert.deepEqual(judge('{"id":1,"error":{"code":1.5}}').rpc_code, undefined);
});

test('keys and values that are written with escapes are read', () => {
  const answer = judge('{"\\u0069d":"\\"\\u00e9é","\\u0072esult":{"is\\u0045rror":true}}');
  assert.deepEqual(answer, { ...base, kind: 'response', id: '"\\"\\u00e9é"', outcome: 'tool_error' });
});

test('what is no single object is not complete', () => {
  assert.deepEqual(judge(''), { ...base, complete: false });
  assert.deepEqual(judge('[{"id":1,"result":{}}]'), { ...base, complete: false, id: undefined });
  assert.deepEqual(judge('null'), { ...base, complete: false });
  assert.equal(judge('{"id":1,"result":{}').complete, false);
  assert.equal(judge('{"id":1,"result":{}}}').complete, false);
  assert.equal(judge('{"id":1,"result":{}}{}').complete, false);
  assert.equal(judge('{"id":1,"result":{}} x').complete, false);
  assert.equal(judge('{"id":1,"result":{"a":"\\"}}').complete, false);
});

test('a message with two ids is not complete, however they are written', () => {
  for (const text of ['{"id":2,"id":1,"result":{}}', '{"id":"a","result":{},"\\u0069d":1}', '{"id":null,"id":1}', '{"id":{},"id":[1]}'])
    assert.equal(judge(text).complete, false, text);
  assert.equal(judge('{"result":{"id":1,"a":{"id":1}},"id":1,"params":{"id":2}}').complete, true);
});

test('an id is held up to 2 KiB, and nothing else is', () => {
  const long = 'x'.repeat(2046);
  assert.equal(judge(`{"id":"${long}","result":{}}`).id, `"${long}"`);
  assert.equal(judge(`{"id":"${long}${long}","result":{}}`).id, undefined);
  assert.equal(judge(`{"id":1,"${long}${long}":1,"result":{"isError":true}}`).outcome, 'tool_error');
});

test('any cut gives the answer of the whole', () => {
  const text = Buffer.from(
    `{"\\u0069d":"é\\\\","result":{"content":[{"type":"text","text":"${'a\\"b\\\\'.repeat(30)}${'z'.repeat(80)}\\\\"}],"isError":true},"error":{"code":-3}}`,
  );
  const expected = judgeAnswer(text);
  assert.deepEqual([expected.id, expected.outcome, expected.rpc_code, expected.complete], ['"é\\\\"', 'rpc_error', -3, true]);
  for (let cut = 0; cut <= text.length; cut++) {
    const probe = new AnswerSummary();
    probe.push(text.subarray(0, cut));
    probe.push(text.subarray(cut));
    assert.deepEqual(probe.finish(), expected, `cut at ${cut}`);
  }
});

test('ids are one when type and value are one', () => {
  assert.equal(sameId('1', '1'), true);
  assert.equal(sameId('1', '"1"'), false);
  assert.equal(sameId('0', '""'), false);
  assert.equal(sameId('0', '-0'), true);
  assert.equal(sameId('9007199254740993', '9007199254740992'), false);
  assert.equal(sameId('"a\\u2028b"', '"a\u2028b"'), true);
  assert.equal(sameId('"\\u0041"', '"A"'), true);
  assert.equal(sameId('"a"', '"b"'), false);
  assert.equal(sameId(undefined, undefined), false);
  assert.equal(sameId('"1', '1'), false);
});
