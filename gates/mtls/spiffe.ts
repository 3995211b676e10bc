import { Fault } from './codes.js';
import type { San } from './sans.js';

/** Characters of a SPIFFE ID (SPIFFE-ID section 2.3). */
export const MAX_SPIFFE_ID_CHARS = 2_048;

/**
 * The SPIFFE ID of a certificate: its only URI name, `spiffe://trust-domain/path` of an allowed trust domain, spelt in
 * the one canonical way (SPIFFE-ID section 2, X509-SVID section 2): no port, user, query, fragment, escape, empty or dot segment.
 */
export function readSpiffeId(sans: readonly San[], domains: ReadonlySet<string>): string | Fault {
  const uris = sans.filter((san) => san.type === 'uri');
  const id = uris[0]?.value;
  if (id === undefined) return refused('It has no URI name; a SPIFFE ID is expected.');
  if (uris.length > 1) return refused('It has several URI names; exactly one is expected, the SPIFFE ID.');
  if (id.length > MAX_SPIFFE_ID_CHARS || !id.startsWith('spiffe://')) return refused('Its URI name is not a SPIFFE ID.');
  const slash = id.indexOf('/', SCHEME_CHARS);
  if (slash === -1) return refused('Its SPIFFE ID has no path and so names no workload.');
  if (
    !id
      .slice(slash + 1)
      .split('/')
      .every(isSegment)
  ) {
    return refused('The path of its SPIFFE ID is not made of segments of letters, digits, ".", "_" and "-".');
  }
  if (!domains.has(id.slice(SCHEME_CHARS, slash))) return refused('Its SPIFFE trust domain is not one of spiffe_trust_domains.');
  return id;
}

const SCHEME_CHARS = 'spiffe://'.length;

function isSegment(segment: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(segment) && segment !== '.' && segment !== '..';
}

function refused(detail: string): Fault {
  return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', detail);
}
