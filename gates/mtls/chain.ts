import type { Certificate } from './certificate.js';
import { Fault, malformed } from './codes.js';
import { DerReader } from './der.js';
import { OID } from './extensions.js';

/** When all certificates of a path are valid, milliseconds since the epoch. */
export interface Window {
  readonly valid_from_ms: number;
  readonly valid_to_ms: number;
}

/** A list counts as one client's chain only if each certificate was issued by the next: two joined headers are no chain. */
export function checkLinks(chain: readonly Certificate[]): Fault | undefined {
  for (let i = 0; i + 1 < chain.length; i += 1) {
    if (!isIssued(chain[i] as Certificate, chain[i + 1] as Certificate))
      return malformed('A certificate was not issued by the one that follows it.');
  }
  return undefined;
}

/**
 * Checks a linked chain up to one of the `anchors` (RFC 5280 section 6.1, the part that client certificates use). OpenSSL
 * checks issuers and signatures; here stand CA flag, path length, extended key usage, algorithms and key sizes. What is
 * not implemented is refused, not skipped: name constraints, unknown critical extensions, RSASSA-PSS. Revocation is not looked at.
 */
export function checkPath(chain: readonly Certificate[], anchors: readonly Certificate[]): Window | Fault {
  let valid_from_ms = Number.NEGATIVE_INFINITY;
  let valid_to_ms = Number.POSITIVE_INFINITY;
  const narrow = (certificate: Certificate) => {
    valid_from_ms = Math.max(valid_from_ms, certificate.valid_from_ms);
    valid_to_ms = Math.min(valid_to_ms, certificate.valid_to_ms);
  };
  for (let depth = 0; depth < chain.length; depth += 1) {
    const certificate = chain[depth] as Certificate;
    const why = depth === 0 ? whyNotUsable(certificate) : (whyNotUsable(certificate) ?? whyNotIssuer(certificate, depth - 1));
    if (why !== undefined) return unverified(why);
    narrow(certificate);
    const anchor = anchors.find((one) => isIssued(certificate, one));
    if (anchor === undefined) continue;
    const refused = whyNotIssuer(anchor, depth);
    if (refused !== undefined) return unverified(refused);
    narrow(anchor);
    return { valid_from_ms, valid_to_ms };
  }
  return unverified('It does not chain to a CA of ca_file.');
}

/** Why this certificate may not issue others with `below` CA certificates between it and the client's. */
export function whyNotIssuer(certificate: Certificate, below: number): string | undefined {
  const { extensions } = certificate.tbs;
  if (!certificate.x509.ca) return 'An issuer in its chain is not a CA certificate.';
  if (extensions.has(OID.nameConstraints)) return 'A CA in its chain has name constraints, which are not supported.';
  const constraints = extensions.get(OID.basicConstraints);
  const path_length = constraints === undefined ? undefined : readPathLength(constraints.value);
  if (path_length !== undefined && below > path_length) return 'Its chain is longer than a CA in it allows.';
  return whyWeakKey(certificate);
}

function whyNotUsable(certificate: Certificate): string | undefined {
  if (!SIGNATURES.has(certificate.tbs.signature_oid)) return 'Its chain is signed with an algorithm that is not supported.';
  for (const [oid, { critical }] of certificate.tbs.extensions) {
    if (critical && !UNDERSTOOD.has(oid)) return 'Its chain has a critical extension that is not supported.';
  }
  const purposes = certificate.x509.keyUsage;
  if (purposes !== undefined && !purposes.includes(CLIENT_AUTH) && !purposes.includes(ANY_PURPOSE)) {
    return 'Its extended key usage does not include client authentication.';
  }
  return whyWeakKey(certificate);
}

function whyWeakKey({ x509: { publicKey } }: Certificate): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  const strong =
    type === 'ed25519' ||
    type === 'ed448' ||
    (type === 'rsa' && (details?.modulusLength ?? 0) >= 2_048) ||
    (type === 'ec' && ['prime256v1', 'secp384r1', 'secp521r1'].includes(details?.namedCurve ?? ''));
  return strong ? undefined : 'Its chain has a key that is too short or of a kind that is not supported.';
}

function isIssued(child: Certificate, parent: Certificate): boolean {
  try {
    return child.x509.checkIssued(parent.x509) && child.x509.verify(parent.x509.publicKey);
  } catch {
    return false;
  }
}

function readPathLength(basic_constraints: Uint8Array): number | undefined {
  const fields = new DerReader(basic_constraints).enter(0x30);
  if (fields.tag === 0x01) fields.next();
  if (fields.done) return undefined;
  const { start, end } = fields.expect(0x02);
  return end - start === 1 ? basic_constraints[start] : 0;
}

function unverified(detail: string): Fault {
  return new Fault('CLIENT_CERTIFICATE_UNVERIFIED', detail);
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';

/** sha256/384/512WithRSAEncryption, ecdsa-with-SHA256/384/512, Ed25519, Ed448. */
const SIGNATURES: ReadonlySet<string> = new Set([
  ...['0b', '0c', '0d'].map((last) => `2a864886f70d0101${last}`),
  ...['02', '03', '04'].map((last) => `2a8648ce3d0403${last}`),
  '2b6570',
  '2b6571',
]);

const CERTIFICATE_POLICIES = '551d20';
const UNDERSTOOD: ReadonlySet<string> = new Set([
  OID.subjectAltName,
  OID.basicConstraints,
  OID.keyUsage,
  OID.extKeyUsage,
  CERTIFICATE_POLICIES,
]);
