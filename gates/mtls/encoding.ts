import { type Fault, malformed } from './codes.js';

/** Certificates that one header may hold: a leaf and its issuers. */
export const MAX_CHAIN = 8;

/** At least one certificate in DER, the client's own first. */
export type CertificateChain = readonly [Buffer, ...Buffer[]];

/** Base64 in its one canonical form (RFC 4648 section 4, padded): Node's decoder alone would skip what it does not know. */
export function fromBase64(text: string): Buffer | Fault {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : malformed('It is not canonical base64.');
}

/** Undoes %XX escapes; `+` stays a plus. */
export function fromPercent(text: string): string | Fault {
  try {
    return decodeURIComponent(text);
  } catch {
    return malformed('Its %-escapes are broken.');
  }
}

/** Reads PEM that is nothing but `CERTIFICATE` blocks (RFC 7468 section 5.1, strict): no text beside them, at most MAX_CHAIN. */
export function fromPem(text: string): CertificateChain | Fault {
  const chain: Buffer[] = [];
  let body: string | undefined;
  for (const line of text.split('\n')) {
    const plain = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (body === undefined) {
      if (plain === '') continue;
      if (plain !== BEGIN) return malformed('There is text beside its PEM block.');
      if (chain.length === MAX_CHAIN) return malformed(`There are more than ${MAX_CHAIN} certificates.`);
      body = '';
    } else if (plain === END) {
      const der = fromBase64(body);
      if (!Buffer.isBuffer(der)) return der;
      chain.push(der);
      body = undefined;
    } else body += plain;
  }
  const [leaf, ...issuers] = chain;
  return leaf === undefined || body !== undefined ? malformed('It is not a whole PEM block of a CERTIFICATE.') : [leaf, ...issuers];
}

/** URL-encoded PEM, as nginx, Envoy and AWS write it. */
export function fromPercentPem(text: string): CertificateChain | Fault {
  const pem = fromPercent(text);
  return typeof pem === 'string' ? fromPem(pem) : pem;
}

/** The only certificate of a chain; a second one is a fault. */
export function single(chain: CertificateChain | Fault): CertificateChain | Fault {
  return Array.isArray(chain) && chain.length > 1 ? malformed('There is more than one certificate.') : chain;
}

export const BEGIN = '-----BEGIN CERTIFICATE-----';
export const END = '-----END CERTIFICATE-----';
