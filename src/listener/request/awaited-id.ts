import type { IncomingMessage } from 'node:http';
import { RequestIdReader } from '../../wire/request-id.js';

/** A client that sends its body slowly gets its answer after this long without the id. Below the promised second: the sweep is late by up to a tick. */
const WAIT_MS = 850;

/**
 * Waits for the id of a request that is refused already: until the body has shown it or cannot, for at most `ID_WINDOW_BYTES` and `WAIT_MS`.
 * Then it calls `send` once and drops what still comes.
 */
export class AwaitedId {
  readonly #due_ms: number;
  readonly #reader = new RequestIdReader();
  readonly #send: (id: string | undefined) => void;
  #over = false;

  constructor(request: IncomingMessage, now_ms: number, send: (id: string | undefined) => void) {
    this.#due_ms = now_ms + WAIT_MS;
    this.#send = send;
    request.on('data', (piece: Buffer) => {
      if (!this.#over && this.#reader.push(piece)) this.finish();
    });
    request.on('end', () => this.finish());
  }

  tick(now_ms: number): void {
    if (now_ms >= this.#due_ms) this.finish();
  }

  /** Waits no longer. */
  finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#send(this.#reader.id);
  }
}
