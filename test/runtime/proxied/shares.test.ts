import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../support/e2e/until.js';
import { get, openFront } from '../../support/http-front.js';
import { idle, legacyBare, modernCall, openProxied } from '../../support/proxied-bench.js';
import { type SeenRequest, startUpstream } from '../../support/upstream.js';

const RESULT = '{"jsonrpc":"2.0","id":1,"result":{}}';

/** An upstream that answers when it is told to; its answers are held back in order. */
async function holding() {
  const held: (() => void)[] = [];
  const upstream = await startUpstream((request: SeenRequest, response) => {
    if (request.headers['mcp-method'] === 'subscriptions/listen' || request.method === 'GET')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    else held.push(() => void response.writeHead(200, { 'content-type': 'application/json' }).end(RESULT));
  });
  const release = async (): Promise<void> => {
    await until('a call is at the upstream', () => held.length > 0);
    held.shift()?.();
  };
  return { upstream, held, release };
}

const as = (principal: string) => modernCall('tools/call', { name: 'x' }, { identity: { principal } });

describe('proxied: shares of callers', () => {
  it('one caller with many open calls keeps nobody out: its own newest call is refused', async () => {
    const { upstream, release } = await holding();
    const bench = await openProxied(`${upstream.url}/mcp`, { connections: 2, max_running_per_caller: 2, max_waiting: 3 });
    const noisy = Array.from({ length: 6 }, () => bench.send(as('noisy')));
    assert.equal((await (noisy[5] as (typeof noisy)[0]).done).error?.code, 'OVERLOADED');
    const quiet = bench.send(as('quiet'));
    assert.equal((await (noisy[4] as (typeof noisy)[0]).done).error?.code, 'OVERLOADED');
    assert.equal(quiet.ended, false);
    await until('two calls run', () => upstream.seen.length === 2);
    await release();
    await until('the quiet call runs next', () => upstream.seen.length === 3);
    for (let left = 4; left > 0; left--) await release();
    assert.equal((await quiet.done).by, 'respond');
    await idle(bench.runtime);
    assert.deepEqual(
      bench.told.filter((line) => line.startsWith('limited')),
      [...Array(3).fill('limited /alpha/mcp wait'), ...Array(2).fill('limited /alpha/mcp call')],
    );
    await bench.runtime.close(0);
    await upstream.close();
  });

  it('by default one caller has half of the connections; those whom nobody identified are their addresses', async () => {
    const { upstream, held, release } = await holding();
    const bench = await openProxied(`${upstream.url}/mcp`, { connections: 4 });
    for (let i = 0; i < 4; i++) bench.send(modernCall('tools/call', { name: 'x' }));
    await until('two run', () => held.length === 2);
    assert.deepEqual([bench.runtime.stats().running, bench.runtime.stats().queued], [2, 2]);
    bench.send(as('other'));
    await until('the other runs', () => held.length === 3);
    for (let left = 5; left > 0; left--) await release();
    await idle(bench.runtime);
    await bench.runtime.close(0);
    await upstream.close();
  });

  it('streams hold at most max_streams connections, and give their places back on every way out', async () => {
    const { upstream, release } = await holding();
    const bench = await openProxied(`${upstream.url}/mcp`, { connections: 4 });
    for (let round = 0; round < 5; round++) {
      const streams = [bench.send(modernCall('subscriptions/listen')), bench.send(legacyBare('get_stream'))];
      await Promise.all(streams.map(({ head }) => head));
      assert.equal((await bench.send(modernCall('subscriptions/listen')).done).error?.code, 'TOO_MANY_STREAMS');
      const call = bench.send(as('other'));
      await release();
      assert.equal((await call.done).by, 'respond');
      for (const stream of streams) stream.cancel('client');
      await idle(bench.runtime);
    }
    assert.equal(bench.told.filter((line) => line === 'refused /alpha/mcp limit').length, 5);
    await bench.runtime.close(0);
    await upstream.close();
  });
});

describe('plain http: shares of callers', () => {
  it('requests wait for their turn, are refused beyond max_waiting, and give their places back', async () => {
    const held: (() => void)[] = [];
    const upstream = await startUpstream((_request, response) => void held.push(() => response.end('ok')));
    const front = await openFront(upstream.url, { connections: 2, max_waiting: 1 });
    const first = get(front.port, '/console/1');
    await until('one is at the service', () => held.length === 1);
    const second = get(front.port, '/console/2');
    await until('the second waits', () => front.told.lines.includes('limited /console wait'));
    const third = await get(front.port, '/console/3');
    assert.equal(third.status, 503);
    assert.match(third.headers['retry-after'] ?? '', /^[1-5]$/);
    assert.equal(held.length, 1);
    held.shift()?.();
    assert.equal((await first).status, 200);
    await until('the second is at the service', () => held.length === 1);
    held.shift()?.();
    assert.equal((await second).status, 200);
    await front.close();
    await upstream.close();
  });
});
