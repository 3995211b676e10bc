import type { Clock, Timer } from '../contract/clock.js';
import { MAX_TIMER_MS } from './deadlines.js';
import type { Drained } from './executor.js';

/** One drain: it counts how calls end until none is left, and calls `kill` when the earliest deadline it was given has passed. */
export class Drain {
  readonly result: Promise<Drained>;
  readonly #clock: Clock;
  readonly #kill: () => void;
  #resolve: (drained: Drained) => void = () => {};
  #finished = 0;
  #killed = 0;
  #timer: Timer | undefined;
  #due_ms = Number.POSITIVE_INFINITY;
  #over = false;

  constructor(clock: Clock, kill: () => void) {
    this.#clock = clock;
    this.#kill = kill;
    this.result = new Promise((resolve) => (this.#resolve = resolve));
  }

  endWithin(deadline_ms: number): void {
    if (this.#over) return;
    if (!(deadline_ms > 0)) {
      this.#kill();
      return;
    }
    const due_ms = this.#clock.mono_ms() + deadline_ms;
    if (due_ms >= this.#due_ms) return;
    this.#due_ms = due_ms;
    this.#timer?.cancel();
    this.#timer = this.#clock.timer(Math.min(Math.ceil(deadline_ms), MAX_TIMER_MS), () => this.#kill());
  }

  finished(): void {
    this.#finished += 1;
  }

  killed(): void {
    this.#killed += 1;
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#resolve({ finished: this.#finished, killed: this.#killed });
  }
}
