import type { Clock } from '../../contract/clock.js';

export interface Backoff {
  /** Milliseconds until the next start is allowed; 0: now. */
  readonly wait_ms: number;
  /** True after a failure that counts still: then one start is tried at a time. */
  readonly troubled: boolean;
  /** A start came to nothing, or what was started ended by itself. */
  failed(): void;
}

/**
 * 250 ms after the first failure, twice as long after each further one, 30 s at most. A failure that comes more than a minute
 * after the wait for the one before counts as the first again.
 */
export function createBackoff(clock: Clock): Backoff {
  let failures = 0;
  let until_ms = Number.NEGATIVE_INFINITY;
  return {
    get wait_ms() {
      return Math.max(0, until_ms - clock.mono_ms());
    },
    get troubled() {
      return failures > 0 && clock.mono_ms() - until_ms <= FORGET_MS;
    },
    failed() {
      const now = clock.mono_ms();
      if (now - until_ms > FORGET_MS) failures = 0;
      until_ms = now + Math.min(MAX_MS, FIRST_MS * 2 ** failures);
      failures = Math.min(failures + 1, 20);
    },
  };
}

const FIRST_MS = 250;
const MAX_MS = 30_000;
const FORGET_MS = 60_000;
