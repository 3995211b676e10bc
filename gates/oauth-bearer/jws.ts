import { type JsonObject, parseJsonObject } from './json-object.js';

/** A compact JWS that was taken apart but not verified. */
export interface UnverifiedJws {
  readonly compact: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/**
 * Takes a compact JWS apart: exactly three segments of canonical base64url, header and payload unambiguous JSON objects.
 * Undefined otherwise; also for whitespace, padding, a second spelling of the same bytes, and JWE.
 */
export function parseJws(compact: string): UnverifiedJws | undefined {
  const [header, payload, signature, more] = compact.split('.', 4);
  if (header === undefined || payload === undefined || signature === undefined || more !== undefined) return undefined;
  const headerBytes = fromBase64url(header);
  const payloadBytes = fromBase64url(payload);
  if (headerBytes === undefined || payloadBytes === undefined || fromBase64url(signature) === undefined) return undefined;
  const headerObject = parseJsonObject(headerBytes);
  const claims = parseJsonObject(payloadBytes);
  return headerObject === undefined || claims === undefined ? undefined : { compact, header: headerObject, claims };
}

/** True if the text has the shape of a compact JWS, whatever is inside. */
export function isThreeSegments(text: string): boolean {
  return text.split('.', 4).length === 3;
}

function fromBase64url(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === segment ? bytes : undefined;
}
