import { hash, X509Certificate } from 'node:crypto';
import { type Fault, malformed } from './codes.js';
import { DerError } from './der.js';
import type { CertificateChain } from './encoding.js';
import { OID, readTbs, type Tbs } from './extensions.js';
import { readSans, type San } from './sans.js';

/** What one header value holds: certificates in DER, the client's first, or a trusted hop's text about it. */
export type Evidence =
  | { readonly kind: 'chain'; readonly chain: CertificateChain }
  | { readonly kind: 'text'; readonly names: ClientNames };

/** What is known of the client: from its certificate's own bytes or, where an option says so, from a trusted hop's text. */
export interface ClientNames {
  /** SHA-256 of the DER bytes, lower-case hex (RFC 8705 binds tokens to it). */
  readonly sha256: string;
  /** RFC 4514 text, most specific name first; empty when the certificate has no subject. */
  readonly subject: string;
  readonly sans: readonly San[];
  /** Milliseconds since the epoch; undefined when only text is known. */
  readonly valid_from_ms: number | undefined;
  readonly valid_to_ms: number | undefined;
}

/** A certificate that was read from its bytes. */
export interface Certificate extends ClientNames {
  readonly valid_from_ms: number;
  readonly valid_to_ms: number;
  readonly x509: X509Certificate;
  readonly tbs: Tbs;
}

/** Reads exactly one DER certificate: a byte before, after or inside it that OpenSSL would write differently is a fault. */
export function readCertificate(der: Uint8Array): Certificate | Fault {
  try {
    const x509 = new X509Certificate(der);
    // OpenSSL stops at the certificate's end and takes PEM hidden in DER for the certificate: what it read must be what came.
    if (!x509.raw.equals(der)) return malformed('There are bytes beside the DER of one certificate.');
    const tbs = readTbs(der);
    const names = tbs.extensions.get(OID.subjectAltName);
    const valid_from_ms = Date.parse(x509.validFrom);
    const valid_to_ms = Date.parse(x509.validTo);
    if (!(valid_from_ms <= valid_to_ms)) return malformed('Its validity period cannot be read.');
    return {
      sha256: thumbprint(der),
      subject: toRfc4514(x509.subject),
      sans: names === undefined ? [] : readSans(names.value),
      valid_from_ms,
      valid_to_ms,
      x509,
      tbs,
    };
  } catch (error) {
    if (error instanceof DerError) return malformed('Its extensions or names cannot be read.');
    return malformed('It is not an X.509 certificate in DER.');
  }
}

/** Node prints one escaped name a line, least specific first, ` + ` inside a multi-valued one: none of them can stand in a value. */
function toRfc4514(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(',').replaceAll(' + ', '+');
}

/** SHA-256 of a certificate's DER bytes in lower-case hex: `x5t#S256` of RFC 8705 section 3.1 in another alphabet. */
export function thumbprint(der: Uint8Array): string {
  return hash('sha256', der, 'hex');
}
