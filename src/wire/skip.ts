/**
 * Steps over one JSON value and checks it on the way: exactly the grammar of RFC 8259 (what `JSON.parse` accepts), in valid
 * UTF-8. `at` is the index of the value's first byte, `depth` the number of containers around it. Returns the index after the
 * value, or a negative number that `toSkipFault` explains. Nesting over 128 and an integer literal of more than 64 digits fail.
 */
export function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  let i = at;
  let top = depth;
  for (;;) {
    const c = byteAt(bytes, i);
    if (c === 0x22) {
      i = skipString(bytes, i + 1);
      if (i < 0) return i;
    } else if (c === 0x7b || c === 0x5b) {
      if (++top > MAX_DEPTH) return failAt(i, DEPTH);
      closers[top] = c + 2;
      i = skipSpace(bytes, i + 1);
      if (byteAt(bytes, i) === c + 2) {
        i++;
        top--;
      } else {
        if (c === 0x7b && (i = skipKey(bytes, i)) < 0) return i;
        continue;
      }
    } else {
      i = skipScalar(bytes, i);
      if (i < 0) return i;
    }
    while (top > depth) {
      i = skipSpace(bytes, i);
      const next = byteAt(bytes, i);
      if (next === 0x2c) break;
      if (next !== closers[top]) return failAt(i, SYNTAX);
      i++;
      top--;
    }
    if (top === depth) return i;
    i = skipSpace(bytes, i + 1);
    if (closers[top] === 0x7d && (i = skipKey(bytes, i)) < 0) return i;
  }
}

/** Index of the first byte at or after `at` that is not JSON white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at;
  while (i < bytes.length) {
    const c = bytes[i]!;
    if (c > 0x20 || (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09)) return i;
    i++;
  }
  return i;
}

/** Steps over a string whose opening quote is before `at`; returns the index after its closing quote, or a negative number. */
export function skipString(bytes: Uint8Array, at: number): number {
  const end = bytes.length;
  let i = at;
  for (;;) {
    const near = Math.min(i + 16, end);
    while (i < near && STRING[bytes[i]!] === PLAIN) i++;
    if (i === near) {
      const last = end - 4;
      while (i <= last && (STRING[bytes[i]!]! | STRING[bytes[i + 1]!]! | STRING[bytes[i + 2]!]! | STRING[bytes[i + 3]!]!) === PLAIN) i += 4;
      while (i < end && STRING[bytes[i]!] === PLAIN) i++;
    }
    if (i >= end) return failAt(end, SYNTAX);
    const c = bytes[i]!;
    if (c === 0x22) return i + 1;
    if (c === 0x5c) i = skipEscape(bytes, i + 1);
    else if (c >= 0x80) i = skipUtf8(bytes, i);
    else return failAt(i, SYNTAX);
    if (i < 0) return i;
  }
}

/** Steps over `"key" :` and the space around it; returns the index of the member's value, or a negative number. */
export function skipKey(bytes: Uint8Array, at: number): number {
  if (byteAt(bytes, at) !== 0x22) return failAt(at, SYNTAX);
  let i = skipString(bytes, at + 1);
  if (i < 0) return i;
  i = skipSpace(bytes, i);
  return byteAt(bytes, i) === 0x3a ? skipSpace(bytes, i + 1) : failAt(i, SYNTAX);
}

/** Why a skip returned a negative number, in words. */
export function toSkipFault(failure: number): string {
  const [kind, at] = [-failure % 4, Math.floor(-failure / 4) - 1];
  if (kind === DEPTH) return `Nesting is deeper than ${MAX_DEPTH} at byte ${at}.`;
  if (kind === DIGITS) return `The integer at byte ${at} has more than ${MAX_DIGITS} digits.`;
  if (kind === UTF8) return `Byte ${at} is not valid UTF-8.`;
  return `Byte ${at} is not valid JSON there.`;
}

/** The byte at `at`, or -1 after the end: always a number, so that a body cut short does not make every later load slow. */
export function byteAt(bytes: Uint8Array, at: number): number {
  return at < bytes.length ? bytes[at]! : -1;
}

