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
