import type { EndReason } from '../../contract/telemetry.js';

/** Chunks that one side pushes and the other pulls. More than `max_bytes` unread, in two chunks or more, mean a slow reader. */
export class ValueStream implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #max_bytes: number;
  readonly #left: (reason: EndReason) => void;
  readonly #queue: Uint8Array[] = [];
  #bytes = 0;
  #waiting: ((result: IteratorResult<Uint8Array>) => void) | undefined;
  #resume: (() => void) | undefined;
  #finished = false;

  constructor(max_bytes: number, left: (reason: EndReason) => void) {
    this.#max_bytes = max_bytes;
    this.#left = left;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** False: the reader is behind; stop until `onDrain`. */
  push(chunk: Uint8Array): boolean {
    if (this.#finished) return false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) {
      waiting({ done: false, value: chunk });
      return true;
    }
    this.#queue.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#max_bytes && this.#queue.length > 1) this.#left('slow_consumer');
    return false;
  }

  /** Sets what runs each time the reader has taken all there was. */
  onDrain(resume: () => void): void {
    this.#resume = resume;
  }

  /** Ends it after the queued chunks. */
  finish(): void {
    this.#finished = true;
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#queue.shift();
    if (value !== undefined) {
      this.#bytes -= value.length;
      if (this.#queue.length === 0) this.#resume?.();
      return Promise.resolve({ done: false, value });
    }
    if (this.#finished) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#queue.length = 0;
    if (!this.#finished) this.#left('client');
    return Promise.resolve({ done: true, value: undefined });
  }
}
