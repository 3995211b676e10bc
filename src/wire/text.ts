/**
 * Text of the JSON string whose content (without quotes) is `bytes[from, to)`. The span was checked by `skipString`.
 * Escapes are decoded; a lone surrogate escape stays a lone surrogate, as in `JSON.parse`.
 */
export function toText(bytes: Uint8Array, from: number, to: number): string {
  const raw = toRaw(bytes, from, to);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

/** The bytes of a span as text, untouched. */
export function toRaw(bytes: Uint8Array, from: number, to: number): string {
  return to - from > SHORT || !isAscii(bytes, from, to) ? utf8.decode(bytes.subarray(from, to)) : shortText(bytes, from, to);
}

/** Length in bytes of `text` in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

/** True for text that every parser reads alike: no NUL, and no lone surrogate, which many parsers replace by U+FFFD. */
export function isPlainText(text: string): boolean {
  return !/[\0\ud800-\udfff]/.test(text) || (!text.includes('\0') && isWellFormed(text));
}

/** True when no surrogate stands alone. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** At most 64 characters of a value that the sender chose, safe to repeat to it: anything but visible ASCII becomes `?`. */
export function toEcho(value: string): string {
  const safe = value.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
  return value.length > 64 ? `${safe}…` : safe;
}

/** Equal for two texts that a case-insensitive parser could take for one (Unicode folds included: U+017F is s, U+212A is k). */
export function toFolded(text: string): string {
  return text.toLowerCase().toUpperCase();
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Up to here characters one by one cost less than a decoder's call. */
const SHORT = 48;

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! >= 0x80) return false;
  return true;
}

function shortText(bytes: Uint8Array, from: number, to: number): string {
  const code = String.fromCharCode;
  let text = '';
  let i = from;
  for (; i + 4 <= to; i += 4) text += code(bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!);
  for (; i < to; i++) text += code(bytes[i]!);
  return text;
}
