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

const MAX_ID_BYTES = 256;

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
