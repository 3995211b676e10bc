import { type Chain, fromBase64, MAX_CHAIN } from '../encoding.js';
import { Fault, malformed } from '../fault.js';
import { type Source, toEvidence } from './source.js';

/**
 * Traefik's PassTLSClientCert with `pem: true`: base64 DER without armour, the client's certificate first, `,` between it
 * and its issuers. Traefik sends no flag and leaves a client's own copy alone on a connection without a certificate: its
 * TLS options must say `RequireAndVerifyClientCert`.
 */
export function createTraefik(): Source {
  return {
    fields: ['x-forwarded-tls-client-cert'],
    read: ([cert]) => cert,
    decode: (text) => toEvidence(fromList(text)),
  };
}

function fromList(text: string): Chain | Fault {
  const parts = text.split(',', MAX_CHAIN + 1);
  if (parts.length > MAX_CHAIN) return malformed(`There are more than ${MAX_CHAIN} certificates.`);
  const chain: Buffer[] = [];
  for (const part of parts) {
    const der = fromBase64(part);
    if (der instanceof Fault) return der;
    chain.push(der);
  }
  return chain as [Buffer, ...Buffer[]];
}
