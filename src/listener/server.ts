import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../contract/clock.js';
import type { Limits } from '../contract/limits.js';
import type { Log } from '../contract/log.js';
import type { Telemetry } from '../contract/telemetry.js';
import type { ErrorCode } from '../errors/codes.js';
import type { Admitted, Chain } from '../gate-chain/chain.js';
import type { RouteTable } from '../route/table.js';
import { Admission, type TlsSettings } from './admission.js';
import type { Connection, Phase, WorkView } from './connection.js';
import { corsHeaders, preflightHeaders } from './cors.js';
import { type DoorRules, passDoor } from './door.js';
import { Drain } from './drain.js';
import { Head, RawHeaders } from './head.js';
import { HostPolicy, OriginPolicy } from './origin.js';
import { ForwardedPeer, PeerBook } from './peer.js';
import type { ListenerRoute } from './route.js';
import { StreamSlots } from './slots.js';
import { type Denial, Visit, type VisitEnvironment } from './visit.js';

export interface ListenerOptions {
  readonly limits: Limits;
  readonly trusted_proxies: readonly string[];
  readonly allowed_origins: readonly string[];
  readonly allowed_hosts: readonly string[];
  readonly cors: boolean;
  readonly chunked: boolean;
  readonly keep_alive: boolean;
  readonly tls: TlsSettings | undefined;
}

export interface ListenerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly readClaims: DoorRules['readClaims'];
  readonly failed: VisitEnvironment['failed'];
  denied(denial: Denial): void;
  admitted(visit: Visit, admitted: Admitted): void;
}

/** What requests are matched against: one immutable snapshot. */
export interface Routing {
  readonly table: RouteTable<ListenerRoute>;
  readonly listenerChain: Chain;
  /** How clients see us: its origin may always call. */
  readonly public_url: string;
}

/** The public listener: admission, door, gates. Until `open` it answers 503. */
export class Listener {
  readonly drain: Drain;
  readonly #admission: Admission;
  readonly #options: ListenerOptions;
  readonly #deps: ListenerDeps;
  readonly #slots: StreamSlots;
  readonly #peers: PeerBook;
  #origins: OriginPolicy | undefined;
  readonly #hosts: HostPolicy;
  readonly #rules: DoorRules;
  readonly #id_prefix = `${randomBytes(6).toString('base64url')}-`;
  #id_count = 0;
  #table: RouteTable<ListenerRoute> | undefined;
  #env: VisitEnvironment | undefined;

