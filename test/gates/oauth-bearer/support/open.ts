import type { GateContext, GateDecision, RequestGate } from 'portcullis/gate';
import { type HeadInit, makeContext, makeHead, makeHost, openGate, type TestHost } from 'portcullis/testing';
import { gate as module } from '../../../../gates/oauth-bearer/gate.js';
import { checkDecision } from '../../../../src/gate-chain/decision.js';
import type { FakeIssuer } from './fake-issuer.js';
import { makeSteppedClock, type SteppedClock } from './stepped-clock.js';

export const RESOURCE = 'https://mcp.example.com/mcp';
export const METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';

/** A gate that trusts one fake issuer, on a clock that a test moves. */
export interface Bench {
  readonly gate: RequestGate;
  readonly host: TestHost;
  /** The host's clock. */
  readonly clock: SteppedClock;
  /** Claims that are accepted, issued now for an hour; `undefined` leaves a claim out. */
  claims(changes?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  token(changes?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Asks with this token as Bearer; `head` adds to the request. What comes back is checked as the chain checks it. */
  ask(token: string | undefined, head?: HeadInit, context?: Partial<GateContext>): Promise<GateDecision>;
  close(): Promise<void>;
}

/** Gates of one host share what they open with `shared`, as in the gateway. */
export async function openBench(issuer: FakeIssuer, options: Readonly<Record<string, unknown>> = {}, given?: TestHost): Promise<Bench> {
  const ends: (() => Promise<void>)[] = [];
  const clock = makeSteppedClock();
  const host = given ?? sharingHost(ends, clock);
  const gate = await openGate(module, { issuer: issuer.url, ...options }, host);
  const claims = (changes = {}): Record<string, unknown> => {
    const now_s = host.clock.now_ms() / 1000;
    const all = { iss: issuer.url, aud: RESOURCE, sub: 'alice', client_id: 'app', iat: now_s, exp: now_s + 3600, ...changes };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  };
  return {
    gate,
    host,
    clock,
    claims,
    token: (changes) => issuer.sign(claims(changes)),
    ask: async (token, head = {}, context = {}) => {
      const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...head.headers };
      const decision = await gate.decide(makeHead({ ...head, headers }), makeContext(context));
      checkDecision(decision, new Set(module.provides));
      return decision;
    },
    close: async () => {
      await gate.close?.();
      for (const end of ends) await end();
    },
  };
}

function sharingHost(ends: (() => Promise<void>)[], clock: SteppedClock): TestHost {
  const values = new Map<string, unknown>();
  return makeHost({
    name: 'token',
    clock,
    shared: <T extends { close?(): Promise<void> }>(key: string, create: () => T): T => {
      if (!values.has(key)) {
        const value = create();
        values.set(key, value);
        ends.push(async () => value.close?.());
      }
      return values.get(key) as T;
    },
  });
}

/** A refusal in few words: `401 TOKEN_INVALID`; `identify` or `serve` otherwise. */
export function brief(decision: GateDecision): string {
  return decision.kind === 'refuse' ? `${decision.status} ${decision.code}` : decision.kind;
}

export function challenge(decision: GateDecision): string | undefined {
  if (decision.kind !== 'refuse') return undefined;
  return decision.headers?.['www-authenticate'] as string | undefined;
}
