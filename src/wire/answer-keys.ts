import { toText } from './text.js';

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

/** Held content of a JSON string, decoded; undefined when it is no JSON. */
export function fromHeld(held: string): string | undefined {
  if (/^[\x20-\x5b\x5d-\x7e]*$/.test(held)) return held;
  const bytes = toBytes(held);
  try {
    return toText(bytes, 0, bytes.length);
  } catch {
    return undefined;
  }
}

const KEYS = ['id', 'code', 'error', 'method', 'result', 'isError'].map((name) => ({
  name,
  bytes: Uint8Array.from(name, (character) => character.charCodeAt(0)),
}));

const toBytes = (held: string): Uint8Array => Uint8Array.from(held, (character) => character.charCodeAt(0));
