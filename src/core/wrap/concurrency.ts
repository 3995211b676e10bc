import { isThenable } from '../../executor/executor.js';
import type { Wrapper } from './wrapper.js';
import { CONCURRENCY_LIMIT, checkNames, type KeyOf, toKeyOf, toPositive } from './wrapper.js';

/** Of `withConcurrency`. Checked at definition: RangeError for a value that is not a positive integer, TypeError for an unknown name. */
export interface ConcurrencyOptions {
  /** Handlers of this component that run at once for one key. Default 32. */
  readonly limit?: number;
  /** Default: all calls share one bucket. */
  readonly key?: KeyOf;
}

/**
 * Refuses a call with `Component concurrency limit reached` while `limit` handlers of the component run for its key. A permit returns
 * when the handler has answered or failed, also when its call was given up long before. Nothing is kept of a key without any.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, withConcurrency } from 'portcullis/server';
 *
 * const tool = { name: 't', wrap: [withConcurrency({ limit: 1 })], run: () => new Promise<string>((resolve) => setTimeout(resolve, 20, 'done')) };
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [tool] }) });
 * const [first, second] = await Promise.all([client.callTool('t'), client.callTool('t')]);
 * assert.equal(first.isError, undefined);
 * assert.deepEqual(second.content, [{ type: 'text', text: 'Component concurrency limit reached' }]);
 * await client.close();
 * ```
 */
export function withConcurrency(options: ConcurrencyOptions = {}): Wrapper {
  checkNames('concurrency', options, ['limit', 'key']);
  const limit = toPositive('concurrency', 'limit', options.limit, 32);
  const keyOf = toKeyOf('concurrency', options.key);
  return {
    name: 'concurrency',
    open: () => {
      const running = new Map<string, number>();
      return (next) => (input, context) => {
        const key = keyOf(context);
        const count = running.get(key) ?? 0;
        if (count >= limit) throw CONCURRENCY_LIMIT;
        running.set(key, count + 1);
        return whenSettled(
          () => next(input, context),
          () => {
            const left = (running.get(key) ?? 1) - 1;
            if (left > 0) running.set(key, left);
            else running.delete(key);
          },
        );
      };
    },
  };
}

/** Calls `next` and runs `settled` once when it has come to its end, before anybody learns how. At once when it answers at once. */
export function whenSettled(next: () => Promise<unknown> | unknown, settled: () => void): Promise<unknown> | unknown {
  let answer: unknown;
  try {
    answer = next();
  } catch (cause) {
    settled();
    throw cause;
  }
  if (!isThenable(answer)) {
    settled();
    return answer;
  }
  return Promise.resolve(answer).then(
    (value) => {
      settled();
      return value;
    },
    (cause: unknown) => {
      settled();
      throw cause;
    },
  );
}
