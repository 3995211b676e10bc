import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from './contract/clock.js';

/**
 * The machine's clock. Its timers never keep the process alive.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { systemClock } from 'portcullis/server';
 *
 * const start = systemClock.mono_ms();
 * await new Promise<void>((resolve) => setTimeout(resolve, 5));
 * assert.ok(systemClock.mono_ms() > start);
 * ```
 */
export const systemClock: Clock = {
  now_ms: () => Date.now(),
  mono_ms: () => performance.now(),
  timer: (delay_ms, run) => owned(setTimeout(run, delay_ms)),
  interval: (period_ms, run) => owned(setInterval(run, period_ms)),
};

/** The same, but a timer keeps the process alive until it fires or is cancelled, so that an awaited outcome arrives. */
export const holdingClock: Clock = {
  ...systemClock,
  timer: (delay_ms, run) => held(setTimeout(run, delay_ms)),
  interval: (period_ms, run) => held(setInterval(run, period_ms)),
};

function held(timer: NodeJS.Timeout): Timer {
  return { cancel: () => clearTimeout(timer) };
}

function owned(timer: NodeJS.Timeout): Timer {
  timer.unref();
  return { cancel: () => clearTimeout(timer) };
}
