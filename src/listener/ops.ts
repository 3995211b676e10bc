import type { AddressInfo } from 'node:net';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { ConfigError } from '../errors/error.js';

/** What the ops listener asks the gateway. */
export interface OpsView {
  /** `reason` is for people and scripts: `serving`, `starting`, `draining`, `runtime files is stopped`. */
  ready(): { readonly ready: boolean; readonly reason: string };
  /** True once everything has started, for good. */
  started(): boolean;
  /** The metrics page in the format that an Accept header prefers. */
  render(accept: string | undefined): Promise<{ readonly content_type: string; readonly body: string }>;
  /** Begins the drain; does nothing when it has begun. */
  drain(): void;
  /** Reloads the config; undefined without a file. Rejects with the problems of the new config. */
  readonly reload?: (() => Promise<{ readonly restart: readonly string[] }>) | undefined;
  /** More paths, `/status` among them. */
  readonly pages?: OpsPages | undefined;
}

/** Paths that another part answers on this listener, under its limits. */
export interface OpsPages {
  /** The methods of each path, as `Allow` says them. */
  readonly allow: Readonly<Record<string, string>>;
  /** Adds the routes, once, before the listener is bound. */
  add(app: FastifyInstance): void;
}

export interface OpsOptions {
  readonly host: string;
  /** 0 picks one. */
  readonly port: number;
}

/** The second listener, for probes, scrapes and operators. */
export interface Ops {
  /** Listens; resolves with the URL, without a path. Rejects with Node’s error when it cannot bind. */
  start(): Promise<string>;
  /** Closes at once, open connections included. It comes last in a shutdown: probes and scrapes are answered through the drain. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 128;
const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_024;
const TIMEOUT_MS = 10_000;
/** Longer than usual scrape intervals, so that a scraper keeps its connection. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Creates the ops listener. It has no authentication: bind it where only operators reach it. Host and Origin are not checked,
 * because probes send any; a page of another origin cannot read what it says (no CORS), and no page can begin a drain.
 */
export function createOps(options: OpsOptions, view: OpsView): Ops {
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    connectionTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
    clientErrorHandler(_error, socket) {
      if (socket.writable) socket.end(BAD_REQUEST);
      else socket.destroy();
    },
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    reply.header('x-content-type-options', 'nosniff');
  });
  answerErrors(app, { ...ALLOW, ...view.pages?.allow });
  addRoutes(app, view);
  view.pages?.add(app);

  return {
    async start() {
      await app.listen({ host: options.host, port: options.port });
      const { address, family, port } = app.server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    },
    close: () => app.close(),
  };
}

function addRoutes(app: FastifyInstance, view: OpsView): void {
  for (const path of ['/livez', '/healthz']) app.get(path, async () => ({ live: true }));
  app.get('/readyz', async (_request, reply) => {
    const { ready, reason } = view.ready();
    return reply.code(ready ? 200 : 503).send({ ready, reason });
  });
  app.get('/startupz', async (_request, reply) => {
    const started = view.started();
    return reply.code(started ? 200 : 503).send({ started });
  });
  app.get('/metrics', async (request, reply) => {
    const { content_type, body } = await view.render(request.headers.accept);
    return reply.header('content-type', content_type).send(body);
  });
  app.post('/drain', async (request, reply) => {
    if (fromPage(request)) return fail(reply, 403, 'ORIGIN_NOT_ALLOWED', 'A browser page may not begin a drain.');
    view.drain();
    return reply.code(202).send({ draining: true });
  });
  app.post('/reload', async (request, reply) => {
    if (fromPage(request)) return fail(reply, 403, 'ORIGIN_NOT_ALLOWED', 'A browser page may not reload the config.');
    if (view.reload === undefined) return fail(reply, 409, 'NO_CONFIG_FILE', 'This gateway was not started from a file.');
    // Gates and modules may take longer to open than a silent connection has; each has its own deadline.
    request.raw.socket.setTimeout(0);
    try {
      return { reloaded: true, ...(await view.reload()) };
    } catch (error) {
      return fail(
        reply,
        422,
        'CONFIG_REFUSED',
        error instanceof ConfigError ? error.message : 'The config cannot be used; the log says why.',
      );
    } finally {
      request.raw.socket.setTimeout(TIMEOUT_MS);
    }
  });
}

/** Every browser sends one of the two with a POST, whatever page it is from. */
function fromPage({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

const ALLOW: Readonly<Record<string, string>> = {
  '/livez': 'GET, HEAD',
  '/healthz': 'GET, HEAD',
  '/readyz': 'GET, HEAD',
  '/startupz': 'GET, HEAD',
  '/metrics': 'GET, HEAD',
  '/drain': 'POST',
  '/reload': 'POST',
};

function answerErrors(app: FastifyInstance, allowed: Readonly<Record<string, string>>): void {
  // A body means nothing here: whatever its type, at most MAX_BODY_BYTES of it are read and forgotten.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allow = Object.hasOwn(allowed, path) ? allowed[path] : undefined;
    if (allow === undefined) return fail(reply, 404, 'NO_ROUTE', `There is ${Object.keys(allowed).join(', ')}.`);
    return fail(reply.header('allow', allow), 405, 'METHOD_NOT_ALLOWED', `Use ${allow}.`);
  });
  app.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return fail(reply, status, 'BAD_REQUEST', 'The request cannot be read.');
    return fail(reply, 500, 'RUNTIME_FAILED', 'This answer could not be made; the other endpoints are not affected.');
  });
}

const toBody = (code: string, message: string): string => JSON.stringify({ error: { code, message } });

function fail(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply.code(status).type('application/json').send(toBody(code, message));
}

const BAD_BODY = toBody('BAD_REQUEST', 'The request head is malformed, too large or late.');
const BAD_REQUEST = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(BAD_BODY)}\r\nConnection: close\r\n\r\n${BAD_BODY}`;
