import type { Outcome } from '../errors/error.js';
import { trimOws } from './field.js';

/**
 * Text that an `Mcp-Name` or `Mcp-Param-*` header value stands for: the value itself, or what `=?base64?…?=` wraps (MCP
 * 2026-07-28, Streamable HTTP, "Value Encoding"; the markers are case-sensitive). Fails, with the reason, for bytes that a field
 * value cannot carry, for base64 that is not strict (RFC 4648 section 4: padded, canonical, no white space), for bytes that are
 * no UTF-8, and for more than 8 192 bytes of text, judged before decoding.
 */
export function decodeFieldText(value: string): Outcome<string, string> {
  if (!isFieldText(value)) return { ok: false, fault: 'has characters that must be base64-wrapped' };
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX) || value.length < PREFIX.length + SUFFIX.length) {
    return value.length > MAX_TEXT_BYTES ? TOO_LONG : { ok: true, value };
  }
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  if (encoded.length > (MAX_TEXT_BYTES / 3 + 1) * 4) return TOO_LONG;
  const bytes = decodeBase64(encoded);
  if (bytes === undefined) return { ok: false, fault: 'is not strict base64 between =?base64? and ?=' };
  if (bytes.length > MAX_TEXT_BYTES) return TOO_LONG;
  try {
    return { ok: true, value: utf8.decode(bytes) };
  } catch {
    return { ok: false, fault: 'is not UTF-8 after base64 decoding' };
  }
}

/**
 * A header value that stands for `text`: the text itself where a field value can carry it unchanged, else wrapped (MCP 2026-07-28,
 * Streamable HTTP, "Value Encoding"). `decodeFieldText` gives it back.
 */
export function encodeFieldText(text: string): string {
  const plain = isFieldText(text) && text === trimOws(text) && !(text.startsWith(PREFIX) && text.endsWith(SUFFIX));
  return plain ? text : `${PREFIX}${Buffer.from(text).toString('base64')}${SUFFIX}`;
}

/** True for text that a field value may carry as it is: visible ASCII, space and tab (RFC 9110 section 5.5). */
export function isFieldText(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if ((c < 0x20 && c !== 0x09) || c > 0x7e) return false;
  }
  return true;
}

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const MAX_TEXT_BYTES = 8192;
const TOO_LONG = { ok: false, fault: `is longer than ${MAX_TEXT_BYTES} bytes` } as const;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEXTET = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) SEXTET[ALPHABET.charCodeAt(i)] = i;

/** Undefined unless `text`, of ASCII, is the one canonical encoding of some bytes. */
function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  const bytes = new Uint8Array((digits * 3) >> 2);
  let [bits, held, at] = [0, 0, 0];
  for (let i = 0; i < digits; i++) {
    const sextet = SEXTET[text.charCodeAt(i)]!;
    if (sextet < 0) return undefined;
    bits = ((bits << 6) | sextet) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = bits >> held;
    }
  }
  return (bits & ((1 << held) - 1)) === 0 ? bytes : undefined;
}
