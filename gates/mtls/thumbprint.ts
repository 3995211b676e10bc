import { hash } from 'node:crypto';

/** SHA-256 of a certificate's DER bytes in lower-case hex: `x5t#S256` of RFC 8705 section 3.1 in another alphabet. */
export function thumbprint(der: Uint8Array): string {
  return hash('sha256', der, 'hex');
}
