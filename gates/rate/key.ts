import ipaddr from 'ipaddr.js';
import type { GateContext, RequestHead } from 'portcullis/gate';
import type { Options } from './options.js';

/** Whose budget a request is taken from. Kinds never share a key, nor do issuers. */
export function toKey({ by, ipv6_prefix }: Options): (head: RequestHead, context: GateContext) => string {
  return (head, { identity }) => {
    if (by === 'ip' || identity === undefined) return `ip ${network(head.peer.client_address, ipv6_prefix)}`;
    const { issuer, client, principal } = identity;
    return by === 'client' && client !== undefined ? join('client', issuer, client) : join('principal', issuer, principal);
  };
}

/** The issuer's length keeps apart what two parts could otherwise spell alike. */
const join = (kind: string, issuer: string, name: string): string => `${kind} ${issuer.length} ${issuer} ${name}`;

/** An IPv4 address as it is; of an IPv6 address the leading bits. */
function network(address: string, ipv6_prefix: number): string {
  if (!address.includes(':')) return address;
  const plain = address.includes('%') ? address.slice(0, address.indexOf('%')) : address;
  if (!ipaddr.IPv6.isValid(plain)) return plain;
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${ipv6_prefix}`).toString();
}
