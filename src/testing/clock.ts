import type { Clock, Timer } from '../contract/clock.js';

/** A clock that stands still until it is moved. */
export interface TestClock extends Clock {
  /** Moves both clocks on and runs what falls due, in order. */
  advance(by_ms: number): void;
  /** Pending timers and intervals; 0 when everything was cleaned up. */
  readonly pending: number;
}

/** A test clock. The wall clock starts at `start_ms` (default 2026-01-01T00:00:00Z), the monotonic one at 0. */
export function makeClock(start_ms: number = Date.UTC(2026, 0, 1)): TestClock {
  const due = new Map<object, { at_ms: number; readonly period_ms: number; readonly run: () => void }>();
  let mono = 0;
  const add = (delay_ms: number, period_ms: number, run: () => void): Timer => {
    const timer: Timer = { cancel: () => void due.delete(timer) };
    due.set(timer, { at_ms: mono + delay_ms, period_ms, run });
    return timer;
  };
  return {
    now_ms: () => start_ms + mono,
    mono_ms: () => mono,
    timer: (delay_ms, run) => add(delay_ms, 0, run),
    interval: (period_ms, run) => add(period_ms, Math.max(1, period_ms), run),
    advance: (by_ms) => {
      const end = mono + by_ms;
      for (;;) {
        const next = [...due].filter(([, entry]) => entry.at_ms <= end).sort(([, a], [, b]) => a.at_ms - b.at_ms)[0];
        if (next === undefined) break;
        const [timer, entry] = next;
        mono = Math.max(mono, entry.at_ms);
        if (entry.period_ms > 0) entry.at_ms += entry.period_ms;
        else due.delete(timer);
        entry.run();
      }
      mono = end;
    },
    get pending() {
      return due.size;
    },
  };
}
