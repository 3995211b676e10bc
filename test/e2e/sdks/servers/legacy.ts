// A server on SDK v1, which speaks legacy revisions alone, with the tool `echo`: `legacy.js stdio`, or `legacy.js http [PORT]`, which says its URL.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { listen } from '../../../support/upstream.js';

if (process.argv[2] === 'stdio') await make().connect(new StdioServerTransport());
else {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = createServer((request, response) => {
    void sessionOf(request, sessions).then((transport) => {
      if (transport === undefined) response.writeHead(404).end();
      else void transport.handleRequest(request, response);
    });
  });
  console.log(`listening on http://127.0.0.1:${await listen(server, Number(process.argv[3] ?? 0))}/mcp`);
}

function make(): McpServer {
  const server = new McpServer({ name: 'legacy', version: '1' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({ content: [{ type: 'text', text }] }));
  return server;
}

async function sessionOf(
  { headers }: IncomingMessage,
  sessions: Map<string, StreamableHTTPServerTransport>,
): Promise<StreamableHTTPServerTransport | undefined> {
  const id = headers['mcp-session-id'];
  if (typeof id === 'string') return sessions.get(id);
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (opened) => void sessions.set(opened, transport),
  });
  await make().connect(transport as Parameters<McpServer['connect']>[0]);
  return transport;
}
