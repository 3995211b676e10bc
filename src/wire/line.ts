import { HeldBytes, NO_BYTES, withoutBom } from './bytes.js';

export interface LineFramerOptions {
  /** Longest line in bytes, without its end; default 2 000 000. A longer one is reported once, never held, and skipped to its LF. */
  readonly max_line_bytes?: number;
  /** One line without LF, without one CR before it, and without a BOM at the start of the stream; may be empty. */
  onLine(line: Uint8Array): void;
  onTooLong(): void;
}

/**
 * Frames a byte stream into lines (MCP stdio transport). Only LF ends a line: U+0085, U+2028 and U+2029 are text, and a character
 * cut by a chunk is whole again. Lines may be parts of the pushed chunks: nobody writes to those while a line is in use.
 */
export class LineFramer {
  readonly #options: LineFramerOptions;
  readonly #max: number;
  readonly #held = new HeldBytes();
  #skipping = false;
  #first = true;

  constructor(options: LineFramerOptions) {
    this.#options = options;
    this.#max = options.max_line_bytes ?? 2_000_000;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      this.#finish(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from < chunk.length && !this.#skipping) this.#hold(chunk.subarray(from));
  }

  /** The stream ended: what is held is the last line. Call once. */
  end(): void {
    if (this.#held.length > 0 && !this.#skipping) this.#finish(NO_BYTES);
  }

  #hold(rest: Uint8Array): void {
    this.#held.append(rest);
    if (this.#held.length > this.#max + SLACK_BYTES) this.#refuse(true);
  }

  #finish(last: Uint8Array): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    let line = last;
    if (this.#held.length > 0) {
      this.#held.append(last);
      line = this.#held.take();
    }
    if (this.#first) line = withoutBom(line);
    this.#first = false;
    if (line[line.length - 1] === CR) line = line.subarray(0, -1);
    if (line.length > this.#max) this.#refuse(false);
    else this.#options.onLine(line);
  }

  #refuse(skipping: boolean): void {
    this.#held.clear();
    this.#first = false;
    this.#skipping = skipping;
    this.#options.onTooLong();
  }
}

const LF = 0x0a;
const CR = 0x0d;
/** A BOM and a CR are held with the line but are no part of it. */
const SLACK_BYTES = 4;
