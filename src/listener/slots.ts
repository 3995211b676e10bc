import type { Telemetry } from '../contract/telemetry.js';

/** The `max_subscriptions` slots of one listener: open `subscriptions/listen` and legacy GET streams together. */
export class StreamSlots {
  readonly #max: number;
  readonly #telemetry: Telemetry;
  #taken = 0;

  constructor(max: number, telemetry: Telemetry) {
    this.#max = max;
    this.#telemetry = telemetry;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False when every slot is taken; the refusal is counted. */
  take(route: string): boolean {
    if (this.#taken >= this.#max) {
      this.#telemetry.streamRefused(route, 'limit');
      return false;
    }
    this.#taken++;
    return true;
  }

  give(): void {
    this.#taken--;
  }
}
