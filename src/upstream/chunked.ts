import { badAnswer } from './fault.js';

/** Bytes of one chunk's extensions, and of all trailer fields; more is a fault. */
export const MAX_EXTRA_BYTES = 16_384;

/**
 * Takes a chunked body apart (RFC 9112 section 7.1), whatever the cuts between reads are. Extensions and trailer fields are read
 * over; each line must end in CRLF.
 */
export class ChunkedDecoder {
  /** The last chunk and its trailer section were read. */
  done = false;
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #extra = 0;

  /**
   * Reads from `at` up to `end` and gives each run of data to `sink`. Returns where it stopped: `end`, or behind the body once
   * `done` is true.
   * @throws UpstreamFailure `BAD_ANSWER`.
   */
  push(bytes: Buffer, at: number, end: number, sink: (from: number, to: number) => void): number {
    let i = at;
    while (i < end && !this.done) {
      if (this.#state === 'data') {
        const to = Math.min(end, i + this.#size);
        this.#size -= to - i;
        if (this.#size === 0) this.#state = 'data-cr';
        sink(i, to);
        i = to;
      } else this.#step(bytes[i++] as number);
    }
    return i;
  }

  #step(byte: number): void {
    switch (this.#state) {
      case 'size':
        return this.#digit(byte);
      case 'extension':
        if (byte === CR) this.#state = 'size-lf';
        else this.#pass(byte);
        return;
      case 'size-lf':
        return this.#expect(byte, LF, this.#size === 0 ? 'trailer' : 'data');
      case 'data-cr':
        return this.#expect(byte, CR, 'data-lf');
      case 'data-lf':
        this.#digits = this.#extra = 0;
        return this.#expect(byte, LF, 'size');
      case 'trailer':
        if (byte === CR) this.#state = 'end-lf';
        else {
          this.#pass(byte);
          this.#state = 'trailer-line';
        }
        return;
      case 'trailer-line':
        if (byte === CR) this.#state = 'trailer-lf';
        else this.#pass(byte);
        return;
      case 'trailer-lf':
        return this.#expect(byte, LF, 'trailer');
      default:
        this.#expect(byte, LF, 'size');
        this.done = true;
    }
  }

  #digit(byte: number): void {
    const value = hexOf(byte);
    if (value >= 0) {
      this.#size = this.#size * 16 + value;
      if (++this.#digits > 12) throw badAnswer('a chunk is too large');
      return;
    }
    if (this.#digits === 0) throw badAnswer('a chunk without a size');
    if (byte === CR) this.#state = 'size-lf';
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#state = 'extension';
    else throw badAnswer('the size of a chunk is not a number');
  }

  #pass(byte: number): void {
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw badAnswer('a control character in a chunk extension or trailer');
    if (++this.#extra > MAX_EXTRA_BYTES) throw badAnswer('chunk extensions or trailers are too large');
  }

  #expect(byte: number, wanted: number, next: State): void {
    if (byte !== wanted) throw badAnswer('a chunk does not end in CRLF');
    this.#state = next;
  }
}

type State = 'size' | 'extension' | 'size-lf' | 'data' | 'data-cr' | 'data-lf' | 'trailer' | 'trailer-line' | 'trailer-lf' | 'end-lf';

function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;
const DELETE = 0x7f;
