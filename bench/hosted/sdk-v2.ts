// The official SDK v2 handler on node:http, as its documentation sets it up: no gate, no limit.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { ANSWER_TEXT } from './answer-text.js';

const inputSchema = fromJsonSchema<Record<string, unknown>>({
  type: 'object',
  properties: { location: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] }, days: { type: 'integer', minimum: 1 } },
  required: ['location'],
  additionalProperties: false,
});

const serve = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'bench', version: '1.0.0' });
    server.registerTool('get_weather', { description: 'The weather of a place.', inputSchema }, async () => ({
      content: [{ type: 'text', text: ANSWER_TEXT }],
    }));
    return server;
  }),
);
const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  void serve(request as Parameters<typeof serve>[0], response);
});
server.listen({ host: '127.0.0.1', port: 0 }, () => process.send?.({ port: (server.address() as AddressInfo).port }));
