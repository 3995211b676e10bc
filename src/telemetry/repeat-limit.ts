import type { Clock } from '../contract/clock.js';
import type { Log, RefusalLog } from '../contract/log.js';

const MAX_CHARS = 200;

export interface RepeatLimitOptions {
  readonly clock: Clock;
  /** Lines of one key that are written in one window. Default 10. */
  readonly burst?: number;
  /** Length of a window. Default 10 000. */
  readonly window_ms?: number;
  /** Keys that are remembered; the key that began its window first is forgotten. Default 1 000. */
  readonly max_keys?: number;
}

export interface RepeatLimit {
  /** Undefined: do not write this line. Else: write it, and say how many of its kind were left out before it. */
  take(key: string): number | undefined;
}

interface Window {
  start_ms: number;
  written: number;
  left_out: number;
}

/** Keeps equal lines from flooding a log. The number of suppressed lines is in the next line of the key; metrics count everything. */
export function createRepeatLimit(options: RepeatLimitOptions): RepeatLimit {
  const { clock, burst = 10, window_ms = 10_000, max_keys = 1_000 } = options;
  const windows = new Map<string, Window>();

  const begin = (key: string, now: number): void => {
    windows.delete(key);
    for (const oldest of windows.keys()) {
      if (windows.size < max_keys) break;
      windows.delete(oldest);
    }
    windows.set(key, { start_ms: now, written: 1, left_out: 0 });
  };

  return {
    take(key) {
      const now = clock.mono_ms();
      const window = windows.get(key);
      if (window === undefined || now - window.start_ms >= window_ms) {
        begin(key, now);
        return window?.left_out ?? 0;
      }
      if (window.written < burst) {
        window.written += 1;
        return 0;
      }
      window.left_out += 1;
      return undefined;
    },
  };
}

/**
 * One `request refused` line for each refusal, at warn, and at error for what is our own fault (500). A route, gate and code
 * together get 10 lines in 10 seconds; `left_out` then says how many are missing. The audit has them all.
 */
export function createRefusalLog(log: Log, clock: Clock): RefusalLog {
  const limit = createRepeatLimit({ clock });
  return (refused) => {
    const leftOut = limit.take(`${refused.code} ${refused.gate} ${refused.route}`);
    if (leftOut === undefined) return;
    const detail = refused.detail === undefined ? {} : { detail: cut(refused.detail) };
    const fields = { ...refused, path: cut(refused.path), ...detail, ...(leftOut === 0 ? {} : { left_out: leftOut }) };
    if (refused.status === 500) log.error(fields, 'request refused');
    else log.warn(fields, 'request refused');
  };
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
