import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';

/** A warning line that a broken peer cannot turn into a flood. */
export interface RatedLog {
  /** Logs, or counts the line; the next line that is written tells how many were not (`suppressed`). */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Writes at most `burst` lines (default 20) in each `window_ms` (default 10 000). */
export function createRatedLog(log: Pick<Log, 'warn'>, clock: Clock, burst = 20, window_ms = 10_000): RatedLog {
  let until_ms = 0;
  let left = 0;
  let suppressed = 0;
  return {
    warn(fields, message) {
      const now = clock.mono_ms();
      if (now >= until_ms) {
        until_ms = now + window_ms;
        left = burst;
      }
      if (left === 0) {
        suppressed += 1;
        return;
      }
      left -= 1;
      log.warn(suppressed === 0 ? fields : { ...fields, suppressed }, message);
      suppressed = 0;
    },
  };
}
