import type { Clock, Timer } from '../contract/clock.js';
import type { Drained } from './executor.js';
import { LinkedList, ListNode } from './fair-queue.js';

/** An entry of the deadline heap. `heap_at` is -1 while it is not in the heap. */
export interface Dated {
  due_ms: number;
  heap_at: number;
}

/**
 * Tells what is due, with one timer for everything. The timer is set for the earliest deadline seen and left alone when that
 * one goes away, so that a thousand short calls arm it once.
 */
export class Deadlines<T extends Dated> {
  readonly #clock: Clock;
  readonly #onDue: (item: T) => void;
  readonly #heap: T[] = [];
  #timer: Timer | undefined;
  #armed_ms = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDue: (item: T) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** `delay_ms` must be positive; infinity is never due. */
  add(item: T, delay_ms: number): void {
    if (delay_ms === Number.POSITIVE_INFINITY) return;
    const now_ms = this.#clock.mono_ms();
    item.due_ms = now_ms + delay_ms;
    this.#rise(item, this.#heap.length);
    if (item.due_ms < this.#armed_ms) this.#arm(item.due_ms, now_ms);
  }

  remove(item: T): void {
    const at = item.heap_at;
    if (at < 0) return;
    item.heap_at = -1;
    const last = this.#heap.pop() as T;
    if (last === item) return;
    const parent = this.#heap[(at - 1) >> 1];
    if (at > 0 && parent !== undefined && parent.due_ms > last.due_ms) this.#rise(last, at);
    else this.#sink(last, at);
  }

  /** Disarms the timer; only when nothing is left to be due. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armed_ms = Number.POSITIVE_INFINITY;
  }

  #arm(due_ms: number, now_ms: number): void {
    this.#timer?.cancel();
    this.#armed_ms = due_ms;
    this.#timer = this.#clock.timer(Math.min(Math.max(1, Math.ceil(due_ms - now_ms)), MAX_TIMER_MS), () => this.#fire());
  }

  #fire(): void {
    this.stop();
    const now_ms = this.#clock.mono_ms();
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (first.due_ms > now_ms) {
        if (first.due_ms < this.#armed_ms) this.#arm(first.due_ms, now_ms);
        return;
      }
      this.remove(first);
      this.#onDue(first);
    }
  }

  #rise(item: T, from: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#heap[above] as T;
      if (parent.due_ms <= item.due_ms) break;
      this.#put(parent, at);
      at = above;
    }
    this.#put(item, at);
  }

  #sink(item: T, from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && (heap[below + 1] as T).due_ms < (heap[below] as T).due_ms) below += 1;
      const child = heap[below] as T;
      if (child.due_ms >= item.due_ms) break;
      this.#put(child, at);
      at = below;
    }
    this.#put(item, at);
  }

  #put(item: T, at: number): void {
    this.#heap[at] = item;
    item.heap_at = at;
  }
}

/** Node's longest timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** One drain: it counts how calls end until none is left, and calls `kill` when the earliest deadline it was given has passed. */
export class ExecutorDrain {
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

/** Who must be told when an owner goes away. One listener on each signal, however much it owns, and none once that is nothing. */
export class AbortSignals<T> {
  readonly #onGone: (owned: T) => void;
  readonly #owned = new Map<AbortSignal, LinkedList<T>>();

  constructor(onGone: (owned: T) => void) {
    this.#onGone = onGone;
  }

  /** The returned function lets `item` go; it must be called before or during `onGone` for this item. */
  add(signal: AbortSignal, item: T): () => void {
    let chain = this.#owned.get(signal);
    if (chain === undefined) {
      chain = new LinkedList();
      this.#owned.set(signal, chain);
      signal.addEventListener('abort', this);
    }
    const link = new ListNode(item);
    chain.push(link);
    return () => {
      link.unlink();
      if (chain.empty) this.#forget(signal);
    };
  }

  /** Called by the signal. */
  handleEvent(event: Event): void {
    const chain = this.#owned.get(event.target as AbortSignal);
    for (let item = chain?.first; item !== undefined; item = chain?.first) this.#onGone(item);
  }

  #forget(signal: AbortSignal): void {
    this.#owned.delete(signal);
    signal.removeEventListener('abort', this);
  }
}
