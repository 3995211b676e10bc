import type { Exchange, MessageWriter } from '../../contract/runtime.js';

/**
 * The GET event stream of one legacy session (MCP 2025-11-25, "Listening for Messages from the Server"). One at a time: a client
 * that comes back ends the stream it lost. Messages that arrive without a stream, or while its reader is slow, wait: at most 64 messages
 * of 256 KiB together.
 */
export class SessionStream {
  #writer: MessageWriter | undefined;
  #slow = false;
  #waiting: Uint8Array[] = [];
  #waiting_bytes = 0;

  get open(): boolean {
    return this.#writer !== undefined;
  }

  /** `left` runs when the client has left this stream, and not when it comes back with another. */
  attach(exchange: Exchange, left?: () => void): void {
    const writer = exchange.events([]);
    if (writer === undefined) return;
    this.end();
    this.#writer = writer;
    exchange.onCancel((reason) => {
      const mine = this.#writer === writer;
      if (mine) this.#writer = undefined;
      if (reason === 'drain') writer.end('drain');
      if (mine) left?.();
    });
    writer.onDrain(() => this.#writer === writer && this.#flush());
    this.#flush();
  }

  /** False: too much waits already, the message was dropped. */
  push(line: Uint8Array): boolean {
    if (this.#writer !== undefined && !this.#slow) {
      this.#write(line);
      return true;
    }
    if (this.#waiting.length >= MAX_WAITING || this.#waiting_bytes + line.length > MAX_WAITING_BYTES) return false;
    this.#waiting.push(line);
    this.#waiting_bytes += line.length;
    return true;
  }

  /** True while this message waits for a reader. */
  holds(line: Uint8Array): boolean {
    return this.#waiting.includes(line);
  }

  /** A message that waits is not sent any more. */
  drop(line: Uint8Array): void {
    if (!this.holds(line)) return;
    this.#waiting = this.#waiting.filter((other) => other !== line);
    this.#waiting_bytes -= line.length;
  }

  end(): void {
    const writer = this.#writer;
    this.#writer = undefined;
    writer?.end('source');
  }

  #flush(): void {
    this.#slow = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waiting_bytes = 0;
    for (const line of waiting) this.push(line);
  }

  #write(line: Uint8Array): void {
    this.#slow = this.#writer?.write(line) === false;
  }
}

const MAX_WAITING = 64;
const MAX_WAITING_BYTES = 262_144;
