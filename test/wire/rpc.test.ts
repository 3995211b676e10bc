import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CODES, type ErrorCode } from '../../src/errors/codes.js';
import { GatewayError } from '../../src/errors/error.js';
import { errorObject, errorResponseText, errorText, notificationText, requestText, resultText } from '../../src/wire/rpc.js';
import { repositoryPath } from '../support/repository.js';

describe('the text of an error', () => {
  for (const code of Object.keys(CODES) as ErrorCode[])
    test(`${code} has the id of its request as it was sent, and without one no id`, () => {
      const error = new GatewayError(code, { data: { more: 1 } });
      for (const id of ['0', '9007199254740993', '"a\\u0031"', '""'])
        assert.ok(errorText(error, id, 'r-1').startsWith(`{"jsonrpc":"2.0","id":${id},"error":{`));
      const { message, rpc } = CODES[code];
      assert.deepEqual(JSON.parse(errorText(error, undefined, 'r-1')), {
        jsonrpc: '2.0',
        error: { code: rpc, message, data: { code, request_id: 'r-1', more: 1 } },
      });
    });

  test('no source writes null in the place of an id', () => {
    const files = ['src', 'gates'].flatMap((folder) =>
      readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file)),
    );
    assert.ok(files.length > 300);
    const nulls = files.filter((file) => /\?\? *'null'|\bid"?: ?null\b/.test(readFileSync(repositoryPath(file), 'utf8')));
    assert.deepEqual(nulls, []);
  });
});

describe('the text of a message', () => {
  test('has ids, params, results and errors as they were given', () => {
    assert.equal(requestText(1, 'ping', '{"a":1.0}'), '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1.0}}');
    assert.equal(notificationText('notifications/initialized'), '{"jsonrpc":"2.0","method":"notifications/initialized"}');
    assert.equal(notificationText('notifications/progress', '{}'), '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}');
    assert.equal(resultText('"\\u0061"', '{}'), '{"jsonrpc":"2.0","id":"\\u0061","result":{}}');
    const error = errorObject(-32600, 'a "b"');
    assert.equal(errorResponseText('1', error), '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a \\"b\\""}}');
    assert.equal(errorResponseText(undefined, '{}'), '{"jsonrpc":"2.0","error":{}}');
  });
});
