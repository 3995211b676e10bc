import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spellsId, withId } from '../../src/wire/id.js';
import { judgeAnswer } from '../../src/wire/summary.js';

test('an answer’s id spells the one that was asked with when it is the same integer, as number or string', () => {
  const yes = [
    ['1', '1'],
    ['"1"', '1'],
    ['1', '"1"'],
    ['-7', '"-7"'],
    ['"\\u0031"', '1'],
    ['1', '"\\u0031"'],
    ['"9223372036854775807"', '9223372036854775807'],
    ['"\\u0041"', '"A"'],
    ['0', '-0'],
  ] as const;
  for (const [answered, asked] of yes) assert.equal(spellsId(answered, asked), true, `${answered} for ${asked}`);
  const no = [
    ['2', '1'],
    ['"2"', '1'],
    ['"01"', '1'],
    ['"1 "', '1'],
    ['"+1"', '1'],
    ['1.0', '1'],
    ['1.0', '"1.0"'],
    ['true', '"true"'],
    ['""', '0'],
    ['"-0"', '0'],
    ['9007199254740992', '"9007199254740993"'],
    ['"a"', '"b"'],
    [undefined, '1'],
    ['1', undefined],
    [undefined, undefined],
  ] as const;
  for (const [answered, asked] of no) assert.equal(spellsId(answered, asked), false, `${answered} for ${asked}`);
});

test('an id is put in the place of another, in front where there was none, and taken out, wherever it stands', () => {
  const put = (text: string, id: string | undefined): string | undefined => {
    const bytes = Buffer.from(text);
    const { id_from, id_to } = judgeAnswer(bytes);
    const told = withId(bytes, id_from, id_to, id);
    return told === undefined ? undefined : Buffer.from(told).toString();
  };
  const rows = [
    ['{"id":"1","result":{}}', '{"id":7,"result":{}}', '{"result":{}}'],
    ['{"result":{"id":3},"id":null}', '{"result":{"id":3},"id":7}', '{"result":{"id":3}}'],
    ['{ "result" : {} , "id" : "a\\"b" }', '{ "result" : {} , "id" : 7 }', '{ "result" : {} }'],
    ['{"jsonrpc":"2.0", "id" : -12 ,"error":{}}', '{"jsonrpc":"2.0", "id" : 7 ,"error":{}}', '{"jsonrpc":"2.0", "error":{}}'],
    ['{"\\u0069d":1,"error":{}}', '{"\\u0069d":7,"error":{}}', '{"error":{}}'],
    ['\n{"error":{}}', '\n{"id":7,"error":{}}', '\n{"error":{}}'],
    ['{"id":"é","error":{"message":"ü"}}', '{"id":7,"error":{"message":"ü"}}', '{"error":{"message":"ü"}}'],
    [`{"error":{},"id":"${'x'.repeat(3000)}"}`, '{"error":{},"id":7}', '{"error":{}}'],
    ['{"error":{},"id":{"a":1}}', undefined, undefined],
  ] as const;
  for (const [text, put_in, taken_out] of rows) {
    assert.equal(put(text, '7'), put_in, text);
    assert.equal(put(text, undefined), taken_out, text);
    if (put_in !== undefined)
      assert.deepEqual(Object.keys(JSON.parse(put_in)).sort(), [...new Set([...Object.keys(JSON.parse(text)), 'id'])].sort());
  }
});
