import type { Clock } from '../../src/contract/clock.js';

interface Due {
  at_ms: number;
  readonly period_ms: number | undefined;
  readonly run: () => void;
}

/** A clock that stands until a test moves it. Timers run inside `advance`, in order of their time. */
export class HandClock implements Clock {
  #wall_ms: number;
  #mono_ms = 0;
  readonly #due = new Set<Due>();

  constructor(wall_ms = Date.UTC(2030, 0, 2, 3, 4, 5, 678)) {
    this.#wall_ms = wall_ms;
  }

  /** Timers that were neither run nor cancelled. */
  get pending(): number {
    return this.#due.size;
  }

  now_ms(): number {
    return this.#wall_ms;
  }

  mono_ms(): number {
    return this.#mono_ms;
  }

  timer(delay_ms: number, run: () => void): { cancel(): void } {
    return this.#add({ at_ms: this.#mono_ms + delay_ms, period_ms: undefined, run });
  }

  interval(period_ms: number, run: () => void): { cancel(): void } {
    return this.#add({ at_ms: this.#mono_ms + period_ms, period_ms, run });
  }

  advance(by_ms: number): void {
    const end_ms = this.#mono_ms + by_ms;
    for (let next = this.#next(end_ms); next !== undefined; next = this.#next(end_ms)) {
      this.#move(next.at_ms);
      if (next.period_ms === undefined) this.#due.delete(next);
      else next.at_ms += next.period_ms;
      next.run();
    }
    this.#move(end_ms);
  }

  #add(due: Due): { cancel(): void } {
    this.#due.add(due);
    return { cancel: () => this.#due.delete(due) };
  }

  #next(end_ms: number): Due | undefined {
    return [...this.#due].filter((due) => due.at_ms <= end_ms).sort((a, b) => a.at_ms - b.at_ms)[0];
  }

  #move(to_ms: number): void {
    this.#wall_ms += to_ms - this.#mono_ms;
    this.#mono_ms = to_ms;
  }
}
