import { MAX_TIMER_MS } from '../../executor/endings.js';
import { isThenable } from '../../executor/executor.js';
import { whenSettled } from './concurrency.js';
import type { HandlerToken, WrapContext, Wrapper } from './wrapper.js';
import { checkNames, NO_TIMEOUT_WORKER, TIMED_OUT, toPositive } from './wrapper.js';

/** Of `withTimeout`. Checked at definition: RangeError for a value that is not a positive integer, TypeError for an unknown name. */
export interface TimeoutOptions {
  /** For the handler to answer. Default 5 000, at most 2 147 483 647. */
  readonly timeout_ms?: number;
}

/**
 * Gives a handler up that has not answered in time, with `Component timed out`: its signal aborts, its late answer is dropped, and
 * what it did outside cannot be undone. All handlers of a server that run under a timeout, with those that go on regardless, are at
 * most 1 024; one more is refused with `Component timeout worker unavailable`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, withTimeout } from 'portcullis/server';
 *
 * const tool = { name: 't', wrap: [withTimeout({ timeout_ms: 10 })], run: () => new Promise<string>((resolve) => setTimeout(resolve, 50, 'late')) };
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [tool] }) });
 * assert.deepEqual((await client.callTool('t')).content, [{ type: 'text', text: 'Component timed out' }]);
 * await client.close();
 * ```
 */
export function withTimeout(options: TimeoutOptions = {}): Wrapper {
  checkNames('timeout', options, ['timeout_ms']);
  const timeout_ms = toPositive('timeout', 'timeout_ms', options.timeout_ms, 5_000, MAX_TIMER_MS);
  return {
    name: 'timeout',
    open: (clock, state) => (next) => (input, context) => {
      if (!state.takeTimeoutWorker()) throw NO_TIMEOUT_WORKER;
      const token = new TimeoutToken(context);
      const answer = whenSettled(
        () => next(input, context.under(token)),
        () => {
          state.returnTimeoutWorker();
          token.close();
        },
      );
      if (!isThenable(answer)) return answer;
      return new Promise((resolve, reject) => {
        const timer = clock.timer(timeout_ms, () => {
          reject(TIMED_OUT);
          token.expire();
        });
        answer.then(
          (value) => {
            timer.cancel();
            resolve(value);
          },
          (cause: unknown) => {
            timer.cancel();
            reject(cause);
          },
        );
      });
    },
  };
}

/** Cancelled when the time is up or the call is cancelled, until the handler has answered. */
class TimeoutToken implements HandlerToken {
  readonly #call: WrapContext;
  #expired = false;
  #closed = false;
  #controller: AbortController | undefined;

  constructor(call: WrapContext) {
    this.#call = call;
  }

  get cancelled(): boolean {
    return this.#expired || this.#call.cancelled;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const { signal } = this.#call;
      if (this.#expired) this.#controller.abort(TIMED_OUT);
      else if (signal.aborted) this.#controller.abort(signal.reason);
      else if (!this.#closed) signal.addEventListener('abort', this);
    }
    return this.#controller.signal;
  }

  /** Called by the signal of the call. */
  handleEvent(): void {
    this.#controller?.abort(this.#call.signal.reason);
  }

  expire(): void {
    this.#expired = true;
    this.#controller?.abort(TIMED_OUT);
  }

  close(): void {
    this.#closed = true;
    if (this.#controller !== undefined) this.#call.signal.removeEventListener('abort', this);
  }
}
