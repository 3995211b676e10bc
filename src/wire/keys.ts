import { isPlainText, toFolded, toText } from './text.js';

const KEYS = ['id', 'code', 'error', 'method', 'result', 'isError'].map((name) => ({
  name,
  bytes: Uint8Array.from(name, (character) => character.charCodeAt(0)),
}));
const toBytes = (held: string): Uint8Array => Uint8Array.from(held, (character) => character.charCodeAt(0));

/**
 * The member names that one policed object (envelope, `params`, `params._meta`) is known to have. A name that only differs from
 * a known one by case, or that comes twice under case folding, could be read differently by the parser behind us: it is refused.
 */
export class KeyPolicy {
  readonly names: readonly string[];
  readonly #by_length: readonly (readonly KnownKeys[] | undefined)[];
  readonly #by_fold: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.names = names;
    const by_length: KnownKeys[][] = [];
    names.forEach((name, index) => {
      (by_length[name.length] ??= []).push({ index, bytes: new TextEncoder().encode(name) });
    });
    this.#by_length = by_length;
    this.#by_fold = new Map(names.map((name, index) => [toFolded(name), index]));
  }

  /** Index in `names` of the key whose content is `bytes[from, to)`, without decoding; -1 when it is none as it stands. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const candidates = this.#by_length[to - from];
    if (candidates === undefined) return -1;
    for (const known of candidates) if (equalsAt(known.bytes, bytes, from)) return known.index;
    return -1;
  }

  /** Judges a key that `find` did not know. `extras` holds the folded other keys of the same object. */
  judge(bytes: Uint8Array, from: number, to: number, extras: Set<string>): Judged {
    const key = toText(bytes, from, to);
    if (!isPlainText(key)) return { index: -1, fault: 'contains NUL or half a surrogate pair' };
    const folded = toFolded(key);
    const index = this.#by_fold.get(folded);
    if (index !== undefined) return this.names[index] === key ? { index } : { index, fault: `is "${this.names[index]}" in another case` };
    if (extras.has(folded)) return { index: -1, fault: 'comes twice, or twice in different case' };
    extras.add(folded);
    return { index: -1 };
  }
}

/** Index of the known key that this is, or is a variant of; -1 for an unknown key. `fault` says why the key is refused. */
export interface Judged {
  readonly index: number;
  readonly fault?: string;
}

interface KnownKeys {
  readonly index: number;
  readonly bytes: Uint8Array;
}

function equalsAt(known: Uint8Array, bytes: Uint8Array, from: number): boolean {
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[from + i]) return false;
  return true;
}

/** The quote that ends a short key without escapes; -1 for any other, which must be held. */
export function plainEnd(chunk: Uint8Array, at: number): number {
  const last = Math.min(at + 32, chunk.length);
  for (let i = at; i < last; i++) {
    const c = chunk[i]!;
    if (c === 0x22) return i;
    if (c === 0x5c) return -1;
  }
  return -1;
}

/** The key between two positions, if it is one that is looked at; else empty. */
export function knownKey(chunk: Uint8Array, from: number, to: number): string {
  for (const { name, bytes } of KEYS) {
    if (bytes.length !== to - from || bytes[0] !== chunk[from]) continue;
    let i = 1;
    while (i < bytes.length && bytes[i] === chunk[from + i]) i++;
    if (i === bytes.length) return name;
  }
  return '';
}

/** Bytes that are held one character each, as UTF-8 text. */
export function utf8Text(held: string): string {
  return /^[\x00-\x7f]*$/.test(held) ? held : new TextDecoder().decode(toBytes(held));
}

/** Held content of a JSON string, decoded; undefined when it is not valid JSON. */
export function fromHeld(held: string): string | undefined {
  if (/^[\x20-\x5b\x5d-\x7e]*$/.test(held)) return held;
  const bytes = toBytes(held);
  try {
    return toText(bytes, 0, bytes.length);
  } catch {
    return undefined;
  }
}
