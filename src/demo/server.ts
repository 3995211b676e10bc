import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../contract/clock.js';
import { systemClock } from '../system-clock.js';
import { admit } from './admit.js';
import { answer, sendLast } from './answer.js';
import { DemoStreams } from './listen.js';
import { closeServer, isLoopbackName, listenOn, loopbackOnly, readBody } from './loopback.js';

const MAX_BODY_BYTES = 1_000_000;
const PATH = '/mcp';

export interface DemoServerOptions {
  /** A loopback address. */
  readonly host: string;
  /** 0 picks one. */
  readonly port: number;
  /** Default: the machine’s. */
  readonly clock?: Clock;
}

/** The demo MCP server, running. */
export interface DemoServer {
  /** The MCP endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the MCP server of `portcullis demo` on loopback: tools, resources, prompts, completion, progress and subscriptions,
 * in revision 2026-07-28 and, without sessions, in 2025-11-25, 2025-06-18 and 2025-03-26. It keeps nothing between requests.
 */
export async function startDemoServer(options: DemoServerOptions): Promise<DemoServer> {
  loopbackOnly(options.host);
  const { clock = systemClock } = options;
  const streams = new DemoStreams(clock);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 75_000 }, (request, response) => {
    serve(request, response, streams, clock).catch(() => response.destroy());
  });
  server.maxConnections = 256;
  const origin = await listenOn(server, options);
  return {
    url: `${origin}${PATH}`,
    async close() {
      streams.close();
      await closeServer(server, clock);
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, streams: DemoStreams, clock: Clock): Promise<void> {
  if (request.url !== PATH) return refuse(response, 404, `The MCP endpoint is ${PATH}.`);
  // A page of another site reaches a loopback server through a name of its own (DNS rebinding), or straight with its Origin.
  if (!isLoopbackName(request.headers.host)) return refuse(response, 403, 'The Host is not a loopback name.');
  const { origin } = request.headers;
  if (origin !== undefined && !isLoopbackName(origin.replace(/^https?:\/\//, ''))) return refuse(response, 403, 'The Origin may not call.');
  if (request.method !== 'POST') return refuse(response.setHeader('allow', 'POST'), 405, 'Only POST is served.');
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    return refuse(response, 415, 'Content-Type must be application/json.');
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === undefined) return refuse(response.setHeader('connection', 'close'), 413, 'The body is too large.');

  const admitted = admit(body, request.headers);
  if (admitted.kind === 'accepted') {
    response.writeHead(202).end();
  } else if (admitted.kind === 'refused') {
    const { status, id, code, message, data } = admitted;
    sendLast(response, status, { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  } else if (admitted.modern && admitted.method === 'subscriptions/listen') {
    streams.listen(admitted, response);
  } else {
    const header = (name: string) => [request.headers[name] ?? []].flat()[0];
    await answer(admitted, header, response, clock);
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  sendLast(response, status, { jsonrpc: '2.0', id: null, error: { code: -32600, message } });
}
