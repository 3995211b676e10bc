// The conformance fixture as a program: MCP 2026-07-28 and the legacy revisions with sessions on one endpoint. Prints its URL.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { classifyInboundRequest, createMcpHandler, isInitializeRequest } from '@modelcontextprotocol/server';
import { createConformanceServer } from './create-server.js';
import { createEventStore } from './event-store.js';

const RETRY_MS = 500;
const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
const create = () => createConformanceServer(handler.notify);
const handler = createMcpHandler(create, { legacy: 'reject', onerror: (error) => console.error(error.message) });
const serveModern = toNodeHandler(handler);
const validHost = localhostHostValidation();
const validOrigin = localhostOriginValidation();

const server = createServer((request, response) => {
  if (!validHost(request, response) || !validOrigin(request, response)) return;
  serve(request, response).catch((error: unknown) => {
    console.error(error);
    if (!response.headersSent) refuse(response, 500, 'The fixture failed.');
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { readonly port: number };
  console.log(`listening on http://localhost:${port}/mcp`);
});
process.on('SIGTERM', () => process.exit(0));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
  if (isModern(request, body)) return serveModern(request as Parameters<typeof serveModern>[0], response, body);
  const id = one(request.headers['mcp-session-id']);
  const transport = id === undefined ? (isInitializeRequest(body) ? await begin() : undefined) : sessions.get(id);
  if (transport === undefined) return refuse(response, id === undefined ? 400 : 404, 'There is no such session.');
  await transport.handleRequest(request, response, body);
}

async function begin(): Promise<NodeStreamableHTTPServerTransport> {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: createEventStore(),
    retryInterval: RETRY_MS,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await create().connect(transport);
  return transport;
}

function isModern({ method = '', headers }: IncomingMessage, body: unknown): boolean {
  const version = one(headers['mcp-protocol-version']);
  const named = one(headers['mcp-method']);
  const inbound = classifyInboundRequest({
    httpMethod: method,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(named === undefined ? {} : { mcpMethodHeader: named }),
    body,
  });
  return inbound.kind !== 'legacy';
}

function one(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } });
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
