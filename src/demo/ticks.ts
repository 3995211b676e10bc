import type { Clock } from '../contract/clock.js';
import type { Change, ChangeSource } from '../server.js';
import { wait } from './wait.js';

/** A resource that changes every `TICK_MS`, for subscriptions. */
export const TICKING_URI = 'demo://ticks';
export const TICK_MS = 2_000;

/** Publishes updates of `TICKING_URI`, as long as somebody listens. */
export function ticks(clock: Clock): ChangeSource {
  return {
    publishes: { updates: true },
    async *open(wanted, { signal }): AsyncGenerator<Change> {
      if (!wanted.uris.has(TICKING_URI)) return;
      while (!signal.aborted) {
        await wait(clock, TICK_MS, signal);
        yield { kind: 'resource', uri: TICKING_URI };
      }
    },
  };
}
