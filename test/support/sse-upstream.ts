import type { ServerResponse } from 'node:http';
import type { Message } from './legacy-upstream.js';
import { type SeenRequest, startUpstream, type Upstream } from './upstream.js';

export interface SseSession {
  readonly id: string;
  readonly stream: ServerResponse;
  /** In order of arrival. */
  readonly messages: (Message & { readonly result?: unknown })[];
}

export interface SseUpstream extends Upstream {
  /** All that were ever opened. */
  readonly sessions: SseSession[];
  /** Those whose stream is open. */
  readonly open: Set<SseSession>;
  /** What the `endpoint` event says; undefined: there is none. */
  endpoint: (id: string) => string | undefined;
  /** True: it was answered here. */
  special: (message: Message, session: SseSession, response: ServerResponse, request: SeenRequest) => boolean;
  /** True: the GET was answered here. */
  refuses: (response: ServerResponse) => boolean;
  say(session: SseSession, message: object): void;
}

/** A server of MCP 2024-11-05 over HTTP+SSE: `GET /sse`, and POSTs where its `endpoint` event says. */
export async function startSseUpstream(): Promise<SseUpstream> {
  const sessions: SseSession[] = [];
  const open = new Set<SseSession>();
  const upstream = await startUpstream((request, response) => {
    if (request.method === 'GET') {
      if (own.refuses(response)) return;
      const session = { id: `s${sessions.length + 1}`, stream: response, messages: [] };
      sessions.push(session);
      open.add(session);
      response.on('close', () => open.delete(session));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      const endpoint = own.endpoint(session.id);
      if (endpoint !== undefined) response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
      return;
    }
    const id = new URL(request.url, 'http://x').searchParams.get('session');
    const session = [...open].find((other) => other.id === id);
    if (session === undefined) return void response.writeHead(404).end('no such session');
    const message = JSON.parse(request.body.toString()) as Message;
    session.messages.push(message);
    if (own.special(message, session, response, request)) return;
    response.writeHead(202).end('Accepted');
    if (message.id === undefined || message.method === undefined) return;
    own.say(session, { id: message.id, ...answerTo(message, session) });
  });
  const own: SseUpstream = Object.defineProperties(
    {
      sessions,
      open,
      endpoint: (id: string) => `/messages/?session=${id}`,
      special: () => false,
      refuses: () => false,
      say: (session: SseSession, message: object) =>
        void session.stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`),
    },
    Object.getOwnPropertyDescriptors(upstream),
  ) as unknown as SseUpstream;
  return own;
}

function answerTo({ method }: Message, { id }: SseSession): object {
  if (method === 'initialize')
    return { result: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } } };
  if (method === 'tools/list') return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } };
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: `echo in ${id}` }] } };
  return { error: { code: -32601, message: 'no such method' } };
}
