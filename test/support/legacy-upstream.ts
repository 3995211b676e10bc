import type { ServerResponse } from 'node:http';
import { type SeenRequest, startUpstream, type Upstream } from './upstream.js';

export interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/** Answers one request of a session; undefined: as the server does by itself. */
export type Special = (message: Message, response: ServerResponse, request: SeenRequest) => boolean;

export interface LegacyUpstream extends Upstream {
  /** Sessions that live, by id. */
  readonly sessions: Set<string>;
  special: Special;
  /** Open GET streams. */
  readonly streams: Set<ServerResponse>;
  /** How often a method came. */
  count(method: string): number;
  messages(method: string): readonly Message[];
}

/** An MCP server of revision 2025-11-25 over Streamable HTTP: it knows sessions, and answers `server/discover` with -32601. */
export async function startLegacyUpstream(capabilities: object = { tools: {} }): Promise<LegacyUpstream> {
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  const said: Message[] = [];
  let next = 1;
  const reply = (response: ServerResponse, status: number, message: object, headers: Record<string, string> = {}): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const upstream = await startUpstream((request, response) => {
    const session = request.headers['mcp-session-id'];
    const known = typeof session === 'string' && sessions.has(session);
    if (request.method === 'DELETE') {
      sessions.delete(String(session));
      return void response.writeHead(200).end();
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    const message = JSON.parse(request.body.toString()) as Message;
    said.push(message);
    const { id, method, params } = message;
    if (own.special(message, response, request)) return;
    if (method === undefined) return void response.writeHead(202).end();
    if (method === 'initialize') {
      const opened = `s${next++}`;
      sessions.add(opened);
      const result = { protocolVersion: params?.protocolVersion, capabilities, serverInfo: { name: 'legacy', version: '1' } };
      return reply(response, 200, { id, result }, { 'mcp-session-id': opened });
    }
    if (session === undefined) return reply(response, 400, { id, error: { code: -32601, message: 'no such method' } });
    if (!known) return reply(response, 404, { id: 'server-error', error: { code: -32001, message: 'Session not found' } });
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list')
      return reply(response, 200, { id, result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
    if (method === 'tools/call') return reply(response, 200, { id, result: { content: [{ type: 'text', text: `echo in ${session}` }] } });
    if (method.startsWith('resources/')) return reply(response, 200, { id, result: {} });
    reply(response, 200, { id, error: { code: -32601, message: 'no such method' } });
  });
  const own: LegacyUpstream = Object.defineProperties(
    {
      sessions,
      streams,
      special: () => false,
      count: (method: string) => said.filter((message) => message.method === method).length,
      messages: (method: string) => said.filter((message) => message.method === method),
    },
    Object.getOwnPropertyDescriptors(upstream),
  ) as unknown as LegacyUpstream;
  return own;
}

/** Writes one event. */
export function event(response: ServerResponse, message: object, id?: string): void {
  response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}
