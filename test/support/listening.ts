import type { Limits } from '../../src/contract/limits.js';
import type { Log } from '../../src/contract/log.js';
import type { Call, Exchange, Runtime } from '../../src/contract/runtime.js';
import type { RequestRecord, Telemetry } from '../../src/contract/telemetry.js';
import type { GatewayError } from '../../src/errors/error.js';
import type { GateModule } from '../../src/gate.js';
import { Type } from '../../src/gate.js';
import { type ChainSet, openChains } from '../../src/gate-chain/load.js';
import type { Denial } from '../../src/listener/request/request-environment.js';
import type { ListenerRoute } from '../../src/listener/request/route.js';
import { Listener, type ListenerOptions, type Routing } from '../../src/listener/request/server.js';
import { RouteTable } from '../../src/route/table.js';
import { systemClock } from '../../src/system-clock.js';

/** Limits small enough to be met within a second. */
export const SMALL_LIMITS: Limits = {
  max_connections: 50,
  head_timeout_ms: 800,
  read_timeout_ms: 400,
  max_header_bytes: 32_768,
  max_header_count: 200,
  max_body_bytes: 100_000,
  gate_timeout_ms: 400,
  body_timeout_ms: 800,
  request_timeout_ms: 1000,
  request_timeout_max_ms: 3000,
  max_subscriptions: 4,
  max_subscriptions_per_caller: 4,
  write_timeout_ms: 600,
  max_stream_buffer_bytes: 262_144,
  keep_alive_timeout_ms: 1500,
  sse_keepalive_ms: 200,
  drain_delay_ms: 0,
  drain_timeout_ms: 1000,
};

export interface Listening {
  readonly port: number;
  readonly listener: Listener;
  /** Calls that reached the runtime. */
  readonly calls: Call[];
  readonly records: RequestRecord[];
  readonly counts: Map<string, number>;
  readonly denials: Denial[];
  readonly failures: GatewayError[];
  close(): Promise<void>;
}

export interface ListeningSetup {
  readonly limits?: Partial<Limits>;
  readonly options?: Partial<ListenerOptions & Routing>;
  /** A gate before `gate` that always identifies. */
  readonly identifier?: ReturnType<GateModule['open']>;
  /** Gate decisions of the route `/mcp`. */
  readonly gate?: ReturnType<GateModule['open']>;
  readonly handle?: (call: Call, exchange: Exchange) => void;
  readonly public_url?: string;
}

const QUIET: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => QUIET };

/** A listener on a free port with one MCP route, `/mcp`, whose runtime answers `{}` to every request. */
export async function listening(setup: ListeningSetup = {}): Promise<Listening> {
  const calls: Call[] = [];
  const records: RequestRecord[] = [];
  const counts = new Map<string, number>();
  const denials: Denial[] = [];
  const failures: GatewayError[] = [];
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const telemetry = countingTelemetry(count, records);
  const listener = new Listener(
    {
      limits: { ...SMALL_LIMITS, ...setup.limits },
      keep_alive: true,
      tls: undefined,
      ...setup.options,
    },
    {
      clock: systemClock,
      log: QUIET,
      telemetry,
      failed: (_call, error) => void failures.push(error),
      denied: (denial) => void denials.push(denial),
      admitted: () => undefined,
      refused: () => undefined,
    },
  );
  const bound = await listener.listen('127.0.0.1', 0);
  const chains = await chainsOf(setup, telemetry);
  const runtime = fakeRuntime((call, exchange) => {
    calls.push(call);
    (setup.handle ?? answerEmpty)(call, exchange);
  });
  const public_url = setup.public_url ?? `http://127.0.0.1:${bound.port}`;
  const info = { path: '/mcp', url: `${public_url}/mcp`, runtime: 'fake' };
  const methods = new Set(['POST', 'GET', 'DELETE', 'OPTIONS']);
  const route: ListenerRoute = {
    kind: 'mcp',
    path: '/mcp',
    prefix: false,
    info,
    chain: chains.routes.get('/mcp')!,
    methods,
    runtime,
    call_route: info,
  };
  listener.open({
    table: new RouteTable([route]),
    listenerChain: chains.listener,
    public_url,
    trusted_proxies: [],
    allowed_origins: [],
    allowed_hosts: [],
    cors: false,
    chunked: false,
    ...setup.options,
  });
  return {
    port: bound.port,
    listener,
    calls,
    records,
    counts,
    denials,
    failures,
    async close() {
      listener.drain.killNow();
      await chains.close();
    },
  };
}

export function answerEmpty(call: Call, exchange: Exchange): void {
  if (call.kind === 'request') {
    const body = Buffer.from(`{"jsonrpc":"2.0","id":${call.id},"result":{}}`);
    exchange.respond(200, ['content-type', 'application/json'], body, 'ok');
  } else exchange.accept();
}

function chainsOf(setup: ListeningSetup, telemetry: Telemetry): Promise<ChainSet> {
  const gates = [...(setup.identifier === undefined ? [] : ['who']), ...(setup.gate === undefined ? [] : ['test'])];
  const base = { contract: 1, options: Type.Object({}) } as const;
  const module: GateModule = { ...base, name: 'test', authorizes: true, open: () => setup.gate! };
  const who: GateModule = { ...base, name: 'who', identifies: 'always', open: () => setup.identifier! };
  return openChains(
    {
      gates: Object.fromEntries(gates.map((name) => [name, { use: name }])),
      listener_gates: [],
      routes: [{ path: '/mcp', url: 'http://127.0.0.1/mcp', runtime: 'fake', gates, public: gates.length === 0 }],
      gate_timeout_ms: setup.limits?.gate_timeout_ms ?? SMALL_LIMITS.gate_timeout_ms,
      public_url: 'http://127.0.0.1',
    },
    {
      builtins: { test: module, who },
      log: QUIET,
      metrics: { counter: () => ({ add() {} }), histogram: () => ({ observe() {} }), gauge: () => () => undefined },
      telemetry,
      clock: systemClock,
      signal: new AbortController().signal,
      folder: '.',
    },
  );
}

function fakeRuntime(handle: Runtime['handle']): Runtime {
  return { name: 'fake', kind: 'fake', health: 'ready', start: async () => undefined, handle, close: async () => undefined };
}

function countingTelemetry(count: (name: string) => void, records: RequestRecord[]): Telemetry {
  return {
    connectionRefused: (reason) => count(`connectionRefused ${reason}`),
    headRefused: (reason) => count(`headRefused ${reason}`),
    gateDecided: (_route, gate, verdict) => count(`gate ${gate} ${verdict}`),
    requestEnded: (record) => void records.push(record),
    streamOpened: (_route, kind) => count(`opened ${kind}`),
    streamEvents: () => undefined,
    streamClosed: (_route, kind, reason) => count(`closed ${kind} ${reason}`),
    streamRefused: (_route, reason) => count(`streamRefused ${reason}`),
    callerLimited: (_route, kind) => count(`callerLimited ${kind}`),
    upstreamAnswered: () => undefined,
    upstreamConnected: () => undefined,
    heldCallEnded: () => undefined,
    questionEnded: () => undefined,
    questionRefused: () => undefined,
    eraProbed: () => undefined,
    eraFlipped: () => undefined,
    bridgeSessionEnded: () => undefined,
    taskRefused: () => undefined,
    toolsListed: () => undefined,
    drainKilled: (kind) => count(`killed ${kind}`),
    drained: () => count('drained'),
  };
}
