/** Something that wants one of the upstream's connections. */
export interface Waiter {
  /** Its turn has come. */
  launch(): void;
}

/**
 * Bounds what is under way toward one upstream pool: `running` at most at once, then `waiting` at most in arrival order.
 * Whoever entered leaves exactly once, launched or not; leaving while waiting costs nothing and keeps nothing behind.
 */
export class Lane {
  readonly #limit: number;
  readonly #waitingLimit: number;
  readonly #waiting = new Set<Waiter>();
  #running = 0;

  constructor(running: number, waiting: number) {
    this.#limit = running;
    this.#waitingLimit = waiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Launches now or later; false: both are full and nothing was taken. */
  enter(waiter: Waiter): boolean {
    if (this.#running < this.#limit) {
      this.#running += 1;
      waiter.launch();
      return true;
    }
    if (this.#waiting.size >= this.#waitingLimit) return false;
    this.#waiting.add(waiter);
    return true;
  }

  leave(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) return;
    const next = this.#waiting.values().next();
    if (next.done === true) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next.value);
    next.value.launch();
  }
}
