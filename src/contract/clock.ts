/** Time as everything below `main.ts` sees it. Tests own one that they move by hand. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. For expiry dates; may jump. */
  now_ms(): number;
  /** Monotonic milliseconds with a fraction. For durations and deadlines. */
  mono_ms(): number;
  /** Calls `run` once after `delay_ms`; never keeps the process alive. The caller owns the timer and cancels it. */
  timer(delay_ms: number, run: () => void): Timer;
  /** Calls `run` every `period_ms`; never keeps the process alive. */
  interval(period_ms: number, run: () => void): Timer;
}

/** A timer that is cancelled by its owner. Cancelling twice does nothing. */
export interface Timer {
  cancel(): void;
}
