import {
  addressKey,
  callerKey,
  defineGate,
  type GateContext,
  type GateDecision,
  type RequestGate,
  type RequestHead,
} from 'portcullis/gate';
import { createLimiter } from './limiter.js';
import { Options } from './options.js';

const PASS: GateDecision = { kind: 'pass' };

/**
 * Refuses a caller's requests beyond `limit` in `window_ms`, counted in this process and shared by all routes that name the gate.
 * A refused request costs nothing; an admitted one counts also if it fails later. An unidentified caller is
 * counted by address.
 */
export const gate = defineGate({
  name: 'rate',
  contract: 1,
  options: Options,
  provides: [],
  requires: (options) => (options.by === 'ip' ? [] : ['identity']),
  codes: {
    RATE_LIMITED: {
      status: 429,
      meaning: 'The caller has used up its requests of this window.',
      remedy: 'Wait for the seconds of Retry-After.',
    },
  },
  open(options, host): RequestGate {
    const limiter = host.shared(`rate ${host.name}`, () => createLimiter(options, host));
    const key = toKey(options);
    return {
      decide(head, context) {
        const wait_ms = limiter.take(key(head, context));
        return wait_ms === 0 ? PASS : refusal(options, wait_ms);
      },
    };
  },
});

/** `Retry-After` (RFC 9110 10.2.3) and the RateLimit fields (IETF draft-ietf-httpapi-ratelimit-headers, and the three older ones). */
function refusal({ limit, window_ms }: Options, wait_ms: number): GateDecision {
  const wait_s = String(Math.ceil(wait_ms / 1_000));
  const headers = {
    'retry-after': wait_s,
    ratelimit: `"default";r=0;t=${wait_s}`,
    'ratelimit-policy': `"default";q=${limit};w=${Math.ceil(window_ms / 1_000)}`,
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': '0',
    'ratelimit-reset': wait_s,
  };
  return { kind: 'refuse', status: 429, code: 'RATE_LIMITED', message: `Too many requests. Retry in ${wait_s} s.`, headers };
}

/** Whose budget a request is taken from. Kinds never share a key, nor do issuers: an issuer has no `#`. */
function toKey({ by, ipv6_prefix }: Options): (head: RequestHead, context: GateContext) => string {
  return (head, { identity }) => {
    if (by === 'ip' || identity === undefined) return `ip ${addressKey(head.peer.client_address, ipv6_prefix)}`;
    const { issuer, client } = identity;
    if (by === 'client' && client !== undefined) return `client ${issuer}#${client}`;
    return `principal ${callerKey(identity, '')}`;
  };
}
