import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createFakeExchange } from '../../support/fake-exchange.js';
import { delay, idle, legacyBare, modernCall, openProxied } from '../../support/proxied-bench.js';
import { closeServer, listen, startUpstream } from '../../support/upstream.js';

const ok = '{"jsonrpc":"2.0","id":1,"result":{}}';
const json = { 'Content-Type': 'application/json' };

describe('proxied: cancel and bounds', () => {
  it('a client that leaves before the upstream’s head aborts the upstream, 200 times', async () => {
    const upstream = await startUpstream(() => {});
    const bench = await openProxied(`${upstream.url}/mcp`);
    for (let round = 0; round < 4; round++) {
      const exchanges = Array.from({ length: 50 }, () => bench.send(modernCall('tools/call', { name: 'slow' })));
      while (upstream.seen.length < (round + 1) * 50) await delay(5);
      for (const exchange of exchanges) exchange.cancel('client');
      await upstream.aborted((round + 1) * 50);
    }
    await idle(bench.runtime);
    assert.equal(upstream.seen.length, 200);
    assert.deepEqual(bench.log.lines, []);
    assert.equal(bench.runtime.health, 'ready');
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('a client that leaves in mid-stream or mid-body aborts the upstream', async () => {
    const upstream = await startUpstream((request, response) => {
      if (request.headers['mcp-name'] === 'events')
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: {"a":1}\n\n');
      else response.writeHead(200, json).write('{"jsonrpc"');
    });
    const bench = await openProxied(`${upstream.url}/mcp`);
    const events = bench.send(modernCall('tools/call', { name: 'events' }));
    await events.wrote(1);
    events.cancel('client');
    const body = bench.send(modernCall('tools/call', { name: 'json' }));
    while (upstream.seen.length < 2) await delay(5);
    body.cancel('deadline');
    await upstream.aborted(2);
    await idle(bench.runtime);
    assert.deepEqual(bench.log.lines, []);
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('a call whose client left before, while it waits for a connection or while one is opened never reaches the upstream', async () => {
    const upstream = await startUpstream((_request, response) => void setTimeout(() => response.writeHead(200, json).end(ok), 50));
    const bench = await openProxied(`${upstream.url}/mcp`, { connections: 1, max_waiting: 2 });
    const gone = createFakeExchange();
    gone.cancel('client');
    bench.runtime.handle(modernCall('ping'), gone);
    const opening = bench.send(modernCall('ping'));
    opening.cancel('client');
    const first = bench.send(modernCall('ping'));
    const waiting = bench.send(modernCall('ping'));
    waiting.cancel('client');
    const second = bench.send(modernCall('ping'));
    assert.deepEqual([(await first.done).by, (await second.done).by], ['respond', 'respond']);
    assert.equal(upstream.seen.length, 2);
    assert.equal(upstream.connection_count, 1);
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('one more than connections and max_waiting is OVERLOADED; a stream counts as a call does', async () => {
    const upstream = await startUpstream((request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      else if (request.headers['mcp-method'] === 'ping') response.writeHead(200, json).end(ok);
    });
    const bench = await openProxied(`${upstream.url}/mcp`, { connections: 3, max_waiting: 1, max_streams: 2, max_running_per_caller: 3 });
    const streams = [0, 1].map(() => bench.send(legacyBare('get_stream')));
    await Promise.all(streams.map((stream) => stream.head));
    assert.equal((await bench.send(modernCall('ping')).done).by, 'respond');
    const held = bench.send(modernCall('tools/call', { name: 'slow' }));
    const waiting = bench.send(modernCall('ping'));
    assert.equal(bench.runtime.stats().queued, 1);
    const refused = await bench.send(modernCall('ping')).done;
    assert.deepEqual([refused.status, refused.error?.code], [503, 'OVERLOADED']);
    streams[0]?.cancel('client');
    assert.equal((await waiting.done).by, 'respond');
    for (const exchange of [...streams, held]) exchange.cancel('client');
    await idle(bench.runtime);
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('far more than 128 quiet streams stay open beside calls, and none is cut by a timer', async () => {
    const upstream = await startUpstream((request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      else setTimeout(() => response.writeHead(200, json).end(ok), 1500);
    });
    const bench = await openProxied(`${upstream.url}/mcp`);
    const streams = Array.from({ length: 400 }, () => bench.send(legacyBare('get_stream')));
    await Promise.all(streams.map((stream) => stream.head));
    assert.equal((await bench.send(modernCall('tools/call', { name: 'slow' })).done).by, 'respond');
    assert.equal(streams.filter((stream) => stream.ended).length, 0);
    assert.equal(bench.runtime.stats().running, 400);
    for (const stream of streams) stream.cancel('client');
    await upstream.aborted(400);
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('close waits for what runs, ends the rest at its deadline and refuses what waits', async () => {
    const upstream = await startUpstream((request, response) => {
      if (request.headers['mcp-name'] === 'short') setTimeout(() => response.writeHead(200, json).end(ok), 100);
    });
    const bench = await openProxied(`${upstream.url}/mcp`, { connections: 2, max_running_per_caller: 2 });
    const short = bench.send(modernCall('tools/call', { name: 'short' }));
    const long = bench.send(modernCall('tools/call', { name: 'long' }));
    const waiting = bench.send(modernCall('tools/call', { name: 'short' }));
    while (upstream.seen.length < 2) await delay(5);
    await bench.runtime.close(400);
    assert.equal((await short.done).by, 'respond');
    assert.equal((await long.done).error?.code, 'DRAINING');
    assert.equal((await waiting.done).error?.code, 'DRAINING');
    await upstream.close();
  });

  it('a hung connect is bounded by the caller: its place is held until the connect ends, and others go on', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
    const port = await listen(server);
    const bench = await openProxied(`https://127.0.0.1:${port}/mcp`);
    const exchange = bench.send(modernCall('ping'));
    while (sockets.size < 1) await delay(5);
    exchange.cancel('deadline');
    await bench.runtime.close(50);
    await closeServer(server, sockets);
    assert.deepEqual(bench.log.lines, []);
  });
});
