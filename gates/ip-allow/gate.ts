import { LRUCache } from 'lru-cache';
import { defineGate, type GateDecision, type RequestGate, type Static, Type } from 'portcullis/gate';
import { parseNetwork, toAddress } from './network.js';

const Network = Type.String({
  minLength: 2,
  maxLength: 64,
  description: 'A CIDR such as 10.0.0.0/8 or 2001:db8::/32, or one address. An IPv4-mapped IPv6 address is its IPv4 address.',
});
/** The options of the ip-allow gate. */
const Options = Type.Object(
  {
    allow: Type.Array(Network, {
      minItems: 1,
      maxItems: 10_000,
      description: 'Who may pass. 0.0.0.0/0 is every IPv4 address, ::/0 every other IPv6 address.',
    }),
    deny: Type.Array(Network, { default: [], maxItems: 10_000, description: 'Who may not, also where allow says so.' }),
  },
  { additionalProperties: false },
);

/** Addresses whose verdict is remembered. */
const REMEMBERED = 10_000;

const PASS: GateDecision = { kind: 'pass' };
const REFUSED: GateDecision = {
  kind: 'refuse',
  status: 403,
  code: 'IP_NOT_ALLOWED',
  message: 'Requests from your network address are not allowed here.',
};

/**
 * Passes clients by network address: `peer.client_address`, which the listener reads from X-Forwarded-For only behind
 * trusted proxies. Deny wins; an address that cannot be read is refused. An allowlist: its pass admits without an identity.
 */
export const gate = defineGate({
  name: 'ip-allow',
  contract: 1,
  options: Options,
  authorizes: true,
  codes: {
    IP_NOT_ALLOWED: {
      status: 403,
      meaning: 'The client’s address is not in allow, or is in deny.',
      remedy: 'Call from an allowed network; behind a proxy, set listener.trusted_proxies.',
    },
  },
  check(options) {
    for (const text of [...options.allow, ...options.deny]) parseNetwork(text);
  },
  open(options): RequestGate {
    const allow = options.allow.map(parseNetwork);
    const deny = options.deny.map(parseNetwork);
    const remembered = new LRUCache<string, GateDecision>({ max: REMEMBERED });
    const judge = (text: string): GateDecision => {
      const address = toAddress(text);
      if (address === undefined || deny.some((network) => network.has(address))) return REFUSED;
      return allow.some((network) => network.has(address)) ? PASS : REFUSED;
    };
    return {
      decide(head) {
        const address = head.peer.client_address;
        const known = remembered.get(address);
        if (known !== undefined) return known;
        const decision = judge(address);
        remembered.set(address, decision);
        return decision;
      },
    };
  },
});

type Options = Static<typeof Options>;
