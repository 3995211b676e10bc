import { HeldBytes, NO_BYTES, withoutBom } from './bytes.js';
import { AnswerSummary, type AnswerVerdict } from './summary.js';

/** A line that is longer than it may be, as far as it has passed by. It is never held. */
export interface LongLine {
  /** What its JSON says so far: whose answer it is, or which request. Nothing beyond four times `max_line_bytes` is read. */
  readonly answer: AnswerVerdict;
  readonly bytes: number;
}

export interface LineFramerOptions {
  /** Longest line in bytes, without its end; default 2 000 000. A longer one is reported, never held, and skipped to its LF. */
  readonly max_line_bytes?: number;
  /** One line without LF, without one CR before it, and without a BOM at the start of the stream; may be empty. */
  onLine(line: Uint8Array): void;
  /** Once for each line that is too long, as soon as it is. */
  onTooLong(line: LongLine): void;
  /** Once for each line that was too long, at its end. */
  onLongEnd?(line: LongLine): void;
}

/**
 * Frames a byte stream into lines (MCP stdio transport). Only LF ends a line: U+0085, U+2028 and U+2029 are text, and a character
 * cut by a chunk is whole again. Lines may be parts of the pushed chunks, which must not change while a line is in use.
 */
export class LineFramer {
  readonly #options: LineFramerOptions;
  readonly #max: number;
  readonly #held = new HeldBytes();
  #long: Passing | undefined;
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
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The stream ended: the held bytes are the last line. Call once. */
  end(): void {
    if (this.#held.length > 0 || this.#long !== undefined) this.#finish(NO_BYTES);
  }

  #hold(rest: Uint8Array): void {
    if (this.#long !== undefined) return this.#pass(rest);
    this.#held.append(rest);
    if (this.#held.length > this.#max + SLACK_BYTES) this.#refuse(this.#held.take());
  }

  #finish(last: Uint8Array): void {
    if (this.#long !== undefined) {
      this.#pass(last);
      return this.#endLong();
    }
    let line = last;
    if (this.#held.length > 0) {
      this.#held.append(last);
      line = this.#held.take();
    }
    if (this.#first) line = withoutBom(line);
    this.#first = false;
    if (line[line.length - 1] === CR) line = line.subarray(0, -1);
    if (line.length <= this.#max) return this.#options.onLine(line);
    this.#refuse(line);
    this.#endLong();
  }

  #refuse(line: Uint8Array): void {
    this.#long = { probe: new AnswerSummary(), readable: false, bytes: 0 };
    this.#pass(this.#first ? withoutBom(line) : line);
    this.#first = false;
    this.#options.onTooLong(this.#seen());
  }

  /** A value that is not a JSON object is skipped, however long it is. */
  #pass(part: Uint8Array): void {
    const long = this.#long as Passing;
    if (long.bytes === 0) long.readable = part[0] === OPEN;
    if (long.readable && long.bytes < 4 * this.#max) long.probe.push(part.subarray(0, 4 * this.#max - long.bytes));
    long.bytes += part.length;
  }

  #seen(): LongLine {
    const { probe, bytes } = this.#long as Passing;
    return { answer: probe.finish(), bytes };
  }

  #endLong(): void {
    this.#options.onLongEnd?.(this.#seen());
    this.#long = undefined;
  }
}

/** A long line that passes by. `readable`: it begins as a JSON object does. */
interface Passing {
  readonly probe: AnswerSummary;
  readable: boolean;
  bytes: number;
}

const LF = 0x0a;
const CR = 0x0d;
const OPEN = 0x7b;
/** A BOM and a CR are held with the line but are no part of it. */
const SLACK_BYTES = 4;
