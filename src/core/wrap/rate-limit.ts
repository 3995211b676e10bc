import type { Clock } from '../../contract/clock.js';
import { LinkedList, ListNode } from '../../executor/fair-queue.js';
import type { Wrapper } from './wrapper.js';
import { type ComponentRefusal, checkNames, type KeyOf, RATE_KEYS, RATE_LIMIT, toKeyOf, toPositive } from './wrapper.js';

/** Of `withRateLimit`. Checked at definition: RangeError for a value that is not a positive integer, TypeError for an unknown name. */
export interface RateLimitOptions {
  /** Calls of one key in a window. Default 60. */
  readonly limit?: number;
  /** From the first call of the key. Default 60 000. */
  readonly window_ms?: number;
  /** Keys of this component with a window. Default 10 000. */
  readonly max_keys?: number;
  /** Default: all calls share one bucket. */
  readonly key?: KeyOf;
}

/**
 * Refuses a call with `Component rate limit reached` when its key had `limit` calls in the window that its first call began, and
 * with `Component rate key capacity reached` when it begins a window and `max_keys` others are not over. A refused call does no work
 * and does not count; an admitted one counts even if it fails.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, withRateLimit } from 'portcullis/server';
 *
 * const tool = { name: 't', wrap: [withRateLimit({ limit: 1, window_ms: 60_000 })], run: () => 'done' };
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [tool] }) });
 * const [first, second] = await Promise.all([client.callTool('t'), client.callTool('t')]);
 * assert.equal(first.isError, undefined);
 * assert.deepEqual(second.content, [{ type: 'text', text: 'Component rate limit reached' }]);
 * await client.close();
 * ```
 */
export function withRateLimit(options: RateLimitOptions = {}): Wrapper {
  checkNames('rate limit', options, ['limit', 'window_ms', 'max_keys', 'key']);
  const limit = toPositive('rate limit', 'limit', options.limit, 60);
  const window_ms = toPositive('rate limit', 'window_ms', options.window_ms, 60_000);
  const max_keys = toPositive('rate limit', 'max_keys', options.max_keys, 10_000);
  const keyOf = toKeyOf('rate limit', options.key);
  return {
    name: 'rate_limit',
    open: (clock) => {
      const windows = new Windows(limit, window_ms, max_keys, clock);
      return (next) => (input, context) => {
        const refusal = windows.count(keyOf(context));
        if (refusal !== undefined) throw refusal;
        return next(input, context);
      };
    },
  };
}

class Window {
  readonly key: string;
  readonly end_ms: number;
  readonly link: ListNode<Window> = new ListNode<Window>(this);
  count = 1;

  constructor(key: string, end_ms: number) {
    this.key = key;
    this.end_ms = end_ms;
  }
}

/** The windows of one component. They are equally long, so the oldest ends first. */
class Windows {
  readonly #limit: number;
  readonly #window_ms: number;
  readonly #max_keys: number;
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Window>();
  readonly #byAge = new LinkedList<Window>();

  constructor(limit: number, window_ms: number, max_keys: number, clock: Clock) {
    this.#limit = limit;
    this.#window_ms = window_ms;
    this.#max_keys = max_keys;
    this.#clock = clock;
  }

  /** Undefined: the call was counted and may go on. */
  count(key: string): ComponentRefusal | undefined {
    const now_ms = this.#clock.mono_ms();
    const window = this.#byKey.get(key);
    if (window !== undefined && now_ms < window.end_ms) {
      if (window.count >= this.#limit) return RATE_LIMIT;
      window.count += 1;
      return undefined;
    }
    if (window !== undefined) this.#drop(window);
    else if (this.#byKey.size >= this.#max_keys) this.#dropEnded(now_ms);
    if (this.#byKey.size >= this.#max_keys) return RATE_KEYS;
    const begun = new Window(key, now_ms + this.#window_ms);
    this.#byKey.set(key, begun);
    this.#byAge.push(begun.link);
    return undefined;
  }

  #drop(window: Window): void {
    this.#byKey.delete(window.key);
    window.link.unlink();
  }

  #dropEnded(now_ms: number): void {
    for (let oldest = this.#byAge.first; oldest !== undefined && oldest.end_ms <= now_ms; oldest = this.#byAge.first) this.#drop(oldest);
  }
}
