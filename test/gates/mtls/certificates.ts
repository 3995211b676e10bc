// Certificates made for one test run: a small CA on P-256 keys whose every part can be bent.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

type Algorithm = { readonly name: 'ECDSA'; readonly namedCurve: string } | webcrypto.RsaHashedKeyGenParams;

x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);

export interface Issued {
  readonly der: Buffer;
  readonly pem: string;
  readonly key_pem: string;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly subject: string;
}

export interface Wish {
  readonly issuer?: Issued;
  /** RFC 4514 text or one list of names for each RDN. */
  readonly subject?: string | x509.JsonName;
  readonly uri?: readonly string[];
  readonly dns?: readonly string[];
  readonly email?: readonly string[];
  readonly ip?: readonly string[];
  readonly not_before?: string;
  readonly not_after?: string;
  readonly ca?: boolean;
  readonly path_length?: number;
  readonly eku?: readonly string[];
  readonly extensions?: readonly x509.Extension[];
  readonly algorithm?: Algorithm;
  /** Default: a new pair. */
  readonly keys?: webcrypto.CryptoKeyPair;
}

export const P256: Algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
/** Validity of a certificate without a wish, for real clocks and those of tests. */
const FROM = '2026-01-01T00:00:00.000Z';
export const TO = '2049-01-01T00:00:00.000Z';
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

let serial = 1;

export async function issue(wish: Wish = {}): Promise<Issued> {
  const algorithm = wish.algorithm ?? P256;
  const keys = wish.keys ?? ((await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair);
  const subject = wish.subject ?? 'CN=client';
  const names: x509.JsonGeneralNames = [
    ...(wish.uri ?? []).map((value) => ({ type: 'url' as const, value })),
    ...(wish.dns ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(wish.email ?? []).map((value) => ({ type: 'email' as const, value })),
    ...(wish.ip ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const extensions: x509.Extension[] = [...(wish.extensions ?? [])];
  if (names.length > 0) extensions.push(new x509.SubjectAlternativeNameExtension(names));
  if (wish.ca !== undefined) extensions.push(new x509.BasicConstraintsExtension(wish.ca, wish.path_length, true));
  if (wish.eku !== undefined) extensions.push(new x509.ExtendedKeyUsageExtension([...wish.eku]));
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: (serial++).toString(16).padStart(4, '0'),
    subject,
    issuer: wish.issuer?.subject ?? subject,
    notBefore: new Date(wish.not_before ?? FROM),
    notAfter: new Date(wish.not_after ?? TO),
    publicKey: keys.publicKey,
    signingKey: wish.issuer?.keys.privateKey ?? keys.privateKey,
    signingAlgorithm: {
      name: wish.issuer === undefined ? algorithm.name : wish.issuer.keys.privateKey.algorithm.name,
      hash: 'SHA-256',
    },
    extensions,
  } as x509.X509CertificateCreateParams);
  const der = Buffer.from(certificate.rawData);
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return { der, pem: armour('CERTIFICATE', der), key_pem: armour('PRIVATE KEY', pkcs8), keys, subject: certificate.subject };
}

/** PEM as OpenSSL writes it. */
export function armour(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** URL-encoded PEM as nginx (`$ssl_client_escaped_cert`) and Envoy write it. */
export const escaped = (pem: string): string => encodeURIComponent(pem);

/** URL-encoded PEM as AWS writes it: `+`, `=` and `/` stand for themselves. */
export const amzn = (pem: string): string => encodeURI(pem);

/** A subjectAltName extension of given bytes: name after name as tag and content. */
export function rawSans(...names: readonly (readonly [tag: number, content: Uint8Array | string])[]): x509.Extension {
  const items = names.map(([tag, content]) => tlv(tag, typeof content === 'string' ? Buffer.from(content, 'latin1') : content));
  return new x509.Extension('2.5.29.17', false, tlv(0x30, Buffer.concat(items)));
}

export function tlv(tag: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return new Uint8Array([...head, ...content]);
}

export { x509 };
