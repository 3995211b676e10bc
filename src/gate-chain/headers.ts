import type { HeaderInit } from '../contract/gate.js';
import { CONNECTION_FIELDS, isFieldValue, isToken } from '../wire/field.js';
/** Lines a gate may set in one answer, and the characters of all its names and values together. */
export const MAX_HEADER_LINES = 64;
export const MAX_HEADER_CHARS = 16_384;

/**
 * A checked, frozen copy of the header fields that a gate wants to send, names in lower case.
 * Names are tokens (RFC 9110 5.6.2), values have no CR, LF, NUL or other control character, and fields that frame the
 * message, belong to the connection or describe the body are not a gate's to set. Throws DecisionFault.
 */
export function checkHeaders(value: unknown, kind: 'refuse' | 'serve'): HeaderInit | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new DecisionFault('headers is not an object');
  const checked: Record<string, string | readonly string[]> = Object.create(null);
  let lines = 0;
  let chars = 0;
  for (const [name, content] of Object.entries(value)) {
    const lower = name.toLowerCase();
    if (!isToken(name, MAX_HEADER_CHARS)) throw new DecisionFault('a header name is not a token');
    if (RESERVED.has(lower) || (kind === 'refuse' && lower === 'content-type')) throw new DecisionFault(`a gate may not set ${lower}`);
    if (lower in checked) throw new DecisionFault(`header ${lower} is there twice, in two spellings`);
    const all: readonly unknown[] = Array.isArray(content) ? [...content] : [content];
    for (const line of all) {
      if (typeof line !== 'string' || !isFieldValue(line)) throw new DecisionFault(`header ${lower} has a value that cannot be sent`);
      lines += 1;
      chars += name.length + line.length;
      if (lines > MAX_HEADER_LINES || chars > MAX_HEADER_CHARS) throw new DecisionFault('headers are too many or too long');
    }
    checked[lower] = Array.isArray(content) ? Object.freeze(all as string[]) : (all[0] as string);
  }
  return Object.freeze(checked);
}

const RESERVED = new Set<string>([...CONNECTION_FIELDS, 'content-encoding', 'content-length', 'date', 'proxy-connection', 'x-request-id']);

/** Says in words for the log why something that a gate returned is not a decision. Never told to the client. */
export class DecisionFault extends Error {
  override readonly name = 'DecisionFault';
}
