// An MCP server on loopback that answers as a test says, for tests of the client.
import type { ServerResponse } from 'node:http';
import { type SeenRequest, startUpstream, type Upstream } from './upstream.js';

export type Json = ReturnType<typeof JSON.parse>;

export interface Heard extends Upstream {
  /** The messages, in the order they came. */
  readonly messages: Json[];
}

/** What to do with one message: a result, an error, or the answer by hand. */
export type Reply = (message: Json, request: SeenRequest, response: ServerResponse) => Json | undefined;

/** Starts it. A returned value with `error` or `result` is answered whole, with a length; undefined: `reply` has answered. */
export async function startAnswers(reply: Reply): Promise<Heard> {
  const messages: Json[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.method !== 'POST') {
      reply({ method: request.method }, request, response);
      return void (response.headersSent || response.writeHead(405).end());
    }
    const message = JSON.parse(request.body.toString());
    messages.push(message);
    const answer = reply(message, request, response);
    if (answer === undefined) return;
    if (message.id === undefined) return void response.writeHead(202).end();
    sendJson(response, 200, { jsonrpc: '2.0', id: message.id, ...answer });
  });
  return Object.assign(upstream, { messages });
}

/** Answers JSON with its length, so that the connection can be used again. */
export function sendJson(response: ServerResponse, status: number, body: Json, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers })
    .end(text);
}

/** Begins an event stream; returns what writes one message. */
export function sendEvents(response: ServerResponse): (message: Json) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return (message) => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

/** A modern server: discovers, lists `tools`, and answers calls with their arguments as text, unless `other` does. */
export function modern(
  other: Reply = () => undefined,
  tools: readonly Json[] = [{ name: 'echo', inputSchema: { type: 'object' } }],
): Reply {
  return (message, request, response) => {
    const own = other(message, request, response);
    if (own !== undefined || response.headersSent) return own === ANSWERED ? undefined : own;
    if (message.method === 'server/discover') return { result: DISCOVERED };
    if (message.method === 'tools/list') return { result: { resultType: 'complete', tools } };
    const text = JSON.stringify(message.params?.arguments ?? {});
    return { result: { resultType: 'complete', content: [{ type: 'text', text }] } };
  };
}

/** A legacy server with a session: it knows nothing before `initialize`. */
export function legacy(other: Reply = () => undefined, revision = '2025-11-25'): Reply {
  return (message, request, response) => {
    const own = other(message, request, response);
    if (own !== undefined || response.headersSent) return own === ANSWERED ? undefined : own;
    if (message.method === 'initialize') {
      const result = { protocolVersion: revision, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } };
      sendJson(response, 200, { jsonrpc: '2.0', id: message.id, result }, { 'mcp-session-id': 's-1' });
      return undefined;
    }
    if (request.method !== 'POST') return undefined;
    if (request.headers['mcp-session-id'] === undefined) {
      sendJson(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: no session' } });
      return undefined;
    }
    if (message.id === undefined) return {};
    if (message.method === 'tools/list') return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } };
    return { result: { content: [{ type: 'text', text: JSON.stringify(message.params?.arguments ?? {}) }] } };
  };
}

/** Returned by a reply that answers later, by hand. */
export const ANSWERED = Symbol('answered') as unknown as Json;

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  instructions: 'Be kind.',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'new', version: '2' } },
};
