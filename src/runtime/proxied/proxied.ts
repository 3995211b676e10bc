import type { Clock } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Call, Exchange, Health, Runtime } from '../../contract/runtime.js';
import { settledCall } from '../../contract/runtime.js';
import type { Telemetry } from '../../contract/telemetry.js';
import { GatewayError } from '../../errors/error.js';
import { createRatedLog } from '../../transport/rated-log.js';
import type { TunnelEgress } from '../../upstream/egress.js';
import { UpstreamPool } from '../../upstream/pool.js';
import type { OpenSession, ProxiedParts } from '../answer/answer.js';
import type { EraBookOptions, EraProtocol } from '../era/era-book.js';
import type { BetweenEras, Verdict } from '../era/verdict.js';
import type { HeldCallsOptions } from '../peer/held-calls.js';
import type { LeasedSessionsOptions } from '../peer/leased-sessions.js';
import { BoundTasks } from '../shared/bound-tasks.js';
import { forwardedIdentity } from '../shared/forwarded-identity.js';
import { fieldLines, fixedHeads, requestHeaders } from '../shared/request-headers.js';
import { bindingOf, type SessionSeal } from '../shared/session-seal.js';
import { checkStaticHeaders, parseUpstreamUrl } from '../shared/static-headers.js';
import type { TaskSeal } from '../shared/task-seal.js';
import { createToolsLearner } from '../shared/tools-learner.js';
import { EraRouting } from './era-routing.js';
import { RequestQueue } from './request-queue.js';
import { SseServing } from './sse-serving.js';
import { SessionStreams, UpstreamCall, type UpstreamCallRoute, type UpstreamCallWatch } from './upstream-call.js';

export interface ProxiedOptions {
  /** Config name. */
  readonly name: string;
  /** The MCP endpoint of the upstream, http or https; nothing of a client's request shapes it. */
  readonly url: string;
  /** Sent with every request, e.g. the upstream's own credential. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** PEM of the certificate authorities that the upstream must chain to; undefined: the public ones. */
  readonly ca?: string | undefined;
  /** Upstream connections in use at once, calls and streams together. */
  readonly connections: number;
  /** Exchanges of one caller that are under way at once; default half of `connections`. The rest of its exchanges wait. */
  readonly max_running_per_caller?: number | undefined;
  /**
   * Exchanges that may wait for a connection, fairly shared. One more is 503 `OVERLOADED`, unless another caller has more waiting:
   * then the newest of that one is.
   */
  readonly max_waiting: number;
  /** Subscriptions and legacy GET streams at once; default half of `connections`. One more is 503 `TOO_MANY_STREAMS`: calls find a connection. */
  readonly max_streams?: number | undefined;
  /** Age at which a connection is closed after its answer, ± 20 %. Streams end by themselves. */
  readonly connection_max_age_ms: number;
  /** Largest event of an event stream in bytes. Beyond it the stream ends with an error event. */
  readonly max_event_bytes: number;
  /** Largest JSON answer; default 268 435 456 bytes. Beyond it: 502 `UPSTREAM_BROKEN`, or a cut body if it had begun. */
  readonly max_response_bytes?: number | undefined;
  /** `sse`: the server speaks HTTP+SSE (MCP 2024-11-05) at `url`, and with it legacy revisions alone. Default `http`. */
  readonly transport?: 'http' | 'sse' | undefined;
  /** Which eras the server speaks. Absent, or without `bridge`: as `as_is`. */
  readonly protocol?: EraProtocol | undefined;
  /** How modern clients of a legacy server are served. */
  readonly bridge?: ProxiedBridgeOptions | undefined;
}

export interface ProxiedBridgeOptions
  extends Omit<EraBookOptions, 'protocol'>,
    HeldCallsOptions,
    Pick<LeasedSessionsOptions, 'max_sessions' | 'max_sessions_per_caller' | 'session_idle_ms'> {}

export interface ProxiedDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly seal: SessionSeal;
  /** Of the gateway, told to the servers that it asks; default `0`. */
  readonly version?: string | undefined;
  /** Binds the tasks of identified callers; undefined: task ids pass as they are. */
  readonly task_seal?: TaskSeal | undefined;
  /** As `listener.sessions.keys`; default none. */
  readonly state_keys?: readonly string[] | undefined;
  /** The way to the upstream; default: directly. */
  readonly egress?: TunnelEgress | undefined;
}

