import type { UpstreamConnection } from './connection.js';
import { ConnectionList } from './connection-list.js';

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
