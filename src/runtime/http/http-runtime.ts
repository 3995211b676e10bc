import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import { type FastifyInstance, fastify } from 'fastify';
import { callerKey } from '../../contract/caller.js';
import type { Clock } from '../../contract/clock.js';
import type { Egress } from '../../contract/egress.js';
import type { Log } from '../../contract/log.js';
import type { Health, HttpRuntime } from '../../contract/runtime.js';
import type { Telemetry } from '../../contract/telemetry.js';
import { ConfigError, GatewayError } from '../../errors/error.js';
import { createRatedLog } from '../../transport/rated-log.js';
import { CONNECTION_FIELDS } from '../../wire/field.js';
import { RequestQueue } from '../proxied/request-queue.js';
import { checkStaticHeaders, parseUpstreamUrl } from '../shared/static-headers.js';
import { HttpExchange, type HttpExchangeParts } from './http-exchange.js';
import { confinedPath } from './http-mount.js';
import { closePool, openHttpPool } from './http-pool.js';

export interface HttpRuntimeOptions {
  /** Config name. */
  readonly name: string;
  /** Origin and base path of the upstream, http or https, without a query. */
  readonly url: string;
  /** Sent with every request; they win over a client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** PEM of the certificate authorities that the upstream must chain to; undefined: the public ones. */
  readonly ca?: string | undefined;
  /** Upstream connections. */
  readonly connections: number;
  /** Requests of one caller that are under way at once; default half of `connections`. The rest of its requests wait. */
  readonly max_running_per_caller?: number | undefined;
  /** Requests that may wait for a connection, fairly shared. Beyond it: 503 `OVERLOADED`. */
  readonly max_waiting: number;
  /** Age at which a connection takes no more requests, ± 20 %. */
  readonly connection_max_age_ms: number;
  /** Time to the head of an answer. Beyond it: 504. Bodies have no timer: event streams stay open. */
  readonly response_timeout_ms: number;
  /** Default false: the client's Authorization stays here. */
  readonly forward_authorization?: boolean | undefined;
  /** Default true: a UI needs its cookies. They are confined to the mount. */
  readonly forward_cookies?: boolean | undefined;
  /** More request fields that may pass, beside the built-in list. */
  readonly request_headers?: readonly string[] | undefined;
  /** Default `own`: a redirect out of the mount is 502. `any`: it is relayed, as an authorization server needs. */
  readonly redirects?: 'own' | 'any' | undefined;
  /** Largest request body whose length is not declared, in bytes. Beyond it: 413, and the upstream's request is aborted. */
  readonly max_body_bytes: number;
  /** `listener.public_url`: what `X-Forwarded-Host` and `-Proto` say. Undefined: what the connection and Host say. */
  readonly public_url?: string | undefined;
}

export interface HttpRuntimeDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The way to the upstream; default: directly. */
  readonly egress?: Egress | undefined;
}

/**
 * The runtime that mounts a plain HTTP server beside MCP by prefix, on @fastify/http-proxy with its doors closed: verified TLS, header
 * allowlist, no retries, no redirect out of the mount, paths confined to the base path, the upstream let go when the client leaves.
 * @throws ConfigError when the URL or a header name is not usable.
 */
