import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { delay, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

describe('proxied: slow readers', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let answer: Answering;
  const events = { 'Content-Type': 'text/event-stream' };
  const head = (response: ServerResponse): ServerResponse => {
    response.writeHead(200, events).flushHeaders();
    return response;
  };
  const final = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const call = modernCall('tools/call', { name: 'slow' });

  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp`, { max_event_bytes: 1_000_000 });
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('a reader that stops pauses the upstream; memory stays bounded and every event arrives in order', async () => {
    const total = 20_000;
    let sent = 0;
    const filler = 'x'.repeat(1000);
    answer = (_request, response) => {
      head(response);
      const pump = (): void => {
        while (sent < total) {
          if (!response.write(`data: {"jsonrpc":"2.0","method":"n","params":{"i":${sent++},"f":"${filler}"}}\n\n`))
            return void response.once('drain', pump);
        }
        response.end(`data: ${final}\n\n`);
      };
      pump();
    };
    const exchange = bench.send(call);
    exchange.hold();
    await exchange.head;
    let stalled = -1;
    for (let still = 0; still < 5; still++) {
      if (sent !== stalled) still = 0;
      stalled = sent;
      await delay(50);
    }
    assert.ok(stalled < total, `the upstream was read to its end: ${stalled}`);
    await delay(100);
    assert.equal(sent, stalled);
    assert.ok(exchange.peak_bytes <= 16_384 + 2_000, String(exchange.peak_bytes));
    exchange.flow();
    assert.equal((await exchange.done).reason, 'source');
    assert.equal(exchange.writes.length, total + 1);
    const order = exchange.writes.slice(0, total).map((text) => Number(/"i":(\d+)/.exec(text)?.[1]));
    assert.ok(order.every((value, index) => value === index));
  });

  it('a large JSON answer waits for a slow reader too', async () => {
    let wrote = 0;
    answer = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"jsonrpc":"2.0","id":1,"result":"');
      const pump = (): void => {
        while (wrote < 40_000_000) {
          wrote += 100_000;
          if (!response.write('x'.repeat(100_000))) return void response.once('drain', pump);
        }
        response.end('"}');
      };
      pump();
    };
    const exchange = bench.send(call);
    exchange.hold();
    await exchange.head;
    await delay(200);
    assert.ok(wrote < 40_000_000, String(wrote));
    assert.ok(exchange.peak_bytes < 200_000, String(exchange.peak_bytes));
    exchange.flow();
    const result = await exchange.done;
    assert.deepEqual([result.reason, result.body.length], ['source', 40_000_036]);
  });
});
