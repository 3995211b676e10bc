import type { GateContext } from '../contract/gate.js';
import type { Identity } from '../contract/identity.js';

/** What a gate sees beside the head: nobody identified, no facts, the route `/mcp`, a signal that never aborts. Override what matters. */
export function makeContext(init: Partial<GateContext> = {}): GateContext {
  return {
    identity: undefined,
    facts: init.identity?.facts ?? {},
    route: { path: '/mcp', url: 'https://mcp.example.com/mcp', runtime: 'main' },
    signal: new AbortController().signal,
    ...init,
  };
}

/** An identity as an earlier gate would have found it: `alice` of `https://id.example.com`, no scopes. */
export function makeIdentity(init: Partial<Identity> = {}): Identity {
  return { principal: 'alice', issuer: 'https://id.example.com', scopes: new Set(), facts: {}, ...init };
}
