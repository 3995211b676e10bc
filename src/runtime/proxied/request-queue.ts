import { FairQueue, type QueuePlace } from '../../executor/fair-queue.js';

/** Something that wants one of the upstream's connections. It belongs to one queue, and to one caller, for good. */
export interface Waiter {
  /** As of `callerKey`. */
  readonly caller: string;
  /** Where it waits; the queue's. */
  place: QueuePlace<Waiter> | undefined;
  /** Its turn has come. */
  launch(): void;
  /** It lost its place in the queue to a caller with fewer waiting; it does not leave any more. */
  displaced(): void;
}

export interface QueueBounds {
  /** Under way at once. */
  readonly running: number;
  /** Waiters, fairly shared among callers. */
  readonly waiting: number;
  /** Under way at once for one caller; the rest of its calls wait. */
  readonly running_per_caller: number;
}

/** What became of a waiter: it was launched; it waits, `own`: for its own caller's calls; it was refused and nothing was taken. */
export type Entry = 'launched' | 'waits' | 'waits_own' | 'refused';

/**
 * Bounds what is under way toward one upstream, fairly among callers. Callers that wait are served in turn; one with nothing under way goes before
 * those with waiting calls. When the queue is full, a newcomer takes the place of the newest of the longest line. A call that entered and was not
 * displaced leaves exactly once, launched or not; leaving while waiting costs nothing and keeps nothing behind.
 */
export class RequestQueue {
  readonly #bounds: QueueBounds;
  readonly #queue: FairQueue<Waiter>;
  /** Under way by caller; no entry is 0. */
  readonly #running = new Map<string, number>();
  #total = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
    this.#queue = new FairQueue(bounds.waiting);
  }

  get running(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Launches now or later, unless it refuses. */
  enter(waiter: Waiter): Entry {
    const { caller } = waiter;
    const own = this.#running.get(caller) ?? 0;
    const capped = own >= this.#bounds.running_per_caller;
    // While a connection is free, only callers wait that have their whole share.
    if (!capped && this.#total < this.#bounds.running) {
      this.#launch(waiter, own);
      return 'launched';
    }
    waiter.place = this.#queue.push(caller, waiter, displace, { first: own === 0, held: capped });
    if (waiter.place === undefined) return 'refused';
    return capped ? 'waits_own' : 'waits';
  }

  leave(waiter: Waiter): void {
    const { caller, place } = waiter;
    if (place !== undefined) {
      waiter.place = undefined;
      return this.#queue.remove(place);
    }
    const own = (this.#running.get(caller) ?? 0) - 1;
    this.#total -= 1;
    if (own > 0) this.#running.set(caller, own);
    else this.#running.delete(caller);
    if (this.#queue.size === 0) return;
    if (own + 1 === this.#bounds.running_per_caller) this.#queue.hold(caller, false);
    const next = this.#queue.take();
    if (next === undefined) return;
    next.place = undefined;
    this.#launch(next, this.#running.get(next.caller) ?? 0);
  }

  #launch(waiter: Waiter, own: number): void {
    this.#total += 1;
    this.#running.set(waiter.caller, own + 1);
    if (own + 1 >= this.#bounds.running_per_caller && this.#queue.size > 0) this.#queue.hold(waiter.caller, true);
    waiter.launch();
  }
}

function displace(waiter: Waiter): void {
  waiter.place = undefined;
  waiter.displaced();
}
