/**
 * The text that a header field’s value means. `HeaderView` and `node:http` hand out each byte as one character (Latin-1); what goes
 * beyond ASCII is UTF-8 here (RFC 9110 section 5.5 leaves it open). Undefined: the bytes are neither ASCII nor valid UTF-8, so a field that
 * names somebody must refuse the request. Overlong forms and surrogates are not valid (RFC 3629 section 3).
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { fieldText } from 'portcullis/gate';
 *
 * assert.equal(fieldText('Zo\u00c3\u00ab'), 'Zo\u00eb');
 * assert.equal(fieldText('Zo\u00eb'), undefined);
 * ```
 */
export function fieldText(value: string): string | undefined {
  if (!/[^\x00-\x7f]/.test(value)) return value;
  if (/[^\x00-\xff]/.test(value)) return undefined;
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
