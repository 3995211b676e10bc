import type { Clock } from '../contract/clock.js';

/** Settles after `delay_ms`; rejects when the signal aborts. */
export function wait(clock: Clock, delay_ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel();
      reject(new Error('nobody waits any more'));
    };
    const timer = clock.timer(delay_ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
