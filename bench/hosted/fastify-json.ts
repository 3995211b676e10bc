// A bare Fastify JSON route: what an application without MCP would pay.
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { ANSWER_TEXT } from './answer-text.js';

const app = fastify({ logger: false });
app.post('/mcp', async (request) => {
  const { id } = request.body as { readonly id: number };
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text: ANSWER_TEXT }] } };
});
await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ port: (app.server.address() as AddressInfo).port });