export function createHttpRuntime(options: HttpRuntimeOptions, deps: HttpRuntimeDeps): HttpRuntime {
  const { name, max_body_bytes, connections } = options;
  const { origin, target } = parseUpstreamUrl(name, options.url);
  if (target.includes('?')) throw new ConfigError([{ where: `runtimes.${name}.url`, message: 'must not have a query' }]);
  checkStaticHeaders(name, options.headers ?? {});
  const base = target.endsWith('/') ? target.slice(0, -1) : target;
  const public_url = options.public_url === undefined ? undefined : new URL(options.public_url);
  const parts: HttpExchangeParts = {
    name,
    clock: deps.clock,
    telemetry: deps.telemetry,
    log: createRatedLog(deps.log, deps.clock),
    policy: {
      headers: Object.fromEntries(Object.entries(options.headers ?? {}).map(([key, value]) => [key.toLowerCase(), value])),
      forward_authorization: options.forward_authorization ?? false,
      forward_cookies: options.forward_cookies ?? true,
      request_headers: checkedNames(name, options.request_headers ?? []),
      public_url,
    },
    mount: { origin, base, redirects: options.redirects ?? 'own', public_origin: public_url?.origin },
  };
  const pool = openHttpPool({
    origin,
    connections,
    ca: options.ca,
    egress: deps.egress,
    connection_max_age_ms: options.connection_max_age_ms,
    headers_timeout_ms: options.response_timeout_ms,
    clock: deps.clock,
    onConnected: (seconds) => deps.telemetry.upstreamConnected(name, seconds),
  });
  const queue = new RequestQueue({
    running: connections,
    waiting: options.max_waiting,
    running_per_caller: options.max_running_per_caller ?? Math.max(1, Math.floor(connections / 2)),
  });
  const exchanges = new WeakMap<IncomingMessage, HttpExchange>();
  let health: Health = 'starting';
  let app: FastifyInstance | undefined;
  let route: RequestListener | undefined;

  return {
    name,
    kind: 'http',
    get health() {
      return health;
    },
    async start() {
      app = fastify({
        // Never listens: the listener has the socket, this instance only the request.
        serverFactory: (handler) => createServer((route = handler)),
        clientErrorHandler: () => {},
        forceCloseConnections: false,
      });
      await app.register(httpProxy, {
        upstream: origin,
        undici: { request: HttpExchange.sender(pool) },
        httpMethods: METHODS,
        retryMethods: [],
        disableCache: true,
        disableRequestLogging: true,
        handler: (request, reply, dest) => {
          exchanges.get(request.raw)?.send(reply, dest);
        },
      });
      // Declared lengths were judged at the door.
      app.addHook('preParsing', (request, _reply, body, done) => {
        const counted =
          request.raw.headers['transfer-encoding'] === undefined ? body : exchanges.get(request.raw)?.counted(body, max_body_bytes);
        done(null, counted);
      });
      app.setErrorHandler((_error, request, reply) => {
        exchanges.get(request.raw)?.refuse(reply, 'BAD_REQUEST');
      });
      await app.ready();
      health = 'ready';
    },
    serve(request, response, passed) {
      const exchange = new HttpExchange(parts, request, response, passed);
      if (health !== 'ready' || route === undefined) return exchange.fail(new GatewayError('DRAINING'));
      if (!METHODS.includes(passed.head.method)) {
        return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: METHODS.join(', ') } }));
      }
      const path = confinedPath(passed.head.path, passed.prefix, base);
      if (path === undefined) return exchange.fail(new GatewayError('NO_ROUTE'));
      request.url = passed.head.query === '' ? path : `${path}?${passed.head.query}`;
      exchanges.set(request, exchange);
      const launched = route;
      exchange.queue(queue, callerKey(passed.identity, passed.head.peer.client_address), () => launched(request, response));
    },
    async close(deadline_ms) {
      health = 'stopped';
      await closePool(pool, deps.clock, deadline_ms);
      await app?.close();
    },
  };
}

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** `runtimes.<name>.request_headers`, in lower case. Credentials have separate options; hop-by-hop fields never pass. */
function checkedNames(name: string, names: readonly string[]): ReadonlySet<string> {
  const where = `runtimes.${name}.request_headers`;
  const bad = names.filter(
    (each) => !/^[a-z0-9-]{1,256}$/i.test(each) || NEVER.has(each.toLowerCase()) || /^(?:proxy|x-forwarded)-/i.test(each),
  );
  if (bad.length > 0) throw new ConfigError(bad.map((each) => ({ where, message: `${JSON.stringify(each)} cannot be passed on` })));
  return new Set(names.map((each) => each.toLowerCase()));
}

const NEVER: ReadonlySet<string> = new Set([...CONNECTION_FIELDS, 'authorization', 'cookie', 'expect', 'forwarded', 'host']);
