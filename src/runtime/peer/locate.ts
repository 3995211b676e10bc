import { skipSpace, skipString, skipValue } from '../../wire/skip.js';
import { toText } from '../../wire/text.js';

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

/** The first member with this key; what comes after it is not looked at. */
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

/** The member that a path of keys leads to; undefined where the path ends in something that is no object. */
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
