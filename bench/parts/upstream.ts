// The MCP server behind every proxy: the least that node:http can do. A subscription stays open; all else is one short JSON answer.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALL_ANSWER, LISTEN_EVENT } from '../messages.js';

const json = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(CALL_ANSWER))];
const discovered = '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}';
const events = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-cache'];

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.headers['mcp-method'] === 'subscriptions/listen') response.writeHead(200, events).write(LISTEN_EVENT);
    else if (request.headers['mcp-method'] === 'server/discover')
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(discovered);
    else response.writeHead(200, json).end(CALL_ANSWER);
  });
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => process.send?.({ port: (server.address() as AddressInfo).port }));
