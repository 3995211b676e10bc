import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeServer, listen } from '../../support/upstream.js';

/** A server of both eras with one tool, `echo`, that can go away and come back at the same port. */
export interface Upstream {
  /** Its MCP endpoint. */
  readonly url: string;
  /** Refuses connections until `up`. Open ones are cut. */
  down(): Promise<void>;
  up(): Promise<void>;
}

const SESSION = 'the-only-session';

export async function startUpstream(): Promise<Upstream> {
  const sockets = new Set<Socket>();
  let server: Server;
  const start = (): Server => {
    server = createServer((request, response) => void answer(request, response));
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    return server;
  };
  const port = await listen(start());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    down: () => closeServer(server, sockets),
    up: () => new Promise((resolve) => void start().listen(port, '127.0.0.1', resolve)),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    return;
  }
  if (request.method !== 'POST') return void response.writeHead(200).end();
  const { id, method, params } = JSON.parse(await text(request));
  if (id === undefined) return void response.writeHead(202).end();
  const modern = request.headers['mcp-protocol-version'] === '2026-07-28';
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...reply(method, params) });
  // A modern client expects an unknown method to be told by the status too.
  const status = modern && body.includes('-32601') ? 404 : 200;
  const session = method === 'initialize' ? { 'mcp-session-id': SESSION } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...session }).end(body);
}

function reply(method: string, params: ReturnType<typeof JSON.parse>): object {
  const server = { capabilities: { tools: {} }, serverInfo: { name: 'refusals', version: '1' } };
  const cache = { ttlMs: 0, cacheScope: 'private' };
  const complete = (result: object): object => ({ result: { resultType: 'complete', ...result } });
  switch (method) {
    case 'initialize':
      // A client that only asks in the legacy way may still ask for a revision that has no `initialize`.
      return { result: { protocolVersion: params.protocolVersion < '2026' ? params.protocolVersion : '2025-11-25', ...server } };
    case 'server/discover':
      return complete({ supportedVersions: ['2026-07-28'], ...server, ...cache });
    case 'tools/list':
      return complete({ tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }], ...cache });
    case 'tools/call':
      return complete({ content: [{ type: 'text', text: params.arguments.text }] });
    case 'ping':
      return { result: {} };
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}
