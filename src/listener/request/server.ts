import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../contract/clock.js';
import type { Limits } from '../../contract/limits.js';
import type { Log } from '../../contract/log.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { Tracing } from '../../contract/tracing.js';
import { checkHead, type HeadRules, HostPolicy, judgeOrigin, OriginPolicy } from '../../core/http/check-head.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Admitted, Chain } from '../../gate-chain/chain.js';
import type { RouteTable } from '../../route/table.js';
import { Admission, type TlsSettings } from '../socket/admission.js';
import type { Connection, Phase, WorkView } from '../socket/connection.js';
import { Drain } from '../socket/drain.js';
import { Head, RawHeaders } from './head.js';
import { IncomingRequest } from './incoming-request.js';
import { ForwardedPeer, plainAddress, RemoteAddresses } from './remote-address.js';
import { corsHeaders, preflightHeaders } from './reply.js';
import type { Denial, RequestEnvironment, RoutedRequest } from './request-environment.js';
import type { ListenerRoute } from './route.js';
import { StreamSlots } from './stream-slots.js';

export interface ListenerOptions {
  readonly limits: Limits;
  readonly keep_alive: boolean;
  readonly tls: TlsSettings | undefined;
}

export interface ListenerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly tracing?: Tracing | undefined;
  readonly failed: RequestEnvironment['failed'];
  denied(denial: Denial): void;
  admitted(request: RoutedRequest, admitted: Admitted): void;
  /** A connection was refused before it had sent a whole head. */
  refused(code: ErrorCode, request_id: string, client_address: string): void;
}

/** What requests are matched against: one immutable snapshot. */
export interface Routing {
  readonly table: RouteTable<ListenerRoute>;
  readonly listenerChain: Chain;
  /** How clients see us: its origin may always call. */
  readonly public_url: string;
  readonly trusted_proxies: readonly string[];
  readonly allowed_origins: readonly string[];
  readonly allowed_hosts: readonly string[];
  readonly cors: boolean;
  /** `chunked_requests: accept`. */
  readonly chunked: boolean;
}

/** A routing that is in force, with what follows from it. */
interface InForce {
  readonly routing: Routing;
  readonly peers: RemoteAddresses;
  readonly origins: OriginPolicy;
  readonly rules: HeadRules;
  readonly env: RequestEnvironment;
}

/** The public listener: admission, head checks, gates. Until `open` it answers 503. */
export class Listener {
  readonly drain: Drain;
  readonly #admission: Admission;
  readonly #options: ListenerOptions;
  readonly #deps: ListenerDeps;
  readonly #slots: StreamSlots;
  readonly #id_prefix = `${randomBytes(6).toString('base64url')}-`;
  #id_count = 0;
  #now: InForce | undefined;

  constructor(options: ListenerOptions, deps: ListenerDeps) {
    this.#options = options;
    this.#deps = deps;
    const { limits, keep_alive, tls } = options;
    this.#admission = new Admission(
      { limits, keep_alive, tls, clock: deps.clock },
      {
        request: (connection, request, response, fault) => this.#request(connection, request, response, fault),
        refused: (code, socket) => this.#headless(code, plainAddress(socket.remoteAddress ?? '')),
        dropped: () => deps.telemetry.connectionRefused('limit'),
      },
    );
    this.drain = new Drain(this.#admission, limits, deps.clock, deps.telemetry, deps.log);
    this.#slots = new StreamSlots(limits.max_subscriptions, limits.max_subscriptions_per_caller, deps.telemetry, this.drain);
  }

  /** Binds. Rejects with the system's error (`EADDRINUSE` …). */
  listen(host: string, port: number): Promise<AddressInfo> {
    const { server } = this.#admission;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // A burst of max_connections must fit the kernel's queue: the default of 511 stalls it.
      server.listen({ host, port, backlog: Math.max(511, this.#options.limits.max_connections) }, () => {
        server.off('error', reject);
        server.on('error', (error) => this.#deps.log.error({ error: String(error) }, 'listener error'));
        resolve(server.address() as AddressInfo);
      });
    });
  }

