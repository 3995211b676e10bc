import type { Telemetry } from '../contract/telemetry.js';
import type { ErrorCode } from '../errors/codes.js';
import type { DrainState } from './drain.js';

/** The `max_subscriptions` slots of one listener: open `subscriptions/listen` and legacy GET streams together. */
export class StreamSlots {
  readonly #max: number;
  readonly #telemetry: Telemetry;
  readonly #drain: { readonly state: DrainState };
  #taken = 0;

  constructor(max: number, telemetry: Telemetry, drain: { readonly state: DrainState }) {
    this.#max = max;
    this.#telemetry = telemetry;
    this.#drain = drain;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a slot, or says why there is none: all are taken, or the drain would have to end the stream at once. The refusal is counted. */
  take(route: string): ErrorCode | undefined {
    if (this.#drain.state === 'closing') return this.refused(route);
    if (this.#taken >= this.#max) {
      this.#telemetry.streamRefused(route, 'limit');
      return 'TOO_MANY_STREAMS';
    }
    this.#taken++;
    return undefined;
  }

  give(): void {
    this.#taken--;
  }

  /** Counts a stream that the drain refused. */
  refused(route: string): ErrorCode {
    this.#telemetry.streamRefused(route, 'drain');
    return 'DRAINING';
  }
}
