import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CODES, type ErrorCode } from '../../src/errors/codes.js';
import { GatewayError } from '../../src/errors/error.js';
import { errorText, lacksRetryAfter, retryAfter } from '../../src/errors/text.js';
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

describe('Retry-After', () => {
  test('is the least and 0 to 4 seconds more, each as often', () => {
    for (const [least, first] of [
      [undefined, 1],
      [0, 1],
      [1, 1],
      [1.2, 2],
      [30, 30],
    ] as const) {
      const drawn = [0, 0.2, 0.4, 0.6, 0.8, 1 - Number.EPSILON].map((draw) => Number(retryAfter(least, () => draw)));
      assert.deepEqual(
        drawn,
        [0, 1, 2, 3, 4, 4].map((more) => first + more),
      );
    }
  });

  test('over many draws it is spread over the whole range and never outside', () => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 5_000; n++) {
      const value = retryAfter();
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    assert.deepEqual([...counts.keys()].sort(), ['1', '2', '3', '4', '5']);
    for (const count of counts.values()) assert.ok(count > 700, String([...counts]));
  });

  test('goes with every 503 that has none', () => {
    assert.equal(lacksRetryAfter(new GatewayError('OVERLOADED')), true);
    assert.equal(lacksRetryAfter(new GatewayError('DEADLINE')), false);
    for (const name of ['retry-after', 'Retry-After', 'RETRY-AFTER'])
      assert.equal(lacksRetryAfter({ status: 503, headers: { [name]: '42' } }), false, name);
  });
});
