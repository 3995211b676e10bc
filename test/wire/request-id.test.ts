import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_WINDOW_BYTES, RequestIdReader, requestIdOf } from '../../src/wire/request-id.js';

const idOf = (text: string): string | undefined => requestIdOf(Buffer.from(text));
const pad = (bytes: number): string => 'x'.repeat(bytes);

describe('the id at the start of a body', () => {
  const found = [
    ['first', '{"jsonrpc":"2.0","id":7,"method":"ping"}', '7'],
    ['last, behind nested ones', '{"method":"x","params":{"id":1,"a":[{"id":2}]},"id":"mine"}', '"mine"'],
    ['as it was sent', ' {\n"id" : "a\\u0031" , "method":"x"}', '"a\\u0031"'],
    ['key in escapes', '{"\\u0069\\u0064":3,"method":"x"}', '3'],
    ['zero', '{"id":0,"method":"x"}', '0'],
    ['empty', '{"id":"","method":"x"}', '""'],
    ['64 bits', '{"id":-9223372036854775808,"method":"x"}', '-9223372036854775808'],
    ['256 bytes', `{"id":"${pad(256)}","method":"x"}`, `"${pad(256)}"`],
    ['in a body that breaks off', '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a', '7'],
    ['in a body that breaks off in a character', Buffer.from('{"id":7,"method":"é').subarray(0, -1).toString('latin1'), '7'],
    ['without a method', '{"id":7}', '7'],
  ] as const;
  for (const [name, text, id] of found)
    test(`${name}: ${id.slice(0, 40)}`, () => assert.equal(requestIdOf(Buffer.from(text, 'latin1')), id));

  const none = [
    ['', 'nothing'],
    ['   ', 'white space'],
    ['{', 'a brace'],
    ['{}', 'an empty object'],
    ['[{"id":1,"method":"x"}]', 'a batch'],
    ['"id"', 'a string'],
    ['{"id":null,"method":"x"}', 'null'],
    ['{"id":1.5,"method":"x"}', 'a fraction'],
    ['{"id":1e3,"method":"x"}', 'an exponent'],
    ['{"id":9223372036854775808,"method":"x"}', 'more than 64 bits'],
    [`{"id":"${pad(257)}","method":"x"}`, '257 bytes'],
    [`{"id":"${pad(3_000)}","method":"x"}`, 'a long text'],
    ['{"id":true,"method":"x"}', 'a boolean'],
    ['{"id":{"id":1},"method":"x"}', 'an object'],
    ['{"id":[1],"method":"x"}', 'an array'],
    ['{"id":"\\ud800","method":"x"}', 'half a surrogate pair'],
    ['{"params":{"id":1},"method":"x"}', 'a nested one only'],
    ['{"id":1,"id":2,"method":"x"}', 'two'],
    ['{"id":1,"ID":2,"method":"x"}', 'two for a parser that folds case'],
    ['{"ID":2,"method":"x"}', 'another case'],
    ['{"id":1', 'a number that may go on'],
    ['{"id":"a', 'a text that goes on'],
    ['{"id":1 "method":"x"}', 'broken JSON'],
    ['{"id":01,"method":"x"}', 'a broken number'],
    ['{"id":1,"method":tru,"x":1}    ', 'a broken word'],
    ['{"id":7,"result":{}}', 'a response'],
    ['{"result":{},"id":7}', 'a response, its id last'],
    ['{"id":7,"error":{', 'a response that breaks off'],
    ['\ufeff{"id":1,"method":"x"}', 'a byte order mark'],
    [`{"id":1,"method":"x","params":${'['.repeat(200)}`, 'deep nesting'],
  ] as const;
  for (const [text, name] of none) test(`none in ${name}`, () => assert.equal(idOf(text), undefined));

  test('only the first 64 KiB are looked at', () => {
    const before = (size: number): string => `{"a":"${pad(size)}","id":1,"method":"x"}`;
    const head = before(0).indexOf('"id":1,') + '"id":1,'.length;
    assert.equal(idOf(before(ID_WINDOW_BYTES - head)), '1');
    assert.equal(idOf(before(ID_WINDOW_BYTES - head + 1)), undefined);
    assert.equal(idOf(`{"id":1,"method":"x","a":"${pad(200_000)}`), '1');
  });
});

describe('a body in pieces', () => {
  test('is enough once id and method are there, and goes on as long as they may come', () => {
    const reader = new RequestIdReader();
    assert.equal(reader.push(Buffer.from('{"id":')), false);
    assert.equal(reader.push(Buffer.from('12')), false);
    assert.equal(reader.id, undefined);
    assert.equal(reader.push(Buffer.from('3,"params":{"a":1},')), false);
    assert.equal(reader.id, '123');
    assert.equal(reader.push(Buffer.from('"method":"x","params":')), true);
    assert.equal(reader.id, '123');
    assert.equal(reader.push(Buffer.from('1}')), true);
  });

  test('is enough at once when it can be none', () => {
    for (const start of ['[', ' 1', '{"id":null,', '{"result"', '{"id":1,"id":2,'])
      assert.equal(new RequestIdReader().push(Buffer.from(start)), true, start);
  });

  test('is enough after 64 KiB, whatever its pieces are', () => {
    for (const size of [1, 7, 1_000, 65_535, 65_536, 300_000]) {
      const reader = new RequestIdReader();
      const piece = Buffer.alloc(size, 0x20);
      let bytes = 0;
      while (!reader.push(piece)) bytes += size;
      assert.ok(bytes < ID_WINDOW_BYTES && bytes + size >= ID_WINDOW_BYTES, `${bytes} of ${size}`);
      assert.equal(reader.id, undefined);
    }
  });
});
