// A server on SDK v2 with the tool `echo`: `modern.js reject [PORT]` speaks 2026-07-28 alone, `modern.js stateless` legacy revisions too. It says its URL.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { listen } from '../../../support/upstream.js';

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const create = (): McpServer => {
  const server = new McpServer({ name: 'modern', version: '1' });
  server.registerTool('echo', { inputSchema: fromJsonSchema<{ readonly text: string }>(schema) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
};
const serve = toNodeHandler(createMcpHandler(create, { legacy: process.argv[2] === 'reject' ? 'reject' : 'stateless' }));
const server = createServer((request, response) => void serve(request as Parameters<typeof serve>[0], response));
console.log(`listening on http://127.0.0.1:${await listen(server, Number(process.argv[3] ?? 0))}/mcp`);
