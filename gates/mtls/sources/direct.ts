import { Fault } from '../fault.js';
import { type Source, toEvidence } from './source.js';

/** The TLS connection itself: `authorized` first, the certificate second (node:tls hands out unverified ones too). */
export function createDirect(): Source {
  return {
    fields: [],
    read(_values, head) {
      const { tls } = head.peer;
      const certificate = tls?.certificate;
      if (tls?.authorized !== true) {
        if (certificate === undefined) return undefined;
        return new Fault('CLIENT_CERTIFICATE_UNVERIFIED', 'This listener could not verify it: it is not of a client CA, or not valid now.');
      }
      return certificate === undefined ? undefined : Buffer.from(certificate).toString('latin1');
    },
    decode: (text) => toEvidence([Buffer.from(text, 'latin1')]),
  };
}
