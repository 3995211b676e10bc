import { HeldBytes } from './bytes.js';
import { isId } from './id.js';
import { skipSpace, skipString, skipValue } from './skip.js';
import { toFolded, toRaw, toText } from './text.js';

/** Bytes at the start of a body in which the id of its request is looked for. */
export const ID_WINDOW_BYTES = 65_536;

/**
 * The top-level `id` of the request that `body` begins with, as raw JSON text, for an answer to a body that is not read further. At most
 * `ID_WINDOW_BYTES` are looked at, and of them only the envelope's keys and the id. Undefined: it is not there, is none that
 * `scanMessage` would accept, comes twice or beside an `ID`, or belongs to a response. Never throws.
 */
export function requestIdOf(body: Uint8Array): string | undefined {
  return look(body.subarray(0, ID_WINDOW_BYTES)).id;
}

/** Finds the same in a body that arrives in pieces of any size. Holds at most twice `ID_WINDOW_BYTES` and looks at each byte a few times. */
export class RequestIdReader {
  readonly #held = new HeldBytes();
  #looked = 0;
  #found: Found = NOTHING_YET;

  /** True once nothing that still comes can change the answer. */
  push(piece: Uint8Array): boolean {
    if (this.#found.settled) return true;
    const left = ID_WINDOW_BYTES - this.#held.length;
    this.#held.append(piece.subarray(0, left));
    if (piece.length >= left || 4 * this.#held.length >= 5 * this.#looked) this.#look();
    return this.#found.settled || piece.length >= left;
  }

  /** What the pieces so far say, as `requestIdOf`. */
  get id(): string | undefined {
    if (!this.#found.settled && this.#looked < this.#held.length) this.#look();
    return this.#found.id;
  }

  #look(): void {
    this.#looked = this.#held.length;
    this.#found = look(this.#held.bytes);
  }
}

interface Found {
  readonly id: string | undefined;
  /** More bytes would not change it. */
  readonly settled: boolean;
}

const NOTHING_YET: Found = { id: undefined, settled: false };
const NONE: Found = { id: undefined, settled: true };

function look(bytes: Uint8Array): Found {
  let id: string | undefined;
  let method = false;
  let i = skipSpace(bytes, 0);
  if (i >= bytes.length) return NOTHING_YET;
  if (bytes[i] !== 0x7b) return NONE;
  i = skipSpace(bytes, i + 1);
  for (;;) {
    // Enough is known: a response has no method.
    const cut: Found = { id, settled: id !== undefined && method };
    if (i >= bytes.length) return cut;
    if (bytes[i] !== 0x22) return NONE;
    const key = i + 1;
    i = skipString(bytes, key);
    if (i < 0) return isCut(bytes, i) ? cut : NONE;
    const name = keyOf(bytes, key, i - 1);
    if (name === 'result' || name === 'error' || (name !== 'id' && toFolded(name) === 'ID')) return NONE;
    i = skipSpace(bytes, i);
    if (i >= bytes.length) return cut;
    if (bytes[i] !== 0x3a) return NONE;
    const from = skipSpace(bytes, i + 1);
    const to = skipValue(bytes, from, 1);
    if (to < 0) return isCut(bytes, to) ? cut : NONE;
    i = skipSpace(bytes, to);
    // A number may go on in the next piece.
    if (i >= bytes.length) return cut;
    if (name === 'id') {
      const raw = id === undefined && to - from <= MAX_RAW_ID_BYTES ? toRaw(bytes, from, to) : '';
      if (raw === '' || !isId(raw)) return NONE;
      id = raw;
    }
    method ||= name === 'method';
    if (bytes[i] === 0x7d) return { id, settled: true };
    if (bytes[i] !== 0x2c) return NONE;
    i = skipSpace(bytes, i + 1);
  }
}

/** 256 bytes, each as an escape, in quotes. */
const MAX_RAW_ID_BYTES = 6 * 256 + 2;
/** `method`, each letter as an escape. */
const MAX_RAW_KEY_BYTES = 36;

function keyOf(bytes: Uint8Array, from: number, to: number): string {
  return to - from > MAX_RAW_KEY_BYTES ? '' : toText(bytes, from, to);
}

/** True when a skip failed because the bytes end, within a character or a word at the latest. */
function isCut(bytes: Uint8Array, failure: number): boolean {
  return Math.floor(-failure / 4) - 1 >= bytes.length - 3;
}
