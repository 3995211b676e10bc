import type { Claims } from '../contract/claims.js';
import type { GateContext } from '../contract/gate.js';
import type { HeaderView, RemoteAddress, RequestHead } from '../contract/head.js';
import type { Identity } from '../contract/identity.js';

/** What a test says about a head; the rest is a modern POST to `/mcp` from 127.0.0.1 over plaintext. */
export interface HeadInit {
  readonly id?: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  /** A list is a field that came several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly peer?: Partial<RemoteAddress>;
  readonly claims?: Partial<Claims>;
  readonly received_at_ms?: number;
}

/** A complete request head. `peer.client_address` follows `peer.address` unless it is given. */
export function makeHead(init: HeadInit = {}): RequestHead {
  const address = init.peer?.address ?? '127.0.0.1';
  return {
    id: 'test-request',
    method: 'POST',
    path: '/mcp',
    query: '',
    received_at_ms: Date.UTC(2026, 0, 1),
    ...init,
    headers: view(init.headers ?? {}),
    peer: { address, trusted: false, client_address: address, tls: undefined, ...init.peer },
    claims: { era: 'modern', revision: '2026-07-28', declared: true, method: undefined, name: undefined, ...init.claims },
  };
}

function view(headers: NonNullable<HeadInit['headers']>): HeaderView {
  const raw: string[] = [];
  const values = new Map<string, string[]>();
  for (const [name, value] of Object.entries(headers)) {
    for (const line of typeof value === 'string' ? [value] : value) {
      raw.push(name, line);
      const lower = name.toLowerCase();
      values.set(lower, [...(values.get(lower) ?? []), line]);
    }
  }
  const all = (name: string): readonly string[] => values.get(name) ?? [];
  return { get: (name) => (all(name).length === 1 ? all(name)[0] : undefined), all, raw };
}

/** The context of a gate: no identity, no facts, the route `/mcp`, a signal that never aborts. Override members as needed. */
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
