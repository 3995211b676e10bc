import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { modernCall, openProxied } from '../../support/proxied-bench.js';
import { closeServer, listen, startUpstream } from '../../support/upstream.js';

describe('proxied: no answer', () => {
  it('a closed port is UPSTREAM_UNREACHABLE; after three the runtime is degraded, and ready again after an answer', async () => {
    const upstream = await startUpstream(
      (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}'),
    );
    const idle = createServer();
    const port = await listen(idle);
    await closeServer(idle, []);
    const bench = await openProxied(`http://127.0.0.1:${port}/mcp`);
    for (let i = 0; i < 3; i++) {
      assert.equal(bench.runtime.health, 'ready');
      const result = await bench.send(modernCall('ping')).done;
      assert.deepEqual([result.by, result.status, result.error?.code], ['fail', 502, 'UPSTREAM_UNREACHABLE']);
      assert.equal(JSON.stringify([result.error?.message, result.error?.data]).includes('127.0.0.1'), false);
    }
    assert.equal(bench.runtime.health, 'degraded');
    assert.deepEqual(bench.told, ['answered alpha error', 'answered alpha error', 'answered alpha error']);
    assert.deepEqual(bench.log.lines[0]?.fields, {
      route: '/alpha/mcp',
      request_id: 'test-request',
      code: 'UPSTREAM_UNREACHABLE',
      reason: 'ECONNREFUSED',
    });
    const again = createServer();
    const sockets = new Set<Socket>();
    again.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n{"jsonrpc":"2.0","id":1,"result":{}}'),
      );
    });
    await new Promise<void>((resolve) => again.listen(port, '127.0.0.1', resolve));
    assert.equal((await bench.send(modernCall('ping')).done).by, 'respond');
    assert.equal(bench.runtime.health, 'ready');
    await bench.runtime.close(1000);
    assert.equal(bench.runtime.health, 'stopped');
    assert.equal((await bench.send(modernCall('ping')).done).error?.code, 'DRAINING');
    await closeServer(again, sockets);
    await upstream.close();
  });

  it('a reset after the call was sent is UPSTREAM_ENDED; what is not HTTP, an endless head or a 101 is UPSTREAM_BROKEN, never a hang', async () => {
    const cases: [string, string][] = [
      ['', 'UPSTREAM_ENDED'],
      ['SSH-2.0-OpenSSH\r\n', 'UPSTREAM_BROKEN'],
      ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'UPSTREAM_BROKEN'],
      [`HTTP/1.1 200 OK\r\n${`X-A: ${'a'.repeat(1000)}\r\n`.repeat(40)}\r\n`, 'UPSTREAM_BROKEN'],
      ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'UPSTREAM_BROKEN'],
    ];
    for (const [bytes, expected] of cases) {
      const sockets = new Set<Socket>();
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.once('data', () => (bytes === '' ? socket.resetAndDestroy() : socket.write(bytes)));
      });
      const port = await listen(server);
      const bench = await openProxied(`http://127.0.0.1:${port}/mcp`);
      assert.equal((await bench.send(modernCall('ping')).done).error?.code, expected, bytes.slice(0, 40));
      await bench.runtime.close(1000);
      await closeServer(server, sockets);
    }
  });

  it('an interim answer is ignored', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
    });
    const bench = await openProxied(`${upstream.url}/mcp`);
    assert.equal((await bench.send(modernCall('ping')).done).by, 'respond');
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('URLs that are not an upstream are refused at start', async () => {
    for (const url of ['ftp://x/', 'x', 'http://user:secret@x/', 'http://x/#a']) {
      await assert.rejects(
        openProxied(url),
        (error: Error) => error.message.startsWith('runtimes.alpha.url: must') && !error.message.includes('secret'),
      );
    }
  });

  it('an event of more than 4 096 lines ends the stream with an error event, or the call of a client that takes JSON only', async () => {
    const final = '{"jsonrpc":"2.0","id":1,"result":{}}';
    let body = '';
    const upstream = await startUpstream(
      (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(body),
    );
    const bench = await openProxied(`${upstream.url}/mcp`);
    const call = modernCall('tools/call', { name: 'x' });
    const lines = (count: number): string => `${'data:\n'.repeat(count - 1)}data: ${final}\n\n`;
    for (const accepts_events of [true, false]) {
      body = lines(4096);
      assert.equal((await bench.send(call, { accepts_events }).done).outcome, 'ok');
      body = lines(4097);
      const exchange = bench.send(call, { accepts_events });
      const result = await exchange.done;
      const code = accepts_events ? JSON.parse(exchange.writes[0]?.slice(6) ?? '{}').error.data.code : result.error?.code;
      assert.equal(code, 'UPSTREAM_BROKEN');
    }
    await bench.runtime.close(1000);
    await upstream.close();
  });
});
