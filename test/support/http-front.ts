import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Identity } from '../../src/contract/identity.js';
import type { HttpRuntime } from '../../src/contract/runtime.js';
import { createHttpRuntime, type HttpRuntimeOptions } from '../../src/runtime/http/http-runtime.js';
import { makeHead, makeLog, type TestLog } from '../../src/testing.js';
import { createTold, realClock, SHARES, type Told } from './proxied-bench.js';
import { closeServer, listen } from './upstream.js';

export interface Front {
  readonly runtime: HttpRuntime;
  readonly port: number;
  readonly log: TestLog;
  readonly told: Told;
  close(): Promise<void>;
}

const DEFAULTS = { ...SHARES, response_timeout_ms: 60_000, max_body_bytes: 2_000_000 } as const;

/** A server that hands every request to the runtime, as the listener does behind its gates. */
export async function openFront(url: string, options: Partial<HttpRuntimeOptions> = {}, identity?: Identity): Promise<Front> {
  const log = makeLog();
  const told = createTold();
  const runtime = createHttpRuntime(
    { name: 'console', url, ...DEFAULTS, ...options },
    { log, clock: realClock, telemetry: told.telemetry },
  );
  await runtime.start(new AbortController().signal);
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    response.setHeader('x-request-id', 'r1');
    const head = makeHead({ id: 'r1', method: request.method ?? '', path, query, headers: { host: request.headers.host ?? '' } });
    runtime.serve(request, response, { head, identity, facts: {}, prefix: '/console' });
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('error', () => {})));
  const port = await listen(server);
  return {
    runtime,
    port,
    log,
    told,
    async close() {
      await runtime.close(500);
      await closeServer(server, sockets);
    },
  };
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends one request on a connection of its own and reads the whole answer. */
export function get(
  port: number,
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', path, method: init.method ?? 'GET', headers: init.headers ?? {}, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(init.body);
  });
}

/** An error answer as `status CODE`. */
export const code = (got: Got): string =>
  `${got.status} ${(JSON.parse(got.body) as { error: { data: { code: string } } }).error.data.code}`;
