import { fromPercentPem, single } from '../encoding.js';
import { readFlagged, type Source, toEvidence } from './source.js';

/**
 * nginx: `$ssl_client_escaped_cert` and `$ssl_client_verify` in headers of the operator's choice. Only `SUCCESS` verifies:
 * with `optional_no_ca` nginx sends the certificate with `FAILED:reason`. Without a certificate the flag is `NONE`.
 */
export function createNginx(cert_header: string, verify_header: string): Source {
  return {
    fields: [cert_header.toLowerCase(), verify_header.toLowerCase()],
    read: ([cert, verify]) => readFlagged(cert, verify, 'SUCCESS', 'NONE'),
    decode: (text) => toEvidence(single(fromPercentPem(text))),
  };
}
