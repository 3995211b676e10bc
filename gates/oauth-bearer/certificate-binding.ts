import { hash } from 'node:crypto';
import type { GateContext, RequestHead } from 'portcullis/gate';
import { isJsonObject } from './json-object.js';
import type { Options } from './options.js';

/** True if the caller showed the certificate whose `x5t#S256` the token carries (RFC 8705 section 3.1). */
export function showsCertificate(thumbprint: string, from: Options['certificate_from'], head: RequestHead, context: GateContext): boolean {
  return thumbprint === shownThumbprint(from, head, context);
}

/** Base64url SHA-256 of the caller’s certificate. A gate’s fact goes before the connection, whose other end may be a proxy. */
function shownThumbprint(from: Options['certificate_from'], head: RequestHead, context: GateContext): string | undefined {
  const fact = context.facts.certificate;
  if (from !== 'connection' && fact !== undefined) return isJsonObject(fact) ? fromHex(fact.sha256) : undefined;
  const der = head.peer.tls?.certificate;
  if (from === 'gate' || der === undefined) return undefined;
  return hash('sha256', der, 'base64url');
}

function fromHex(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? Buffer.from(value, 'hex').toString('base64url') : undefined;
}
