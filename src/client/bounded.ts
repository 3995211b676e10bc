import type { Clock } from '../contract/clock.js';
import { ClientError } from './client-error.js';

export interface Bound {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeout_ms: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The result of `work`, or a ClientError `TIMEOUT` or `CANCELLED`, whatever `work` waits for. Its signal aborts when its caller no longer
 * waits; a later result is dropped.
 */
export function bounded<T>(what: string, { clock, timeout_ms, signal }: Bound, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = new AbortController();
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', cancel);
    };
    const giveUp = (error: ClientError): void => {
      end();
      reject(error);
      abort.abort();
    };
    const cancel = (): void => giveUp(new ClientError('CANCELLED', `${what} was cancelled`));
    const timer = clock.timer(timeout_ms, () => giveUp(new ClientError('TIMEOUT', `${what} took more than ${Math.round(timeout_ms)} ms`)));
    if (signal?.aborted === true) return cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    work(abort.signal).then(resolve, reject).finally(end);
  });
}
