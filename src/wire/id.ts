import { isWellFormed, utf8Length } from './text.js';

/**
 * True when `raw` is the JSON text of an id or progress token that is served here: a string of at most 256 bytes in UTF-8, or
 * an integer of 64 bits with sign, without fraction or exponent. `raw` is valid JSON text of one value.
 */
export function isId(raw: string): boolean {
  const first = raw.charCodeAt(0);
  if (first === 0x22) {
    if (raw.length > 6 * MAX_ID_BYTES + 2) return false;
    if (raw.length <= MAX_ID_BYTES / 3 && !raw.includes('\\')) return true;
    const text = JSON.parse(raw) as string;
    return isWellFormed(text) && utf8Length(text) <= MAX_ID_BYTES;
  }
  if (first !== 0x2d && (first < 0x30 || first > 0x39)) return false;
  const digits = first === 0x2d ? raw.slice(1) : raw;
  for (let i = 0; i < digits.length; i++) if (digits.charCodeAt(i) < 0x30 || digits.charCodeAt(i) > 0x39) return false;
  if (digits.length !== 19) return digits.length < 19;
  return digits <= (first === 0x2d ? '9223372036854775808' : '9223372036854775807');
}

/**
 * True when two ids, given as raw JSON text, are one: same type, and strings equal after decoding or integers equal in value.
 * `1` and `"1"` are two ids (JSON-RPC 2.0 section 4). Undefined equals nothing.
 */
export function sameId(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a === b || toCanonical(a) === toCanonical(b);
}

/**
 * True when an answer's id is the id that was asked with: the same, or the same integer in the other type, `"1"` for `1` or `1` for
 * `"1"`. Some servers change the type of an id; no client uses both, so such an answer can mean one request only.
 */
export function spellsId(answered: string | undefined, asked: string | undefined): boolean {
  if (answered === undefined || asked === undefined) return false;
  if (answered === asked) return true;
  const [one, other] = [toCanonical(answered), toCanonical(asked)];
  return one === other || (toBare(one) === toBare(other) && INTEGER.test(toBare(one)));
}

/**
 * A message with `id`, raw JSON text, in the place of the one that it has, in front when it has none; undefined: without one.
 * `from` and `to` are the first and after-last byte of its id, both -1 when it has none (`Answer.id_from`). Returns undefined when the
 * end of the id is not known.
 */
export function withId(message: Uint8Array, from: number, to: number, id: string | undefined): Uint8Array | undefined {
  if (from < 0) return id === undefined ? message : replace(message, message.indexOf(OPEN) + 1, message.indexOf(OPEN) + 1, `"id":${id},`);
  if (to < from) return undefined;
  if (id !== undefined) return replace(message, from, to, id);
  let start = message.lastIndexOf(QUOTE, message.lastIndexOf(QUOTE, from - 1) - 1);
  let end = to;
  while (isSpace(message[end])) end++;
  if (message[end] === COMMA) end++;
  else {
    while (isSpace(message[start - 1])) start--;
    if (message[start - 1] === COMMA) start--;
  }
  return replace(message, start, end, '');
}

const MAX_ID_BYTES = 256;
const INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;
const [OPEN, QUOTE, COMMA] = [0x7b, 0x22, 0x2c];

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

function replace(bytes: Uint8Array, from: number, to: number, text: string): Uint8Array {
  const own = new TextEncoder().encode(text);
  const copy = new Uint8Array(bytes.length - (to - from) + own.length);
  copy.set(bytes.subarray(0, from));
  copy.set(own, from);
  copy.set(bytes.subarray(to), from + own.length);
  return copy;
}

/** A canonical id without what marks a string. */
const toBare = (canonical: string): string => (canonical.charCodeAt(0) === QUOTE ? canonical.slice(1) : canonical);

/** Text equal for equal ids: a decoded string keeps a quote in front, so that it never equals an integer. */
function toCanonical(raw: string): string {
  if (raw === '-0') return '0';
  if (raw.charCodeAt(0) !== 0x22 || !raw.includes('\\')) return raw.charCodeAt(0) === 0x22 ? raw.slice(0, -1) : raw;
  try {
    return `"${JSON.parse(raw) as string}`;
  } catch {
    return raw;
  }
}
