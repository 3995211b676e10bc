import ipaddr from 'ipaddr.js';
import { DerError, DerReader } from './der.js';

/** One name of a subjectAltName (RFC 5280 section 4.2.1.6). Names of other kinds are left out. */
export interface San {
  readonly type: 'dns' | 'uri' | 'email' | 'ip';
  readonly value: string;
}

/** Names of one certificate, and characters of one name, before the certificate is refused. */
export const MAX_SANS = 256;
export const MAX_SAN_CHARS = 2_048;

/**
 * Reads the extension's own bytes, never its printed form: a name that holds `, DNS:` is one odd name, not two
 * (CVE-2021-44532). A text name with a character outside visible ASCII throws DerError.
 */
export function readSans(value: Uint8Array): readonly San[] {
  const outer = new DerReader(value);
  const names = outer.enter(0x30);
  if (!outer.done) throw new DerError('bytes after the names');
  const sans: San[] = [];
  for (let count = 0; !names.done; count += 1) {
    if (count === MAX_SANS) throw new DerError('too many names');
    const { tag, start, end } = names.next();
    const type = TEXT_TYPES[tag];
    if (type !== undefined) sans.push({ type, value: visibleAscii(value, start, end) });
    else if (tag === IP_ADDRESS) sans.push({ type: 'ip', value: address(value.subarray(start, end)) });
  }
  return sans;
}

const TEXT_TYPES: Readonly<Record<number, San['type']>> = { 129: 'email', 130: 'dns', 134: 'uri' };
const IP_ADDRESS = 0x87;

function visibleAscii(bytes: Uint8Array, start: number, end: number): string {
  if (start === end || end - start > MAX_SAN_CHARS) throw new DerError('name empty or too long');
  for (let i = start; i < end; i += 1) {
    const byte = bytes[i] as number;
    if (byte < 0x21 || byte > 0x7e) throw new DerError('name with a character outside visible ASCII');
  }
  return Buffer.from(bytes.subarray(start, end)).toString('latin1');
}

function address(bytes: Uint8Array): string {
  if (bytes.length !== 4 && bytes.length !== 16) throw new DerError('address of an odd length');
  return ipaddr.fromByteArray([...bytes]).toString();
}
