import type { ServerResponse } from 'node:http';
import { type SeenRequest, startUpstream, type Upstream } from './upstream.js';

type Json = ReturnType<typeof JSON.parse>;

const TOOLS = ['echo', 'slow', 'fail', 'rpc', 'crash', 'count', 'whoami'];

/**
 * Starts an MCP server of both eras on loopback, at `/mcp`; its tools do what their names say: `echo`; `slow` waits `ms`; `fail` is an `isError` result; `rpc` a JSON-RPC error with `code`; `crash` a 500 that is
 * not MCP; `count` tells progress `n` times, `ms` apart; `whoami` returns the headers it got. GET streams and listens stay open.
 */
export function startMcpUpstream(): Promise<Upstream> {
  return startUpstream(answer);
}

function answer(request: SeenRequest, response: ServerResponse): void {
  if (request.url !== '/mcp') return void response.writeHead(404).end();
  if (request.method === 'GET') return openStream(response, '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
  if (request.method === 'DELETE') return void response.writeHead(200).end();
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const message: Json = JSON.parse(request.body.toString());
  if (message.id === undefined) return void response.writeHead(202).end();
  const reply = (result: object, headers: Readonly<Record<string, string>> = {}): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } });
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
  };
  switch (message.method) {
    case 'initialize':
      return reply(
        { protocolVersion: message.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '0' } },
        { 'mcp-session-id': 'upstream-session' },
      );
    case 'server/discover':
      return reply({
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        serverInfo: { name: 'test', version: '0' },
        ttlMs: 0,
        cacheScope: 'private',
      });
    case 'tools/list':
      return reply({ tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })) });
    case 'subscriptions/listen':
      return openStream(
        response,
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': message.id } },
        }),
      );
    case 'tools/call':
      return callTool(message, request, response, reply);
    default:
      return reply({});
  }
}

function callTool(message: Json, request: SeenRequest, response: ServerResponse, reply: (result: object) => void): void {
  const { name, arguments: args = {} } = message.params;
  switch (name) {
    case 'slow': {
      const timer = setTimeout(() => reply(text('slow')), args.ms);
      return void response.on('close', () => clearTimeout(timer));
    }
    case 'fail':
      return reply({ ...text('it failed'), isError: true });
    case 'rpc': {
      const error = { code: args.code ?? -32602, message: 'Unknown tool.' };
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    }
    case 'crash':
      return void response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Internal Server Error</h1>');
    case 'count':
      return count(message, response);
    case 'whoami':
      return reply(text(JSON.stringify(request.headers)));
    default:
      return reply(text(String(args.text ?? name)));
  }
}

function count(message: Json, response: ServerResponse): void {
  const { n, ms } = message.params.arguments;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  let done = 0;
  const timer = setInterval(() => {
    done += 1;
    const params = { progressToken: message.params._meta.progressToken ?? 0, progress: done, total: n };
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
    if (done < n) return;
    clearInterval(timer);
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...text('counted') } })}\n\n`);
  }, ms);
  response.on('close', () => clearInterval(timer));
}

function openStream(response: ServerResponse, first: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${first}\n\n`);
}

const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });
