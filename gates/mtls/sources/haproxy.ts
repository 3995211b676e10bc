import { fromBase64 } from '../encoding.js';
import { Fault } from '../fault.js';
import { readFlagged, type Source, toEvidence } from './source.js';

/**
 * HAProxy: `ssl_c_der,base64` and `ssl_c_verify` in headers of the operator's choice. `0` is X509_V_OK; HAProxy says `0`
 * without a certificate too, so the flag alone says nothing.
 */
export function createHaproxy(cert_header: string, verify_header: string): Source {
  return {
    fields: [cert_header.toLowerCase(), verify_header.toLowerCase()],
    read: ([cert, verify]) => readFlagged(cert, verify, '0', '0'),
    decode(text) {
      const der = fromBase64(text);
      return der instanceof Fault ? der : toEvidence([der]);
    },
  };
}
