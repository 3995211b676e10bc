import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GatewayError } from '../../src/errors/error.js';
import { lacksRetryAfter, retryAfter } from '../../src/errors/retry-after.js';

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
