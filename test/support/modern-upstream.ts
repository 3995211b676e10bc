import type { ServerResponse } from 'node:http';
import { event, type Message, type Special } from './legacy-upstream.js';
import { startUpstream, type Upstream } from './upstream.js';

export interface ModernUpstream extends Upstream {
  special: Special;
  /** Open `subscriptions/listen` streams. */
  readonly streams: Map<ServerResponse, Message>;
  count(method: string): number;
  messages(method: string): readonly Message[];
  /** Sends a notification on every open subscription. */
  tell(method: string, params?: object): void;
}

/** An MCP server that serves revision 2026-07-28 alone over Streamable HTTP: it answers `initialize` with -32022. */
export async function startModernUpstream(): Promise<ModernUpstream> {
  const streams = new Map<ServerResponse, Message>();
  const said: Message[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    const message = JSON.parse(request.body.toString()) as Message;
    said.push(message);
    const { id, method, params } = message;
    const reply = (status: number, answer: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    if (own.special(message, response, request)) return;
    if (request.headers['mcp-protocol-version'] !== '2026-07-28' || method === 'initialize')
      return reply(400, { error: { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28'] } } });
    if (request.headers['mcp-method'] !== method) return reply(400, { error: { code: -32020, message: 'Header mismatch' } });
    if (method === 'server/discover') return reply(200, { result: DISCOVERED });
    if (method === 'tools/list') {
      const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
      return reply(200, { result: { resultType: 'complete', tools, ttlMs: 1000, cacheScope: 'public' } });
    }
    if (method === 'tools/call') {
      const content = [{ type: 'text', text: JSON.stringify(params?.arguments) }];
      return reply(200, { result: { resultType: 'complete', content } });
    }
    if (method === 'subscriptions/listen') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      streams.set(response, message);
      response.on('close', () => streams.delete(response));
      const { notifications } = params as { readonly notifications: object };
      return tell(response, id, 'notifications/subscriptions/acknowledged', { notifications });
    }
    reply(404, { error: { code: -32601, message: 'Method not found' } });
  });
  const own: ModernUpstream = Object.defineProperties(
    {
      streams,
      special: () => false,
      count: (method: string) => said.filter((message) => message.method === method).length,
      messages: (method: string) => said.filter((message) => message.method === method),
      tell: (method: string, params?: object) => {
        for (const [response, { id }] of streams) tell(response, id, method, params);
      },
    },
    Object.getOwnPropertyDescriptors(upstream),
  ) as unknown as ModernUpstream;
  return own;
}

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, extensions: { 'x.example/y': {} } },
  instructions: 'Ask twice.',
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '2' } },
};

function tell(response: ServerResponse, id: Message['id'], method: string, params: object = {}): void {
  event(response, { method, params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
}
