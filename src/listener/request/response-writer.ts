import type { ServerResponse } from 'node:http';
import type { Limits } from '../../contract/limits.js';

/** How a blocked write ended. */
export type Blockage = 'none' | 'slow_consumer';

interface Handle {
  readonly writeQueueSize?: number;
}

/**
 * Writes an answer to a reader that may be slow. Bytes that the kernel does not take are counted here: more than
 * `max_stream_buffer_bytes`, or no progress for `write_timeout_ms`, and the reader is too slow.
 */
export class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #limits: Pick<Limits, 'write_timeout_ms' | 'max_stream_buffer_bytes'>;
  #blocked_at_ms = -1;
  #queued = 0;
  #resume: (() => void) | undefined;
  #listening = false;

  constructor(response: ServerResponse, limits: Pick<Limits, 'write_timeout_ms' | 'max_stream_buffer_bytes'>) {
    this.#response = response;
    this.#limits = limits;
  }

  get blocked(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** Bytes that wait for the reader. */
  get buffered_bytes(): number {
    return this.#response.writableLength;
  }

  /** False: wait for the resume. */
  write(chunk: Uint8Array): boolean {
    if (this.#response.write(chunk)) return true;
    if (!this.#listening) {
      this.#listening = true;
      this.#response.on('drain', () => {
        this.#blocked_at_ms = -1;
        this.#resume?.();
      });
    }
    return false;
  }

  onDrain(resume: () => void): void {
    this.#resume = resume;
  }

  get overflows(): boolean {
    return this.#response.writableLength > this.#limits.max_stream_buffer_bytes;
  }

  /** Called by the sweep: says whether a blocked write has made no progress for too long. */
  check(now_ms: number): Blockage {
    const waiting = this.#response.writableLength;
    if (waiting === 0) {
      this.#blocked_at_ms = -1;
      return 'none';
    }
    // libuv counts partial writes live; what Node holds beside it moves only when a whole write is done.
    const handle = (this.#response.socket as { _handle?: Handle } | null)?._handle;
    const queued = (handle?.writeQueueSize ?? 0) + waiting;
    if (this.#blocked_at_ms === -1 || queued < this.#queued) this.#blocked_at_ms = now_ms;
    this.#queued = queued;
    return now_ms - this.#blocked_at_ms >= this.#limits.write_timeout_ms ? 'slow_consumer' : 'none';
  }
}
