import type { UpstreamConnection } from './connection.js';

/**
 * Connections in the order in which they were added. One of them leaves in constant time wherever it stands, so that an upstream that
 * closes all of its idle connections at once costs no more than their number. A connection is in one list at most.
 */
export class ConnectionList {
  /** Removed entries leave holes; there are at most a few more holes than connections. */
  #slots: (UpstreamConnection | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(connection: UpstreamConnection): void {
    connection.slot = this.#slots.length;
    this.#slots.push(connection);
    this.#size += 1;
  }

  /** Takes out the one that was added last. */
  pop(): UpstreamConnection | undefined {
    for (;;) {
      const connection = this.#slots.pop();
      if (connection === undefined && this.#slots.length > 0) continue;
      if (connection !== undefined) this.#size -= 1;
      return connection;
    }
  }

  /** False: it is not in this list. */
  delete(connection: UpstreamConnection): boolean {
    if (this.#slots[connection.slot] !== connection) return false;
    this.#slots[connection.slot] = undefined;
    this.#size -= 1;
    if (this.#slots.length > 2 * this.#size + MAX_HOLES) this.#close();
    return true;
  }

  /** Removes all; connections that left before are undefined. */
  takeAll(): readonly (UpstreamConnection | undefined)[] {
    const slots = this.#slots;
    this.#slots = [];
    this.#size = 0;
    return slots;
  }

  /** A copy. */
  all(): UpstreamConnection[] {
    return this.#slots.filter((connection) => connection !== undefined);
  }

  /** Closes the holes. As many connections have left since the last time as are moved now. */
  #close(): void {
    this.#slots = this.all();
    for (const [slot, connection] of this.#slots.entries()) if (connection !== undefined) connection.slot = slot;
  }
}

const MAX_HOLES = 32;

/**
 * Where a connection waits after an answer, until a whole poll of the event loop has found nothing more to read on it. What an
 * upstream sends behind its answer, in whatever pieces, closes the connection so, and is never taken for the answer to somebody
 * else. Costs one immediate a turn of the loop, however many connections rest.
 */
export class IdleQuarantine {
  readonly #rested: (connection: UpstreamConnection) => void;
  /** Answered in this turn, and in the one before. */
  #fresh = new ConnectionList();
  #resting = new ConnectionList();
  #turn: NodeJS.Immediate | undefined;
  #hurried = false;

  constructor(rested: (connection: UpstreamConnection) => void) {
    this.#rested = rested;
  }

  get size(): number {
    return this.#fresh.size + this.#resting.size;
  }

  add(connection: UpstreamConnection): void {
    this.#fresh.push(connection);
    this.#turn ??= this.#next();
  }

  /** False: it did not rest here. */
  delete(connection: UpstreamConnection): boolean {
    return this.#fresh.delete(connection) || this.#resting.delete(connection);
  }

  /** An exchange waits for one of these: polls return at once until none is left. */
  hurry(): void {
    this.#hurried = true;
    this.#turn?.ref();
  }

  all(): UpstreamConnection[] {
    return [...this.#fresh.all(), ...this.#resting.all()];
  }

  readonly #pass = (): void => {
    const rested = this.#resting.takeAll();
    [this.#resting, this.#fresh] = [this.#fresh, this.#resting];
    if (this.#resting.size === 0) this.#hurried = false;
    this.#turn = this.#resting.size === 0 ? undefined : this.#next();
    for (const connection of rested) if (connection !== undefined) this.#rested(connection);
  };

  /** Without a hurry it only follows the next poll, and does not cut it short. */
  #next(): NodeJS.Immediate {
    const turn = setImmediate(this.#pass);
    return this.#hurried ? turn : turn.unref();
  }
}
