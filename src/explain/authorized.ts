import { X509Certificate } from 'node:crypto';

const MAX_LINKS = 10;

/**
 * True when the first certificate of `pem` chains to one of `cas`, over the other certificates of `pem`, and each is valid at `now_ms`:
 * what a TLS handshake with `client_ca_file` comes to.
 */
export function isAuthorized(pem: string, cas: string, now_ms: number): boolean {
  const anchors = certificatesOf(cas);
  const [leaf, ...others] = certificatesOf(pem);
  let current = leaf;
  for (let link = 0; current !== undefined && link < MAX_LINKS; link++) {
    const child: X509Certificate = current;
    if (now_ms < Date.parse(child.validFrom) || now_ms > Date.parse(child.validTo)) return false;
    if (anchors.some((anchor) => anchor.raw.equals(child.raw) || isIssuer(anchor, child))) return true;
    current = others.find((other) => other !== child && isIssuer(other, child));
  }
  return false;
}

function isIssuer(issuer: X509Certificate, child: X509Certificate): boolean {
  return child.checkIssued(issuer) && child.verify(issuer.publicKey);
}

function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((block) => block.startsWith('-----BEGIN'));
  return blocks.map((block) => new X509Certificate(block));
}
