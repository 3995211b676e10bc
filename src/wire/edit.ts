import { skipSpace, skipString, skipValue } from './skip.js';
import { toText } from './text.js';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Where a member of an object lies: the whole member from its key's quote, and its value. */
export interface Member {
  readonly key: string;
  readonly from: number;
  /** First byte of the value; the value ends where the member does. */
  readonly value: number;
  readonly to: number;
}

/** The members of the object whose brace is at `at`, in order. The bytes were judged before: what is broken ends the list. */
export function membersOf(bytes: Uint8Array, at: number): readonly Member[] {
  const members: Member[] = [];
  visit(bytes, at, (member) => members.push(member) < 0);
  return members;
}

/** The first member with this key; later members are not read. */
export function memberOf(bytes: Uint8Array, at: number, key: string): Member | undefined {
  let found: Member | undefined;
  visit(bytes, at, (member) => {
    if (member.key === key) found = member;
    return found !== undefined;
  });
  return found;
}

/** True when an object begins at `at`. */
export function isObjectAt(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === OPEN;
}

/** The member that a path of keys leads to; undefined where the path leads into a value that is not an object. */
export function memberAt(bytes: Uint8Array, ...path: readonly string[]): Member | undefined {
  let at = skipSpace(bytes, 0);
  let member: Member | undefined;
  for (const key of path) {
    if (!isObjectAt(bytes, at)) return undefined;
    member = memberOf(bytes, at, key);
    if (member === undefined) return undefined;
    at = member.value;
  }
  return member;
}

const OPEN = 0x7b;
const QUOTE = 0x22;
const COMMA = 0x2c;

function visit(bytes: Uint8Array, at: number, see: (member: Member) => boolean): void {
  let from = skipSpace(bytes, at + 1);
  while (bytes[from] === QUOTE) {
    const end = skipString(bytes, from + 1);
    if (end < 0) return;
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1);
    const to = skipValue(bytes, value, 0);
    if (to < 0 || see({ key: toText(bytes, from + 1, end - 1), from, value, to })) return;
    const next = skipSpace(bytes, to);
    if (bytes[next] !== COMMA) return;
    from = skipSpace(bytes, next + 1);
  }
}

/** Where the values of the array whose bracket is at `at` lie, in order. As `membersOf`. */
export function itemsOf(bytes: Uint8Array, at: number): readonly Span[] {
  const items: Span[] = [];
  let from = skipSpace(bytes, at + 1);
  while (from < bytes.length && bytes[from] !== CLOSE_LIST) {
    const to = skipValue(bytes, from, 0);
    if (to < 0) break;
    items.push({ from, to });
    const next = skipSpace(bytes, to);
    if (bytes[next] !== COMMA) break;
    from = skipSpace(bytes, next + 1);
  }
  return items;
}

/** A part of some bytes. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** True when an array begins at `at`. */
export function isListAt(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === OPEN_LIST;
}

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** What takes members of one object, or items of one array, out of it: `parts` are all of them, in order. */
export function cutting<T extends Span>(parts: readonly T[], goes: (part: T, index: number) => boolean): readonly Edit[] {
  const cuts: Edit[] = [];
  let kept_to: number | undefined;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as T;
    if (!goes(part, i)) {
      kept_to = part.to;
      continue;
    }
    let last = i;
    while (last + 1 < parts.length && goes(parts[last + 1] as T, last + 1)) last += 1;
    const after = parts[last + 1];
    const from = after === undefined ? (kept_to ?? part.from) : part.from;
    cuts.push({ from, to: after === undefined ? (parts[last] as T).to : after.from, text: '' });
    i = last;
  }
  return cuts;
}

/** Puts `text` in the place of the bytes `[from, to)`; an insertion where both are equal. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A copy of `bytes` with the edits made, which are in order and do not overlap. Everything else stays as it is, byte for byte. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const texts = edits.map(({ text }) => Buffer.from(text));
  let length = bytes.length;
  for (const [index, { from, to }] of edits.entries()) length += (texts[index] as Buffer).length - (to - from);
  const copy = new Uint8Array(length);
  let read = 0;
  let write = 0;
  for (const [index, { from, to }] of edits.entries()) {
    copy.set(bytes.subarray(read, from), write);
    write += from - read;
    copy.set(texts[index] as Buffer, write);
    write += (texts[index] as Buffer).length;
    read = to;
  }
  copy.set(bytes.subarray(read), write);
  return copy;
}

/**
 * JSON text that is one line however its reader splits lines. CR and LF, in JSON only ever white space, become spaces, in place.
 * U+0085, U+2028 and U+2029, which a gate saw inside a string but some servers take for a line end, become escapes: what was
 * judged as one message cannot be read as two.
 */
export function toLine(bytes: Uint8Array): Uint8Array {
  for (let i = bytes.indexOf(LF); i >= 0; i = bytes.indexOf(LF, i + 1)) bytes[i] = SPACE;
  for (let i = bytes.indexOf(CR); i >= 0; i = bytes.indexOf(CR, i + 1)) bytes[i] = SPACE;
  return hasOddEnds(bytes) ? Buffer.from(escapeEnds(bytes)) : bytes;
}

function hasOddEnds(bytes: Uint8Array): boolean {
  for (let i = bytes.indexOf(0xe2); i >= 0; i = bytes.indexOf(0xe2, i + 1)) {
    if (bytes[i + 1] === 0x80 && (bytes[i + 2] === 0xa8 || bytes[i + 2] === 0xa9)) return true;
  }
  for (let i = bytes.indexOf(0xc2); i >= 0; i = bytes.indexOf(0xc2, i + 1)) if (bytes[i + 1] === 0x85) return true;
  return false;
}

function escapeEnds(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return text.replace(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