  constructor(options: ListenerOptions, deps: ListenerDeps) {
    this.#options = options;
    this.#deps = deps;
    const { limits, keep_alive, tls } = options;
    this.#admission = new Admission(
      { limits, keep_alive, tls, clock: deps.clock },
      {
        request: (connection, request, response, fault) => this.#request(connection, request, response, fault),
        refused: (code) => deps.telemetry.headRefused(code),
        dropped: () => deps.telemetry.connectionRefused('limit'),
      },
    );
    this.drain = new Drain(this.#admission, limits, deps.clock, deps.telemetry, deps.log);
    this.#slots = new StreamSlots(limits.max_subscriptions, deps.telemetry);
    this.#peers = new PeerBook(options.trusted_proxies);
    this.#hosts = new HostPolicy(options.allowed_hosts);
    this.#rules = { max_body_bytes: limits.max_body_bytes, chunked: options.chunked, readClaims: deps.readClaims };
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

  /** Begins to serve these routes; called again, later requests see the new snapshot. */
  open(routing: Routing): void {
    const { limits } = this.#options;
    const { clock, telemetry, failed, denied, admitted } = this.#deps;
    this.#env = {
      limits,
      clock,
      telemetry,
      failed,
      denied,
      admitted,
      slots: this.#slots,
      admission: this.#admission,
      listenerChain: routing.listenerChain,
    };
    this.#origins = new OriginPolicy(this.#options.allowed_origins, routing.public_url);
    this.#table = routing.table;
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
    const { clock } = this.#deps;
    const started = clock.mono_ms();
    const head = this.#head(connection, request);
    const env = this.#env;
    const origin = onlyOrigin(head);
    const known = this.#options.cors && origin !== undefined && this.#origins?.isAllowed(origin) === true;
    const extra = corsHeaders(known ? origin : undefined);
    const route = this.#table?.match(head.path);
    const visit = new Visit(connection, head, route ?? NOWHERE, extra, env ?? this.#closedEnv(), started);
    if (fault !== undefined) return this.#turnAway(visit, fault);
    if (env === undefined || this.drain.state === 'closing' || this.drain.state === 'closed') return this.#turnAway(visit, 'DRAINING');
    if (route === undefined) return this.#turnAway(visit, 'NO_ROUTE');
    if (!this.#mayEnter(visit, route, origin, known, response)) return;
    const passage = passDoor(head, route, connection, this.#rules);
    if (passage.fault !== undefined) {
      const allow = passage.fault.code === 'METHOD_NOT_ALLOWED' ? { allow: 'POST' } : undefined;
      return this.#turnAway(visit, passage.fault.code, passage.fault.detail, passage.fault.data, allow);
    }
    if (passage.claims !== undefined) head.claims = passage.claims;
    visit.accepts_json = passage.json;
    visit.accepts_events = passage.events;
    visit.enter();
  }

  /** Method, Host, Origin, preflight: wire.md section 2, in its order. */
  #mayEnter(visit: Visit, route: ListenerRoute, origin: string | undefined, known: boolean, response: ServerResponse): boolean {
    const { head } = visit;
    const preflight = head.method === 'OPTIONS' && this.#options.cors && origin !== undefined && route.kind !== 'served';
    if (!preflight && route.methods !== undefined && !route.methods.has(head.method)) {
      this.#turnAway(visit, 'METHOD_NOT_ALLOWED', undefined, undefined, { allow: [...route.methods].join(', ') });
    } else if (this.#hosts.checks && !this.#hosts.isAllowed(head.headers, head.peer.trusted)) this.#turnAway(visit, 'HOST_NOT_ALLOWED');
    else if (route.kind !== 'served' && !this.#originAllowed(origin, known)) this.#turnAway(visit, 'ORIGIN_NOT_ALLOWED');
    else if (preflight && head.headers.get('access-control-request-method') !== undefined) {
      const methods = [...(route.methods ?? ANY_METHOD)].join(', ');
      response.writeHead(204, [
        ...preflightHeaders(origin, methods, head.headers.get('access-control-request-headers')),
        'x-request-id',
        head.id,
      ]);
      response.end();
    } else return true;
    return false;
  }

  #originAllowed(origin: string | undefined, known: boolean): boolean {
    if (origin === undefined || known) return true;
    return this.#origins?.isAllowed(origin) === true;
  }

  #turnAway(
    visit: Visit,
    code: ErrorCode,
    detail?: string,
    data?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): void {
    this.#deps.telemetry.headRefused(code);
    visit.refuse(code, detail, data, headers);
  }

  #head(connection: Connection, request: IncomingMessage): Head {
    connection.peer ??= this.#peers.peerOf(connection.socket);
    const { peer } = connection;
    const headers = new RawHeaders(request.rawHeaders);
    const received = this.#deps.clock.now_ms();
    const asked_id = peer.trusted ? trustedId(headers.get('x-request-id')) : undefined;
    const id = asked_id ?? this.#id_prefix + (++this.#id_count).toString(36);
    const from = peer.trusted ? new ForwardedPeer(peer, this.#peers.clientAddress(peer, headers)) : peer;
    return new Head(request, headers, id, from, received);
  }

  #closedEnv(): VisitEnvironment {
    const { limits } = this.#options;
    return { ...this.#deps, limits, slots: this.#slots, admission: this.#admission, listenerChain: undefined as never };
  }
}

/** Stands in for a route where there is none, so that refusals are told in one way. */
const NOWHERE: ListenerRoute = {
  kind: 'served',
  path: '',
  prefix: false,
  info: { path: '', url: '', runtime: '' },
  chain: undefined as never,
  methods: undefined,
};

const ANY_METHOD = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The Origin of a request; a repeated one is not an origin. */
function onlyOrigin(head: Head): string | undefined {
  const origins = head.headers.all('origin');
  return origins.length > 1 ? 'null' : origins[0];
}

/** A request id of a trusted proxy: 1 to 128 characters that are safe in logs and headers. */
function trustedId(id: string | undefined): string | undefined {
  return id !== undefined && /^[A-Za-z0-9._~+/=:-]{1,128}$/.test(id) ? id : undefined;
}
