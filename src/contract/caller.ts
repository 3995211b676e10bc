import type { Identity } from './identity.js';

/**
 * The key by which callers share limits: the principal, as `issuer#principal`; an unidentified caller is
 * its address, of IPv6 the /64 that one site has. It never becomes a label or a log field.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { callerKey } from 'portcullis/gate';
 *
 * assert.equal(callerKey(undefined, '203.0.113.7'), '203.0.113.7');
 * const ada = { issuer: 'https://idp.example', principal: 'ada', scopes: new Set<string>(), facts: {} };
 * assert.equal(callerKey(ada, '203.0.113.7'), 'https://idp.example#ada');
 * ```
 */
export function callerKey(identity: Identity | undefined, address: string): string {
  return identity === undefined ? addressKey(address, 64) : `${identity.issuer}#${identity.principal}`;
}

/**
 * An IPv4 address as it is, also one that is mapped into IPv6; of another IPv6 address the leading `ipv6_prefix` bits, without its zone.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { addressKey } from 'portcullis/gate';
 *
 * assert.equal(addressKey('::ffff:203.0.113.7', 64), '203.0.113.7');
 * assert.equal(addressKey('2001:db8::1', 64), addressKey('2001:db8::2', 64));
 * ```
 */
export function addressKey(address: string, ipv6_prefix: number): string {
  if (!address.includes(':')) return address;
  const zone = address.indexOf('%');
  const plain = zone < 0 ? address : address.slice(0, zone);
  const groups = groupsOf(plain.toLowerCase());
  if (groups === undefined) return plain;
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return ipv4(groups);
  const kept = groups.map((group, i) => {
    const bits = Math.min(16, Math.max(0, ipv6_prefix - 16 * i));
    return (group & (0xffff << (16 - bits)) & 0xffff).toString(16);
  });
  return `${kept.join(':')}/${ipv6_prefix}`;
}

/** The eight groups of an IPv6 address; undefined: it is none. */
function groupsOf(address: string): readonly number[] | undefined {
  const halves = address.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(partsOf);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...(tail ?? [])];
}

function partsOf(text: string): readonly number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  for (const part of text.split(':')) {
    const dotted = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(part)?.slice(1).map(Number);
    if (dotted !== undefined && dotted.every((byte) => byte < 256)) {
      groups.push(((dotted[0] as number) << 8) | (dotted[1] as number), ((dotted[2] as number) << 8) | (dotted[3] as number));
    } else if (/^[0-9a-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function ipv4(groups: readonly number[]): string {
  return [6, 7].flatMap((i) => [(groups[i] as number) >> 8, (groups[i] as number) & 255]).join('.');
}
