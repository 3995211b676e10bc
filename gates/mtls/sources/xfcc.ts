import { thumbprint } from '../certificate.js';
import { Fault, malformed } from '../codes.js';
import { type Chain, fromPercentPem, single } from '../encoding.js';
import type { San } from '../sans.js';
import { parseXfcc, type XfccElement } from '../xfcc.js';
import type { Evidence, Source } from './create.js';

/**
 * Envoy and Istio: `x-forwarded-client-cert`. Each proxy adds its element on the right, so the leftmost of exactly `hops`
 * elements is what the outermost trusted proxy saw: the client. Its certificate is taken from Cert, or is the first of
 * Chain; Hash, when sent, must be its thumbprint. Envoy leaves URI text bare, so a name in a certificate can add keys:
 * text is believed only with `text_identity`.
 */
export function createXfcc(hops: number, text_identity: boolean): Source {
  return {
    fields: ['x-forwarded-client-cert'],
    read: ([cert]) => cert,
    decode(text) {
      const elements = parseXfcc(text);
      if (elements instanceof Fault) return elements;
      const element = elements[0];
      if (element === undefined || elements.length !== hops)
        return malformed(`The header has ${elements.length} elements; exactly ${hops} expected.`);
      return readElement(element, text_identity);
    },
  };
}

function readElement(element: XfccElement, text_identity: boolean): Evidence | Fault {
  for (const key of ['cert', 'chain', 'hash', 'subject']) {
    if ((element.get(key)?.length ?? 0) > 1) return malformed(`The header has ${key} twice in one element.`);
  }
  const hash = element.get('hash')?.[0]?.toLowerCase();
  const chain = readChain(element.get('cert')?.[0], element.get('chain')?.[0]);
  if (chain instanceof Fault) return chain;
  if (chain !== undefined) {
    if (hash !== undefined && hash !== thumbprint(chain[0])) return malformed('Hash is not the thumbprint of Cert.');
    return { kind: 'chain', chain };
  }
  if (!text_identity) return malformed('The header has no Cert; let the proxy send it (set_current_client_cert_details: cert).');
  if (hash === undefined || !/^[0-9a-f]{64}$/.test(hash)) return malformed('The header has neither Cert nor a SHA-256 Hash.');
  return readText(element, hash);
}

/** Cert when it was sent, else Chain, whose first certificate is the same one. */
function readChain(cert: string | undefined, chain: string | undefined): Chain | undefined | Fault {
  if (cert === undefined && chain === undefined) return undefined;
  const leaf = cert === undefined ? undefined : single(fromPercentPem(cert));
  const all = chain === undefined ? undefined : fromPercentPem(chain);
  if (leaf instanceof Fault || all === undefined) return leaf;
  if (all instanceof Fault || leaf === undefined) return all;
  return leaf[0].equals(all[0]) ? all : malformed('Cert is not the first certificate of Chain.');
}

function readText(element: XfccElement, sha256: string): Evidence | Fault {
  const sans: San[] = [];
  for (const [key, type] of [
    ['uri', 'uri'],
    ['dns', 'dns'],
  ] as const) {
    for (const value of element.get(key) ?? []) {
      if (/[^!-~]/.test(value)) return malformed(`The header has a ${key.toUpperCase()} with a character outside visible ASCII.`);
      if (value !== '') sans.push({ type, value });
    }
  }
  const subject = element.get('subject')?.[0] ?? '';
  return { kind: 'text', names: { sha256, subject, sans, valid_from_ms: undefined, valid_to_ms: undefined } };
}
