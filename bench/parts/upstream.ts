// The MCP server behind every proxy: the least that node:http can do. A subscription stays open; all else is one short JSON answer. At `/ids` the answer has the
// id of its request, which is not the client's where the gateway makes the request.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALL_ANSWER, LISTEN_EVENT } from '../messages.js';

const json = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(CALL_ANSWER))];
const discovered = '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}';
const events = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-cache'];

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  let body = '';
  if (request.url !== '/ids') request.resume();
  else request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    if (body !== '') return answerTo(body, response);
    if (request.headers['mcp-method'] === 'subscriptions/listen') response.writeHead(200, events).write(LISTEN_EVENT);
    else if (request.headers['mcp-method'] === 'server/discover')
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(discovered);
    else response.writeHead(200, json).end(CALL_ANSWER);
  });
});

function answerTo(body: string, response: ServerResponse): void {
  const id = /"id":(\d+)/.exec(body)?.[1];
  if (id === undefined) return void response.writeHead(202).end();
  if (body.includes('"server/discover"'))
    return void response.writeHead(200, { 'Content-Type': 'application/json' }).end(discovered.replace('"id":1', `"id":${id}`));
  const session = body.includes('"initialize"') ? { 'Mcp-Session-Id': 'bench' } : {};
  response.writeHead(200, { 'Content-Type': 'application/json', ...session }).end(CALL_ANSWER.replace('"id":17', `"id":${id}`));
}

server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => process.send?.({ port: (server.address() as AddressInfo).port }));
