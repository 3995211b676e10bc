import { fromBase64 } from '../encoding.js';
import { Fault, malformed } from '../fault.js';
import { type Source, toEvidence } from './source.js';

/**
 * RFC 9440 `Client-Cert`: one structured-field byte sequence, `:base64:`, without parameters. Some terminators fill it
 * although verification failed, so a flag header with an exact value is required beside it. `Client-Cert-Chain` is not
 * read: the terminator has verified the chain.
 */
export function createRfc9440(verified: { readonly name: string; readonly value: string }): Source {
  return {
    fields: ['client-cert', verified.name.toLowerCase()],
    read([cert, flag]) {
      if (cert === undefined || flag === verified.value) return cert;
      return new Fault('CLIENT_CERTIFICATE_UNVERIFIED', 'The TLS terminator does not say that it verified it.');
    },
    decode(text) {
      if (text.length < 3 || !text.startsWith(':') || !text.endsWith(':')) {
        return malformed('Client-Cert is not one byte sequence between colons.');
      }
      const der = fromBase64(text.slice(1, -1));
      return der instanceof Fault ? der : toEvidence([der]);
    },
  };
}
