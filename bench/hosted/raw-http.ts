// The floor: node:http, JSON.parse, JSON.stringify, no check of anything.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANSWER_TEXT } from './answer-text.js';

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly id: number };
    const result = { resultType: 'complete', content: [{ type: 'text', text: ANSWER_TEXT }] };
    const body = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body))]).end(body);
  });
});
server.listen({ host: '127.0.0.1', port: 0 }, () => process.send?.({ port: (server.address() as AddressInfo).port }));
