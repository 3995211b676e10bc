import { Chain, Link } from './chain.js';

/** Who must be told when an owner goes away. One listener on each signal, however much it owns, and none once that is nothing. */
export class Owners<T> {
  readonly #onGone: (owned: T) => void;
  readonly #owned = new Map<AbortSignal, Chain<T>>();

  constructor(onGone: (owned: T) => void) {
    this.#onGone = onGone;
  }

  /** The returned function lets `item` go; it must be called before or while `onGone` is told of it. */
  add(signal: AbortSignal, item: T): () => void {
    let chain = this.#owned.get(signal);
    if (chain === undefined) {
      chain = new Chain();
      this.#owned.set(signal, chain);
      signal.addEventListener('abort', this);
    }
    const link = new Link(item);
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