  /** Begins to serve these routes. Called again, later requests see the new snapshot; those under way finish on theirs. */
  open(routing: Routing): void {
    const { max_body_bytes } = this.#options.limits;
    this.#now = {
      routing,
      peers: new RemoteAddresses(routing.trusted_proxies),
      origins: new OriginPolicy(routing.allowed_origins, routing.public_url),
      rules: { hosts: new HostPolicy(routing.allowed_hosts), max_body_bytes, chunked: routing.chunked, cors: routing.cors },
      env: this.#environment(routing),
    };
  }

  /** True while a request that was matched against this routing is under way. */
  uses(routing: Routing): boolean {
    for (const view of this.work()) if (view.snapshot === routing) return true;
    return false;
  }

  /** Replaces certificate, key and client CA for new connections. */
  renewTls(tls: TlsSettings): void {
    (this.#admission.server as { setSecureContext?: (settings: TlsSettings) => void }).setSecureContext?.(tls);
  }

  /** Connections by phase, for the gauge. */
  *phases(): Iterable<Phase> {
    for (const connection of this.#admission.connections) {
      const { phase, socket, base } = connection;
      yield phase === 'idle' && socket.bytesRead !== base ? 'head' : phase === 'handshake' ? 'head' : phase;
    }
  }

  /** What is in flight, for the gauges. */
  *work(): Iterable<WorkView> {
    for (const { work } of this.#admission.connections) if (work !== undefined) yield work.view();
  }

  /** Open subscriptions and legacy GET streams. */
  get subscriptions(): number {
    return this.#slots.taken;
  }

  #request(connection: Connection, request: IncomingMessage, response: ServerResponse, fault: ErrorCode | undefined): void {
    const started = this.#deps.clock.mono_ms();
    const now = this.#now;
    const head = this.#head(connection, request, now);
    const origin = now?.routing.cors === true && head.origin === 'allowed' ? head.headers.get('origin') : undefined;
    const route = now?.routing.table.match(head.path);
    const env = now?.env ?? this.#environment(undefined);
    const incoming = new IncomingRequest(connection, head, route ?? NOWHERE, corsHeaders(origin), env, started);
    if (fault !== undefined) return this.#turnAway(incoming, fault);
    if (now === undefined || this.drain.state === 'closing' || this.drain.state === 'closed') return this.#turnAway(incoming, 'DRAINING');
    if (route === undefined) return this.#turnAway(incoming, 'NO_ROUTE', slashHint(now.routing.table.beside(head.path)));
    const verdict = checkHead(head, route, connection, now.rules);
    if (verdict.preflight) return answerPreflight(response, head, origin ?? '', route);
    if (verdict.fault !== undefined && (verdict.claims === undefined || !incoming.mayGetId)) {
      const { code, detail, data } = verdict.fault;
      return this.#turnAway(incoming, code, detail, data, verdict.allow === undefined ? undefined : { allow: verdict.allow });
    }
    if (verdict.claims !== undefined) head.claims = verdict.claims;
    incoming.accepts_json = verdict.json;
    incoming.accepts_events = verdict.events;
    incoming.enter(verdict.fault);
  }

  #turnAway(
    incoming: IncomingRequest,
    code: ErrorCode,
    detail?: string,
    data?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): void {
    this.#deps.telemetry.headRefused(code);
    incoming.refuse(code, detail, data, headers);
  }

  /** Tells of a refusal without a head to speak of. */
  #headless(code: ErrorCode, address: string): string {
    const request_id = this.#nextId();
    this.#deps.telemetry.headRefused(code);
    this.#deps.refused(code, request_id, address);
    return request_id;
  }

  #nextId(): string {
    return this.#id_prefix + (++this.#id_count).toString(36);
  }

  #head(connection: Connection, request: IncomingMessage, now: InForce | undefined): Head {
    const peers = now?.peers ?? NOBODY_TRUSTED;
    if (connection.peer?.book !== peers) connection.peer = peers.peerOf(connection.socket);
    const { peer } = connection;
    const headers = new RawHeaders(request.rawHeaders);
    const received = this.#deps.clock.now_ms();
    const asked_id = peer.trusted ? trustedId(headers.get('x-request-id')) : undefined;
    const id = asked_id ?? this.#nextId();
    const from = peer.trusted ? new ForwardedPeer(peer, peers.clientAddress(peer, headers)) : peer;
    const origin = now === undefined ? 'none' : judgeOrigin(headers, now.origins);
    return new Head(request, headers, id, from, received, origin);
  }

  /** Without a routing every request is refused by the head checks. */
  #environment(routing: Routing | undefined): RequestEnvironment {
    const { limits } = this.#options;
    const { clock, telemetry, failed, denied, admitted, tracing } = this.#deps;
    const listenerChain = routing?.listenerChain as Chain;
    const snapshot = routing ?? NOWHERE;
    const own = { slots: this.#slots, admission: this.#admission };
    return { limits, clock, telemetry, tracing, failed, denied, admitted, snapshot, listenerChain, ...own };
  }
}

const NOBODY_TRUSTED = new RemoteAddresses([]);

/** Placeholder for a missing route, so that all refusals take the same way. */
const NOWHERE: ListenerRoute = {
  kind: 'served',
  path: '',
  prefix: false,
  info: { path: '', url: '', runtime: '' },
  chain: undefined as never,
  methods: undefined,
};

const ANY_METHOD = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function answerPreflight(response: ServerResponse, head: Head, origin: string, route: ListenerRoute): void {
  const methods = [...(route.methods ?? ANY_METHOD)].join(', ');
  const fields = preflightHeaders(origin, methods, head.headers.get('access-control-request-headers'));
  response.writeHead(204, [...fields, 'x-request-id', head.id]).end();
}

/** The commonest way to miss a route. */
function slashHint(other: string | undefined): string | undefined {
  return other === undefined ? undefined : `There is one ${other.endsWith('/') ? 'with' : 'without'} a slash at the end.`;
}

/** A request id of a trusted proxy: 1 to 128 characters that are safe in logs and headers. */
function trustedId(id: string | undefined): string | undefined {
  return id !== undefined && /^[A-Za-z0-9._~+/=:-]{1,128}$/.test(id) ? id : undefined;
}
