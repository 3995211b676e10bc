import { addressKey, callerKey, type GateContext, type RequestHead } from 'portcullis/gate';
import type { Options } from './options.js';

/** Whose budget a request is taken from. Kinds never share a key, nor do issuers: an issuer has no `#`. */
export function toKey({ by, ipv6_prefix }: Options): (head: RequestHead, context: GateContext) => string {
  return (head, { identity }) => {
    if (by === 'ip' || identity === undefined) return `ip ${addressKey(head.peer.client_address, ipv6_prefix)}`;
    const { issuer, client } = identity;
    if (by === 'client' && client !== undefined) return `client ${issuer}#${client}`;
    return `principal ${callerKey(identity, '')}`;
  };
}
