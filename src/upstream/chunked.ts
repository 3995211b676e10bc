import { isTokenByte } from '../wire/field.js';
import { badAnswer } from './exchange.js';

/** Bytes of one chunk's extensions, and of all trailer fields; more is a fault. */
export const MAX_EXTRA_BYTES = 16_384;

/**
 * Takes a chunked body apart (RFC 9112 section 7.1), whatever the cuts between reads are. Extensions and trailer fields are read
 * over; each line must end in CRLF.
 */
export class ChunkedDecoder {
  /** The last chunk and its trailer section were read. */
  done = false;
  /** Where the data of the last `push` is in its bytes: from here up to `to`, whatever number of chunks it came in. */
  from = 0;
  to = 0;
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #extra = 0;

  /**
   * Reads `bytes` from `at` on and moves the data of all chunks together, in place: a million small chunks cost no objects.
   * Returns where it stopped: at the end, or behind the body once `done` is true.
   * @throws UpstreamFailure `BAD_ANSWER`; `from` and `to` hold what came before.
   */
  push(bytes: Buffer, at: number): number {
    const end = bytes.length;
    let i = at;
    this.from = this.to = at;
    while (i < end && !this.done) {
      if (this.#state === 'data') {
        const stop = Math.min(end, i + this.#size);
        this.#size -= stop - i;
        if (this.#size === 0) this.#state = 'data-cr';
        this.#keep(bytes, i, stop);
        i = stop;
      } else this.#step(bytes[i++] as number);
    }
    return i;
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    if (this.to === this.from) {
      this.from = from;
      this.to = to;
    } else if (to - from > SHORT) {
      bytes.copyWithin(this.to, from, to);
      this.to += to - from;
    } else for (let i = from; i < to; i++) bytes[this.to++] = bytes[i] as number;
  }

  #step(byte: number): void {
    switch (this.#state) {
      case 'size':
        return this.#digit(byte);
      case 'blank':
        if (byte === SEMICOLON) this.#state = 'extension';
        else if (byte !== SPACE && byte !== TAB) throw badAnswer('the size of a chunk is not a number');
        return this.#pass(byte);
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
          this.#name(byte);
          this.#state = 'trailer-name';
        }
        return;
      case 'trailer-name':
        if (byte !== COLON) return this.#name(byte);
        this.#state = 'trailer-value';
        return this.#pass(byte);
      case 'trailer-value':
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
    else if (byte === SEMICOLON) this.#state = 'extension';
    else if (byte === SPACE || byte === TAB) this.#state = 'blank';
    else throw badAnswer('the size of a chunk is not a number');
  }

  #name(byte: number): void {
    if (!isTokenByte(byte)) throw badAnswer('the name of a trailer field is not a token');
    this.#pass(byte);
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

type State =
  | 'size'
  | 'blank'
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer'
  | 'trailer-name'
  | 'trailer-value'
  | 'trailer-lf'
  | 'end-lf';

function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;
const DELETE = 0x7f;
/** Up to it a loop is faster than a call. */
const SHORT = 24;
