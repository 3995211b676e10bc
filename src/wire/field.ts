import type { Outcome } from '../errors/error.js';

/** Fields about one connection and the framing on it, which no message carries on (RFC 9110 section 7.6.1). */
export const CONNECTION_FIELDS = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'] as const;

/**
 * `text` without optional white space at either end: SP and HTAB alone (RFC 9110 section 5.6.3). The language's own `trim()` also drops
 * U+00A0, vertical tab, form feed, U+FEFF and more, and so takes `application/json` followed by one of them for `application/json`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { trimOws } from 'portcullis/gate';
 *
 * assert.equal(trimOws(' \tapi-key '), 'api-key');
 * assert.equal(trimOws('\u00a0api-key'), '\u00a0api-key');
 * ```
 */
export function trimOws(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isOws(text.charCodeAt(start))) start++;
  while (end > start && isOws(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** True for a token of at most `max` characters, such as a field's name or a method (RFC 9110 section 5.6.2). */
export function isToken(text: string, max = 128): boolean {
  return text.length <= max && TOKEN.test(text);
}

/** True for a character of a token. */
export function isTokenByte(byte: number): boolean {
  return TOKEN_BYTES[byte] === 1;
}

/** True for visible ASCII alone (RFC 5234, `VCHAR`), as in a session id: 1 to `max` characters. */
export function isVisible(text: string, max = Number.POSITIVE_INFINITY): boolean {
  return text.length <= max && VISIBLE.test(text);
}

/** True for what a field line can carry, obsolete text included, one byte a character (RFC 9110 section 5.5). */
export function isFieldValue(text: string): boolean {
  return FIELD_VALUE.test(text);
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TOKEN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => (TOKEN.test(String.fromCharCode(byte)) ? 1 : 0));
const VISIBLE = /^[\x21-\x7e]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The elements of a comma-separated field value, in lower case; empty ones do not count (RFC 9110 section 5.6.1). */
export function listedIn(value: string): string[] {
  const found: string[] = [];
  for (const element of value.toLowerCase().split(',')) {
    const token = trimOws(element);
    if (token !== '') found.push(token);
  }
  return found;
}

/** The weight among a range's parameters, which are in lower case and trimmed (RFC 9110 section 12.4.2): 1 without one, NaN for one that is malformed. */
export function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return weight === undefined ? 1 : QVALUE.test(weight) ? Number(weight.slice(2)) : Number.NaN;
}

/** True when `Accept`, of at most 4 096 characters, names `type` with no less weight than `other`; wildcards do not count (RFC 9110 section 12.5.1). */
export function prefers(accept: string | undefined, type: string, other: string): boolean {
  if (accept === undefined || accept.length > 4096) return false;
  const weights = [0, 0] as [number, number];
  for (const range of accept.split(',')) {
    const [named = '', ...parameters] = range.split(';').map((part) => trimOws(part).toLowerCase());
    const weight = weightOf(parameters);
    const at = [type, other].indexOf(named);
    if (at >= 0 && !Number.isNaN(weight)) weights[at] = Math.max(weights[at]!, weight);
  }
  return weights[0] > 0 && weights[0] >= weights[1];
}

/** True for a Content-Length that is decimal digits, at most 15, without a leading zero (RFC 9110 section 8.6). */
export function isPlainLength(value: string): boolean {
  if (value.length === 0 || value.length > 15 || (value.length > 1 && value.charCodeAt(0) === 0x30)) return false;
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if (c < 0x30 || c > 0x39) return false;
  }
  return true;
}

const QVALUE = /^q=(?:0(?:\.[0-9]*)?|1(?:\.0*)?)$/;

function isOws(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const MAX_TEXT_BYTES = 8192;
const TOO_LONG = { ok: false, fault: `is longer than ${MAX_TEXT_BYTES} bytes` } as const;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEXTET = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) SEXTET[ALPHABET.charCodeAt(i)] = i;

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

/** What official clients send: answered without a look inside. */
const BOTH_AS_SENT = 'application/json, text/event-stream';
const BOTH = { json: true, events: true } as const;
const UTF8: ReadonlySet<string> = new Set(['charset=utf-8', 'charset="utf-8"', 'charset=utf8', 'charset="utf8"']);
const MAX_RANGES = 64;
const MAX_PARAMETERS = 8;

/** True for `application/json`, any case, with at most one parameter: a charset that is UTF-8, also spelt `utf8`, plain or quoted (RFC 9110 section 8.3). */
export function isJsonType(value: string | undefined): boolean {
  if (value === 'application/json') return true;
  if (value === undefined || value.length > 128) return false;
  const [type = '', ...parameters] = value.toLowerCase().split(';');
  if (trimOws(type) !== 'application/json' || parameters.length > 1) return false;
  const [parameter] = parameters;
  return parameter === undefined || UTF8.has(trimOws(parameter));
}

/** The type of a `Content-Type`, in lower case, without its parameters (RFC 9110 section 8.3.1). */
export function essenceOf(value: string): string {
  const semicolon = value.indexOf(';');
  return trimOws(semicolon < 0 ? value : value.slice(0, semicolon)).toLowerCase();
}

/** Which answers `Accept` admits. Absence and wildcards count as both; `q=0` as neither (RFC 9110 section 12.5.1). */
export function accepts(values: readonly string[]): { readonly json: boolean; readonly events: boolean } {
  if (values.length === 0 || (values.length === 1 && values[0] === BOTH_AS_SENT)) return BOTH;
  let json = false;
  let events = false;
  for (const value of values) {
    for (const range of value.split(',', MAX_RANGES)) {
      const [type = '', ...parameters] = range.toLowerCase().split(';', MAX_PARAMETERS);
      if (parameters.length > 0 && weightOf(parameters.map(trimOws)) === 0) continue;
      const name = trimOws(type);
      if (name === '*/*') json = events = true;
      else if (name === 'application/json' || name === 'application/*') json = true;
      else if (name === 'text/event-stream' || name === 'text/*') events = true;
    }
  }
  return { json, events };
}
