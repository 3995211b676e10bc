import type { GateHost } from '../contract/gate.js';

/** Ends one value: bounds the wait and logs a failure. */
export type End = (close: () => unknown) => Promise<void>;

interface Held {
  readonly value: { close?(): Promise<void> };
  /** Config names of the gates that use it, by the generation of chains that opened them. */
  readonly users: Map<Sharing, Set<string>>;
}

/** The share of one generation of chains in what gates have in common. */
export interface Sharing {
  /** `GateHost.shared` of the gate `name`. */
  of(use: string, name: string): GateHost['shared'];
  /** Ends the values that no other generation uses. */
  close(end: End): Promise<void>;
}

/**
 * Values that gate instances share: a cache of an issuer's keys, the counters of a rate limit. They outlive a reload for the
 * gates whose options did not change. Each `use` has its own keys: two modules never meet in one value.
 */
export class SharedPool {
  /** The newest value of each key … */
  readonly #held = new Map<string, Held>();
  /** … and every value that some generation still uses. */
  readonly #all = new Set<Held>();

  /** Begins a generation. `unchanged` are the gates that may go on with what they had. */
  open(unchanged: ReadonlySet<string> = NO_GATES): Sharing {
    const sharing: Sharing = {
      of: (use, name) => (key, create) => this.#take(JSON.stringify([use, key]), sharing, name, unchanged.has(name), create),
      close: (end) => this.#leave(sharing, end),
    };
    return sharing;
  }

  #take<T extends { close?(): Promise<void> }>(key: string, sharing: Sharing, name: string, unchanged: boolean, create: () => T): T {
    let held = this.#held.get(key);
    const ours = held?.users.has(sharing) === true;
    const inherited = unchanged && held !== undefined && [...held.users.values()].some((names) => names.has(name));
    if (held === undefined || !(ours || inherited)) {
      held = { value: create(), users: new Map() };
      this.#held.set(key, held);
      this.#all.add(held);
    }
    const names = held.users.get(sharing);
    if (names === undefined) held.users.set(sharing, new Set([name]));
    else names.add(name);
    return held.value as T;
  }

  async #leave(sharing: Sharing, end: End): Promise<void> {
    const ended: Held[] = [];
    for (const held of this.#all) {
      if (!held.users.delete(sharing) || held.users.size > 0) continue;
      this.#all.delete(held);
      ended.push(held);
    }
    for (const [key, held] of this.#held) if (ended.includes(held)) this.#held.delete(key);
    await Promise.all(ended.map(({ value }) => end(() => value.close?.())));
  }
}

const NO_GATES: ReadonlySet<string> = new Set();