/** Connections by state, for the `upstream_connections` gauge. */
export interface UpstreamStats {
  /** Open and idle. */
  readonly free: number;
  /** Carrying an exchange. */
  readonly running: number;
  /** Given to a connection that is still being opened. */
  readonly pending: number;
  /** Waiting for a connection. */
  readonly queued: number;
}

export interface ProxiedRuntime extends Runtime {
  stats(): UpstreamStats;
  /** Sessions of legacy clients that this process holds; undefined where the server holds them. */
  readonly sessions: number | undefined;
  /** Which era the server speaks, why, and what the gateway holds for clients of the other. */
  readonly era: BetweenEras & { readonly verdict: Verdict | undefined; readonly reason: string };
}

/**
 * The runtime that ends a route at one MCP server over Streamable HTTP, in every era. Bodies go on as the bytes that were judged;
 * head fields by allowlist; TLS is verified; nothing is retried and no redirect followed; the exchange's deadline is the only one.
 * @throws ConfigError when the URL or a static header is not usable.
 */
export function createProxied(options: ProxiedOptions, deps: ProxiedDeps): ProxiedRuntime {
  const { origin, target } = parseUpstreamUrl(options.name, options.url);
  checkStaticHeaders(options.name, options.headers ?? {});
  const headsOf = (path: string) => fixedHeads(new URL(origin).host, path, options.headers ?? {});
  const fixed = headsOf(target);
  const { name, connections } = options;
  const { clock, telemetry, seal, task_seal } = deps;
  const tools = createToolsLearner(telemetry, clock);
  const parts: ProxiedParts = {
    name,
    clock,
    seal,
    log: createRatedLog(deps.log, clock),
    tools,
    eraDoubted: () => era?.book.doubt(),
    tasks: task_seal === undefined ? undefined : new BoundTasks(task_seal, (route) => telemetry.taskRefused(route)),
    questionRefused: (method) => telemetry.questionRefused(name, method),
    max_event_bytes: options.max_event_bytes,
    max_response_bytes: options.max_response_bytes ?? 268_435_456,
  };
  let health: Health = 'starting';
  let failures = 0;
  const watch: UpstreamCallWatch = {
    answered(status) {
      failures = 0;
      if (health === 'degraded') health = 'ready';
      telemetry.upstreamAnswered(name, CLASSES[Math.floor(status / 100)] ?? 'error');
    },
    limited: (route, kind) => telemetry.callerLimited(route, kind),
    failed(code) {
      if (code !== 'UPSTREAM_UNREACHABLE' && code !== 'UPSTREAM_ENDED' && code !== 'UPSTREAM_BROKEN') return;
      telemetry.upstreamAnswered(name, 'error');
      failures += 1;
      if (failures >= DEGRADED_AFTER && health === 'ready') health = 'degraded';
    },
  };
  const pool = new UpstreamPool({
    origin,
    connections,
    ca: options.ca,
    egress: deps.egress,
    connection_max_age_ms: options.connection_max_age_ms,
    clock,
    onConnected: (seconds) => telemetry.upstreamConnected(name, seconds),
  });
  const streams = new SessionStreams();
  const half = Math.max(1, Math.floor(connections / 2));
  const queue = new RequestQueue({
    running: connections,
    waiting: options.max_waiting,
    running_per_caller: options.max_running_per_caller ?? half,
  });
  const { bridge, protocol, transport, max_event_bytes, version = '0' } = { ...options, version: deps.version };
  const max_streams = options.max_streams ?? half;
  const own = { ...deps, tools, version, state_keys: deps.state_keys ?? [] };
  const era =
    bridge === undefined || protocol === undefined || protocol === 'as_is' || transport === 'sse'
      ? undefined
      : new EraRouting({ name, protocol, max_event_bytes, ...bridge }, own, {
          fixed,
          queue,
          pool,
          watch,
          max_streams: Math.floor(connections / 2),
        });
  const sse =
    bridge === undefined || transport !== 'sse'
      ? undefined
      : new SseServing(
          { name, url: new URL(target, origin), max_event_bytes, ...bridge },
          { ...own, rated: parts.log, headsOf },
          { fixed, queue, pool, watch, max_streams },
        );
  let open_streams = 0;

  const fly = (call: Call, exchange: Exchange, session: OpenSession | undefined): void => {
    const method = METHODS[call.kind];
    const identity =
      call.identity !== undefined && call.route.forward_identity_header !== undefined ? forwardedIdentity(call.identity) : undefined;
    const about = call.identity === undefined ? undefined : parts.tasks?.request(call);
    if (about instanceof GatewayError) return exchange.fail(about);
    const lines = fieldLines(requestHeaders(call, session?.upstream, identity, about?.name));
    if (lines === undefined) return exchange.fail(new GatewayError('BAD_REQUEST', { detail: 'A header field cannot be sent on.' }));
    const long = call.kind === 'get_stream' || call.method === 'subscriptions/listen';
    if (long && open_streams >= max_streams) {
      telemetry.streamRefused(call.route.path, 'limit');
      return exchange.fail(new GatewayError('TOO_MANY_STREAMS'));
    }
    if (long) open_streams += 1;
    const route: UpstreamCallRoute = {
      left: long ? () => void (open_streams -= 1) : undefined,
      request: { head: fixed[method] + lines, body: method === 'post' ? (about?.body ?? call.body) : undefined },
      task_names: about?.names,
      watch,
      queue,
      pool,
      streams,
    };
    new UpstreamCall(parts, route, long ? settledCall(call) : call, exchange, session).start();
  };

  return {
    name,
    kind: 'proxied',
    get health() {
      return health;
    },
    start() {
      health = 'ready';
      era?.book.start();
      return Promise.resolve();
    },
    get sessions() {
      return sse?.sessions;
    },
    get era(): ProxiedRuntime['era'] {
      if (sse !== undefined) return { verdict: 'legacy', reason: 'transport: sse', leased: sse.leased, held: sse.held, bridged: 0 };
      return {
        verdict: era?.book.verdict,
        reason: era?.book.reason ?? 'protocol: as_is',
        leased: era?.sessions ?? 0,
        held: era?.held ?? 0,
        bridged: era?.bridged ?? 0,
      };
    },
    handle(call, exchange) {
      if (exchange.ended) return;
      if (health === 'stopped') return exchange.fail(new GatewayError('DRAINING'));
      if (sse !== undefined) return sse.handle(call, exchange);
      if (era !== undefined && call.era === 'modern' && !era.passes) return era.route(call, exchange, () => fly(call, exchange, undefined));
      if (era !== undefined && call.era === 'legacy' && era.routeBridged(call, exchange)) return;
      const session = sessionOf(call, seal);
      if (session instanceof GatewayError) {
        if (era === undefined || session.code !== 'SESSION_NOT_FOUND') exchange.fail(session);
        else era.routeLegacy(call, exchange, (client) => client.fail(session));
      } else if (session === undefined && era !== undefined && call.era === 'legacy')
        era.routeLegacy(call, exchange, (client) => fly(call, client, undefined));
      else fly(call, exchange, session);
    },
    stats() {
      const { free, pending, waiting } = pool.stats;
      return { free, running: queue.running + (sse?.streams ?? 0) - waiting, pending, queued: queue.waiting };
    },
    async close(deadline_ms) {
      health = 'stopped';
      era?.close();
      sse?.close();
      await pool.close(deadline_ms);
    },
  };
}

const DEGRADED_AFTER = 3;
const CLASSES: readonly (string | undefined)[] = [undefined, undefined, '2xx', '3xx', '4xx', '5xx'];
const METHODS = { request: 'post', notification: 'post', response: 'post', get_stream: 'get', session_end: 'delete' } as const;

/** The session that a legacy call belongs to. `initialize` begins one and modern calls have none, whatever they send. */
function sessionOf(call: Call, seal: SessionSeal): OpenSession | undefined | GatewayError {
  if (call.era === 'modern' || call.method === 'initialize') return undefined;
  const given = call.head.headers.all('mcp-session-id');
  if (given.length === 0) return call.kind === 'session_end' ? new GatewayError('SESSION_REQUIRED') : undefined;
  if (given.length > 1) return new GatewayError('SESSION_REQUIRED', { detail: 'It was sent more than once.' });
  const sealed = given[0] as string;
  const upstream = seal.open(sealed, bindingOf(call));
  return upstream === undefined ? new GatewayError('SESSION_NOT_FOUND') : { sealed, upstream };
}
