// The limits at their real defaults: the five deadlines of arrival, and the 1 024th and 1 025th connection.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../../src/index.js';
import { rawExchange } from '../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const head = (path: string, length = PING.length): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const upstream = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}'));
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const folder = mkdtempSync(join(tmpdir(), 'portcullis-limits-'));
writeFileSync(
  join(folder, 'never.mjs'),
  "export const gate = { name: 'never', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => ({ decide: () => new Promise(() => undefined) }) };\n",
);

const gateway = createGateway(
  {
    listener: { port: 0 },
    ops: { enabled: false },
    gates: { never: { use: 'file:./never.mjs' } },
    runtimes: { server: { kind: 'proxied', url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp` } },
    routes: [
      { path: '/mcp', public: true, runtime: 'server' },
      { path: '/stuck/mcp', gates: ['never'], runtime: 'server' },
    ],
  },
  { folder },
);
await gateway.start();
const port = Number(new URL(gateway.url).port);

const within = (elapsed_ms: number, limit_ms: number): boolean => elapsed_ms >= limit_ms - 50 && elapsed_ms < limit_ms + 3000;
const every = (ms: number, text: string, times: number): (number | string)[] => Array.from({ length: times }, () => [ms, text]).flat();

const deadlines = await Promise.all([
  rawExchange(port, [], 20_000),
  rawExchange(port, ['POST /mcp HTTP/1.1\r\nHost: a\r\n', ...every(2000, 'A: 1\r\n', 10)], 20_000),
  rawExchange(port, [head('/mcp') + PING.slice(0, 4)], 20_000),
  rawExchange(port, [head('/mcp', 1000), ...every(2000, 'x', 10)], 20_000),
  rawExchange(port, [head('/stuck/mcp') + PING], 20_000),
]);
const expected = [
  ['read_timeout_ms of a head', 408, 5000],
  ['head_timeout_ms', 408, 10_000],
  ['read_timeout_ms of a body', 408, 5000],
  ['body_timeout_ms', 408, 10_000],
  ['gate_timeout_ms', 504, 10_000],
] as const;
for (const [i, [name, status, limit_ms]] of expected.entries()) {
  const answer = deadlines[i];
  console.log(`${name}: ${answer?.statuses.join(' ')} after ${Math.round(answer?.elapsed_ms ?? 0)} ms`);
  assert.deepEqual([answer?.statuses, answer?.end], [[status], 'closed'], name);
  assert.ok(within(answer?.elapsed_ms ?? 0, limit_ms), name);
}

const held: Socket[] = [];
for (let i = 0; i < 1024; i++) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  held.push(socket);
  await new Promise((resolve) => socket.once('connect', resolve));
}
const first = new Promise<string>((resolve) => held[0]?.once('data', (chunk) => resolve(chunk.toString('latin1'))));
held[0]?.write(head('/mcp') + PING);
assert.match(await first, /^HTTP\/1\.1 200 /);
const over = await rawExchange(port, [head('/mcp') + PING], 3000);
console.log(`1 024 connections are held and served; the 1 025th: "${over.text}" ${over.end}`);
assert.equal(over.text, '');
assert.notEqual(over.end, 'open');
held.pop()?.destroy();
await new Promise((resolve) => setTimeout(resolve, 200));
const again = await rawExchange(port, [head('/mcp').replace('Host', 'Connection: close\r\nHost') + PING], 3000);
assert.deepEqual(again.statuses, [200]);
for (const socket of held) socket.destroy();

await gateway.drain();
upstream.closeAllConnections();
upstream.close();
