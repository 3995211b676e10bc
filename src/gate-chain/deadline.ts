import type { Clock } from '../contract/clock.js';

/** The promise's own end, or a rejection with `message` after `timeout_ms`. The timer never outlives the wait. */
export function before<T>(work: Promise<T>, timeout_ms: number, clock: Clock, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.timer(timeout_ms, () => reject(new Error(message)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
