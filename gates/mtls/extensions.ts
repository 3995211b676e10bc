import { DerError, DerReader } from './der.js';

/** What the chain check and the names need of a certificate's to-be-signed part (RFC 5280 section 4.1). */
export interface Tbs {
  /** Object identifier of the signature algorithm: its DER content in hex. */
  readonly signature_oid: string;
  /** By object identifier, as the hex of its DER content. */
  readonly extensions: ReadonlyMap<string, Extension>;
}

export interface Extension {
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** Object identifiers under 2.5.29, as hex of their DER content. */
export const OID = {
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extKeyUsage: '551d25',
  nameConstraints: '551d1e',
} as const;

/** Extensions a certificate may have before it is refused. */
export const MAX_EXTENSIONS = 64;

/** Reads one certificate's DER. Throws DerError, also for an extension that is there twice. */
export function readTbs(der: Uint8Array): Tbs {
  const tbs = new DerReader(der).enter(SEQUENCE).enter(SEQUENCE);
  if (tbs.tag === VERSION) tbs.next();
  tbs.expect(INTEGER);
  const signature_oid = oid(der, tbs.enter(SEQUENCE));
  for (const part of ['issuer', 'validity', 'subject', 'public key']) if (tbs.next().tag !== SEQUENCE) throw new DerError(part);
  while (tbs.tag === ISSUER_UNIQUE_ID || tbs.tag === SUBJECT_UNIQUE_ID) tbs.next();
  return { signature_oid, extensions: tbs.done ? new Map() : readExtensions(der, tbs.enter(EXTENSIONS).enter(SEQUENCE)) };
}

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const SEQUENCE = 0x30;
const VERSION = 0xa0;
const ISSUER_UNIQUE_ID = 0x81;
const SUBJECT_UNIQUE_ID = 0x82;
const EXTENSIONS = 0xa3;

function readExtensions(der: Uint8Array, list: DerReader): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>();
  while (!list.done) {
    if (extensions.size === MAX_EXTENSIONS) throw new DerError('too many extensions');
    const item = list.enter(SEQUENCE);
    const name = oid(der, item);
    const critical = item.tag === BOOLEAN && der[item.next().start] !== 0;
    const { start, end } = item.expect(OCTET_STRING);
    if (extensions.has(name)) throw new DerError('an extension twice');
    extensions.set(name, { critical, value: der.subarray(start, end) });
  }
  return extensions;
}

function oid(der: Uint8Array, at: DerReader): string {
  const { start, end } = at.expect(OBJECT_IDENTIFIER);
  return Buffer.from(der.subarray(start, end)).toString('hex');
}
