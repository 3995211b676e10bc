import { makeClock, type TestClock } from 'portcullis/testing';

/** A test clock that can be moved exactly to its next timer, so that nothing else falls due in the same step. */
export interface SteppedClock extends TestClock {
  /** Milliseconds until the next timer; infinite when there is none. */
  readonly next_in_ms: number;
  /** Moves on to the next timer and runs it. */
  step(): void;
}

export function makeSteppedClock(): SteppedClock {
  const inner = makeClock();
  const due = new Set<{ readonly at_ms: number }>();
  const clock: SteppedClock = {
    now_ms: () => inner.now_ms(),
    mono_ms: () => inner.mono_ms(),
    timer: (delay_ms, run) => {
      const entry = { at_ms: inner.mono_ms() + delay_ms };
      due.add(entry);
      const timer = inner.timer(delay_ms, () => {
        due.delete(entry);
        run();
      });
      return {
        cancel: () => {
          due.delete(entry);
          timer.cancel();
        },
      };
    },
    interval: (period_ms, run) => inner.interval(period_ms, run),
    advance: (by_ms) => inner.advance(by_ms),
    get pending() {
      return inner.pending;
    },
    get next_in_ms() {
      return Math.min(...[...due].map((entry) => entry.at_ms)) - inner.mono_ms();
    },
    step: () => inner.advance(clock.next_in_ms),
  };
  return clock;
}
