import type { Clock } from '../../src/contract/clock.js';
import type { Identity } from '../../src/contract/identity.js';
import type { Call, CallRoute } from '../../src/contract/runtime.js';
import type { Telemetry } from '../../src/contract/telemetry.js';
import type { PeerBridgeOptions } from '../../src/runtime/peer/peer-runtime.js';
import {
  createProxied,
  type ProxiedBridgeOptions,
  type ProxiedDeps,
  type ProxiedOptions,
  type ProxiedRuntime,
} from '../../src/runtime/proxied/proxied.js';
import { createSessionSeal, type SessionSeal } from '../../src/runtime/shared/session-seal.js';
import { makeHead, makeLog, type TestLog } from '../../src/testing.js';
import { createFakeExchange, type FakeExchange, type FakeExchangeInit } from './fake-exchange.js';

/** Real time, as `main.ts` gives it. */
export const realClock: Clock = {
  now_ms: () => Date.now(),
  mono_ms: () => performance.now(),
  timer: (delay_ms, run) => {
    const timer = setTimeout(run, delay_ms).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  interval: (period_ms, run) => {
    const timer = setInterval(run, period_ms).unref();
    return { cancel: () => clearInterval(timer) };
  },
};

export const testRoute: CallRoute = { path: '/alpha/mcp', url: 'https://mcp.example.com/alpha/mcp', runtime: 'alpha' };

/** What telemetry was told, `name value value`. */
export interface Told {
  readonly lines: string[];
  readonly telemetry: Telemetry;
}

export function createTold(): Told {
  const lines: string[] = [];
  const telemetry = {
    upstreamAnswered: (runtime: string, code: string) => void lines.push(`answered ${runtime} ${code}`),
    upstreamConnected: (runtime: string, seconds: number) => void lines.push(`connected ${runtime} ${seconds < 10}`),
    callerLimited: (route: string, kind: string) => void lines.push(`limited ${route} ${kind}`),
    streamRefused: (route: string, reason: string) => void lines.push(`refused ${route} ${reason}`),
    questionRefused: (runtime: string, method: string) => void lines.push(`question ${runtime} ${method}`),
    eraProbed: (runtime: string, outcome: string) => void lines.push(`probed ${runtime} ${outcome}`),
    eraFlipped: (runtime: string) => void lines.push(`flipped ${runtime}`),
    bridgeSessionEnded: (runtime: string, reason: string) => void lines.push(`session ${runtime} ${reason}`),
    taskRefused: (route: string) => void lines.push(`task ${route}`),
    questionEnded: (route: string, method: string, outcome: string) => void lines.push(`asked ${route} ${method} ${outcome}`),
    heldCallEnded: (runtime: string, reason: string) => void lines.push(`held ${runtime} ${reason}`),
    drainKilled: (kind: string, count: number) => void lines.push(`killed ${kind} ${count}`),
    toolsListed: (route: string, names: readonly string[]) => void lines.push(`tools ${route} ${names.join(',')}`),
  } as unknown as Telemetry;
  return { lines, telemetry };
}

export interface ProxiedBench {
  readonly runtime: ProxiedRuntime;
  readonly log: TestLog;
  readonly told: readonly string[];
  readonly seal: SessionSeal;
  /** Hands a call over and returns the client's half. */
  send(call: Call, init?: FakeExchangeInit): FakeExchange;
}

/** What a config that says nothing gives a runtime of HTTP. */
export const SHARES = { connections: 1024, max_waiting: 256, connection_max_age_ms: 300_000 } as const;

/** `bridge` of a server behind a pipe, as a config that says nothing has it. */
export const PEER_BRIDGE: PeerBridgeOptions = {
  probe_timeout_ms: 5_000,
  era_ttl_ms: 300_000,
  session_idle_ms: 300_000,
  max_held: 1024,
  max_held_per_caller: 16,
  hold_ttl_ms: 300_000,
};

/** The same over HTTP. */
export const BRIDGE: ProxiedBridgeOptions = { ...PEER_BRIDGE, max_sessions: 256, max_sessions_per_caller: 8 };

/** A started proxied runtime named `alpha`. The caller closes it. */
export async function openProxied(
  url: string,
  options: Partial<ProxiedOptions> = {},
  deps: Partial<ProxiedDeps> = {},
): Promise<ProxiedBench> {
  const log = makeLog();
  const told = createTold();
  const seal = createSessionSeal({ keys: ['test secret'], ttl_s: 3600, clock: realClock });
  const runtime = createProxied(
    { name: 'alpha', url, ...SHARES, max_event_bytes: 8_000_000, ...options },
    { log, clock: realClock, telemetry: told.telemetry, seal, ...deps },
  );
  await runtime.start(new AbortController().signal);
  return {
    runtime,
    log,
    told: told.lines,
    seal,
    send(call, init) {
      const exchange = createFakeExchange(init);
      runtime.handle(call, exchange);
      return exchange;
    },
  };
}

export interface CallInit {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly identity?: Partial<Identity>;
  readonly route?: Partial<CallRoute>;
  readonly over?: Partial<Call>;
}

/** A modern request with the mirrored headers of a conforming client. */
export function modernCall(method: string, params: Readonly<Record<string, unknown>> = {}, init: CallInit = {}): Call {
  const name = typeof params.name === 'string' ? params.name : undefined;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const own = { 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(name === undefined ? {} : { 'Mcp-Name': name }) };
  return callOf('modern', '2026-07-28', method, name, body, { ...init, headers: { ...own, ...init.headers } });
}

/** A legacy message; `id` undefined makes it a notification. */
export function legacyCall(method: string, params: Readonly<Record<string, unknown>> = {}, init: CallInit = {}): Call {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return callOf('legacy', '2025-11-25', method, undefined, body, {
    ...init,
    headers: { 'MCP-Protocol-Version': '2025-11-25', ...init.headers },
  });
}

/** A legacy GET stream or DELETE. */
export function legacyBare(kind: 'get_stream' | 'session_end', init: CallInit = {}): Call {
  return legacyCall('', {}, { ...init, over: { kind, id: undefined, body: Buffer.alloc(0), ...init.over } });
}

function callOf(era: Call['era'], revision: string, method: string, name: string | undefined, body: string, init: CallInit): Call {
  const identity =
    init.identity === undefined
      ? undefined
      : { principal: 'alice', issuer: 'https://id.example.com', scopes: new Set<string>(), facts: {}, ...init.identity };
  return {
    kind: 'request',
    era,
    revision,
    method,
    name,
    id: '1',
    progress_token: undefined,
    body: Buffer.from(body),
    route: { ...testRoute, ...init.route },
    head: makeHead({
      path: testRoute.path,
      headers: init.headers ?? {},
      claims: { era, revision, declared: true, method: undefined, name },
    }),
    identity,
    facts: {},
    ...init.over,
  };
}

/** A header list as an object, repeated fields joined. */
export function fields(list: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (let i = 0; i + 1 < list.length; i += 2) {
    const name = list[i] as string;
    out[name] = out[name] === undefined ? (list[i + 1] as string) : `${out[name]}, ${list[i + 1]}`;
  }
  return out;
}

export const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when nothing is under way toward the upstream; rejects after two seconds. */
export async function idle(runtime: ProxiedRuntime): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const { running, pending, queued } = runtime.stats();
    if (running + pending + queued === 0) return;
    await delay(10);
  }
  throw new Error(`still under way: ${JSON.stringify(runtime.stats())}`);
}
