import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Log } from '../../src/contract/log.js';
import { createGateway } from '../../src/index.js';

const nothing = (): void => undefined;

test('telemetry.log.access writes one line for each request, and none without it', async () => {
  const upstream = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}'));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
  try {
    for (const access of [true, false]) {
      const lines: Readonly<Record<string, unknown>>[] = [];
      const log: Log = {
        debug: nothing,
        info: (fields, text) => void (text === 'request' && lines.push(fields)),
        warn: nothing,
        error: nothing,
        child: () => log,
      };
      const config = {
        listener: { port: 0 },
        ops: { enabled: false },
        runtimes: { u: { kind: 'proxied' as const, url } },
        routes: [{ path: '/mcp', public: true, runtime: 'u' }],
        telemetry: { log: { access } },
      };
      const gateway = createGateway(config, { log });
      await gateway.start();
      const answer = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      });
      await answer.text();
      await gateway.drain();
      const told = lines.map(({ milliseconds, ...line }) => ({ ...line, timed: typeof milliseconds === 'number' }));
      const request_id = answer.headers.get('x-request-id');
      const line = {
        request_id,
        route: '/mcp',
        method: 'ping',
        tool: undefined,
        revision: '2025-03-26',
        outcome: 'ok',
        rpc_code: undefined,
        timed: true,
      };
      assert.deepEqual(told, access ? [line] : []);
    }
  } finally {
    upstream.closeAllConnections();
    upstream.close();
  }
});
