import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ProxiedOptions } from '../../../src/runtime/proxied/proxied.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import { type LegacyUpstream, type Message, startLegacyUpstream } from '../../support/legacy-upstream.js';
import { BRIDGE, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';

const until = (done: () => boolean): Promise<void> => untilNamed(done.toString(), done);

describe('proxied: a verdict of the era that turns out wrong', () => {
  let upstream: LegacyUpstream;
  let bench: ProxiedBench;
  let behind: 'modern' | 'nobody' | 'legacy';

  beforeEach(async () => {
    upstream = await startLegacyUpstream();
    upstream.special = (message, response) => behind !== 'legacy' && (behind === 'modern' ? modern(message, response) : nobody(response));
  });
  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });
  const open = async (options: Partial<ProxiedOptions> = {}): Promise<void> => {
    bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE, ...options });
  };
  const call = () => bench.send(modernCall('tools/call', { name: 'echo', arguments: {} })).done;
  const verdict = () => bench.runtime.era.verdict;

  it('a 404 of what stands before a modern server is corrected by the session that the server refuses', async () => {
    behind = 'nobody';
    await open();
    await until(() => verdict() === 'legacy');
    behind = 'modern';
    assert.equal((await call()).error?.code, 'ERA_UNAVAILABLE');
    await until(() => verdict() === 'modern');
    assert.equal((await call()).status, 200);
  });

  it('a modern server that was away for a moment is modern again, though that is a second change in 60 s', async () => {
    behind = 'modern';
    await open();
    await until(() => verdict() === 'modern');
    behind = 'nobody';
    await call();
    await until(() => verdict() === 'legacy');
    behind = 'modern';
    await call();
    await until(() => verdict() === 'modern');
    assert.equal((await call()).status, 200);
  });

  it('refused sessions ask the server once in a while, not once each', async () => {
    behind = 'nobody';
    await open();
    await until(() => verdict() === 'legacy');
    for (let i = 0; i < 10; i++) assert.equal((await call()).error?.code, 'ERA_UNAVAILABLE');
    assert.equal(upstream.count('server/discover'), 2);
    assert.equal(verdict(), 'legacy');
  });

  it('protocol: legacy asks nothing, and says that a server without sessions is of another era', async () => {
    behind = 'modern';
    await open({ protocol: 'legacy' });
    assert.equal((await call()).error?.code, 'ERA_UNAVAILABLE');
    assert.equal(upstream.count('server/discover'), 0);
  });

  it('a legacy server that was upgraded gets modern calls as they are, from the second call after era_ttl_ms on', async () => {
    behind = 'legacy';
    await open({ bridge: { ...BRIDGE, era_ttl_ms: 1 } });
    assert.match((await call()).body.toString(), /echo in s1/);
    behind = 'modern';
    await until(() => {
      void call();
      return verdict() === 'modern';
    });
    assert.match((await call()).body.toString(), /"as it is"/);
  });
});

/** A server of 2026-07-28 that refuses sessions without JSON-RPC. */
function modern({ id, method }: Message, response: ServerResponse): boolean {
  if (method === 'initialize') return nobody(response);
  const result = method === 'server/discover' ? { supportedVersions: ['2026-07-28'] } : { said: 'as it is' };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  return true;
}

function nobody(response: ServerResponse): boolean {
  response.writeHead(404, { 'content-type': 'text/plain' }).end('no such host');
  return true;
}