/** A syntax failure at `at`, as every skip returns it. */
export function syntaxAt(at: number): number {
  return failAt(at, SYNTAX);
}

const MAX_DEPTH = 128;
const MAX_DIGITS = 64;
const [SYNTAX, DEPTH, DIGITS, UTF8] = [0, 1, 2, 3];
const failAt = (at: number, kind: number): number => -((at + 1) * 4 + kind);

/** The closing byte of each open container; written and read within one call only. */
const closers = new Uint8Array(MAX_DEPTH + 2);

const PLAIN = 0;
const STRING = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x20 || byte === 0x22 || byte === 0x5c || byte >= 0x80 ? 1 : PLAIN));
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0));
const ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) => ('"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0));

function skipEscape(bytes: Uint8Array, at: number): number {
  const c = byteAt(bytes, at);
  if (c === 0x75) {
    for (let i = at + 1; i < at + 5; i++) if (i >= bytes.length || HEX[bytes[i]!] === 0) return failAt(i, SYNTAX);
    return at + 5;
  }
  return c >= 0 && ESCAPE[c] === 1 ? at + 1 : failAt(at, SYNTAX);
}

/** One well-formed sequence of two to four bytes (Unicode, table 3-7): no overlong form, no surrogate, nothing over U+10FFFF. */
function skipUtf8(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0xc2 || lead > 0xf4 || at + 1 >= bytes.length) return failAt(at, UTF8);
  const second = bytes[at + 1]!;
  if (lead < 0xe0) return (second & 0xc0) === 0x80 ? at + 2 : failAt(at, UTF8);
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const after = at + (lead < 0xf0 ? 3 : 4);
  if (second < low || second > high || after > bytes.length) return failAt(at, UTF8);
  for (let i = at + 2; i < after; i++) if ((bytes[i]! & 0xc0) !== 0x80) return failAt(at, UTF8);
  return after;
}

function skipScalar(bytes: Uint8Array, at: number): number {
  switch (byteAt(bytes, at)) {
    case 0x74:
      return skipWord(bytes, at, TRUE);
    case 0x66:
      return skipWord(bytes, at, FALSE);
    case 0x6e:
      return skipWord(bytes, at, NULL);
    default:
      return skipNumber(bytes, at);
  }
}

const TRUE = [0x74, 0x72, 0x75, 0x65];
const FALSE = [0x66, 0x61, 0x6c, 0x73, 0x65];
const NULL = [0x6e, 0x75, 0x6c, 0x6c];

function skipWord(bytes: Uint8Array, at: number, word: readonly number[]): number {
  for (let i = 0; i < word.length; i++) if (byteAt(bytes, at + i) !== word[i]) return failAt(at + i, SYNTAX);
  return at + word.length;
}

function skipNumber(bytes: Uint8Array, at: number): number {
  const first = byteAt(bytes, at) === 0x2d ? at + 1 : at;
  let i = skipDigits(bytes, first);
  if (i === first || (byteAt(bytes, first) === 0x30 && i > first + 1)) return failAt(i, SYNTAX);
  const digits = i - first;
  let c = byteAt(bytes, i);
  const whole = c !== 0x2e && c !== 0x65 && c !== 0x45;
  if (whole) return digits > MAX_DIGITS ? failAt(at, DIGITS) : i;
  if (c === 0x2e) {
    const fraction = i + 1;
    i = skipDigits(bytes, fraction);
    if (i === fraction) return failAt(i, SYNTAX);
    c = byteAt(bytes, i);
  }
  if (c === 0x65 || c === 0x45) {
    const sign = byteAt(bytes, i + 1);
    const exponent = sign === 0x2b || sign === 0x2d ? i + 2 : i + 1;
    i = skipDigits(bytes, exponent);
    if (i === exponent) return failAt(i, SYNTAX);
  }
  return i;
}

function skipDigits(bytes: Uint8Array, at: number): number {
  let i = at;
  while (i < bytes.length) {
    const c = bytes[i]!;
    if (c < 0x30 || c > 0x39) return i;
    i++;
  }
  return i;
}
