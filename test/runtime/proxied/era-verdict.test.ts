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

  it('calls that run or are held when the server becomes modern finish in their session; new ones go on as they are', async () => {
    behind = 'legacy';
    await open({ bridge: { ...BRIDGE, era_ttl_ms: 1 } });
    let running: { readonly id: unknown; readonly response: ServerResponse } | undefined;
    const own = upstream.special;
    upstream.special = (message, response, request) => {
      const inSession = request.headers['mcp-session-id'] !== undefined;
      if (message.method === undefined && inSession)
        running?.response.end(`data: {"jsonrpc":"2.0","id":${running.id},"result":{"held":true}}\n\n`);
      if (message.method !== 'tools/call' || !inSession) return !inSession && own(message, response, request);
      running = { id: message.id, response };
      const ask = { jsonrpc: '2.0', id: 'q', method: 'roots/list' };
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(ask)}\n\n`);
      return true;
    };
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { roots: {} } };
    const alice = { identity: { principal: 'alice' } };
    const asks = (more: object = {}) => bench.send(modernCall('tools/call', { name: 'ask', _meta, ...more }, alice));
    const { result } = JSON.parse((await asks().done).body.toString());
    behind = 'modern';
    await until(() => {
      void bench.send(modernCall('tools/list', {}, alice));
      return verdict() === 'modern';
    });
    assert.deepEqual([bench.runtime.era.held, bench.runtime.era.leased], [1, 0]);
    assert.match((await call()).body.toString(), /as it is/);
    const done = await asks({ requestState: result.requestState, inputResponses: { q1: { roots: [] } } }).done;
    assert.match(done.body.toString(), /"held":true/);
    assert.ok(bench.told.includes('session alpha flip'));
    assert.equal(bench.runtime.era.held, 0);
  });

  it('a server that changes twice in a minute counts as legacy for now, and says why', async () => {
    behind = 'modern';
    await open({ bridge: { ...BRIDGE, era_ttl_ms: 1 } });
    await until(() => verdict() === 'modern');
    upstream.special = (message, response) => behind === 'modern' && message.method !== 'initialize' && modern(message, response);
    behind = 'legacy';
    await until(() => {
      void call();
      return verdict() === 'legacy';
    });
    behind = 'modern';
    await until(() => {
      void call();
      return bench.told.filter((line) => line === 'flipped alpha').length === 2;
    });
    assert.deepEqual(
      [verdict(), bench.runtime.era.reason],
      ['legacy', 'it changes its era back and forth, as servers do in the middle of an upgrade'],
    );
    assert.ok(bench.log.lines.some(({ message }) => message.includes('back and forth')));
  });

  it('a server that goes on saying nothing is asked by a few calls, and then once in a while', async () => {
    behind = 'legacy';
    upstream.special = ({ method }, response) =>
      method === 'server/discover' && response.writeHead(503, { 'content-type': 'text/plain' }).end('later') !== undefined;
    await open();
    await until(() => upstream.count('server/discover') === 1);
    for (let i = 0; i < 20; i++) await call();
    assert.equal(upstream.count('server/discover'), 3);
    assert.equal(upstream.count('tools/call'), 20);
    assert.equal(verdict(), undefined);
  });

  it('a server that refuses the revision which it lists is asked once more, and that answer counts', async () => {
    behind = 'legacy';
    const answers: readonly object[] = [{ error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } }, { result: {} }];
    let asked = 0;
    upstream.special = ({ id, method }, response) => {
      if (method !== 'server/discover') return false;
      const answer = JSON.stringify({ jsonrpc: '2.0', id, ...answers[Math.min(asked++, 1)] });
      response.writeHead(400, { 'content-type': 'application/json' }).end(answer);
      return true;
    };
    await open();
    await until(() => verdict() !== undefined);
    assert.deepEqual([asked, verdict()], [2, 'legacy']);
  });

  it('one that refuses it again is modern by its list', async () => {
    behind = 'legacy';
    upstream.special = ({ id, method }, response) => {
      if (method !== 'server/discover') return false;
      const error = { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      return true;
    };
    await open();
    await until(() => verdict() !== undefined);
    assert.deepEqual([upstream.count('server/discover'), verdict()], [2, 'modern']);
  });

  for (const [status, named] of [
    [401, true],
    [403, true],
    [409, false],
    [413, false],
    [451, false],
  ] as const)
    it(`${status} to the question is no verdict${named ? ', and is told once' : ''}`, async () => {
      behind = 'legacy';
      upstream.special = (_message, response) => response.writeHead(status, { 'content-type': 'text/plain' }).end('no') !== undefined;
      await open();
      for (let i = 0; i < 3; i++) await call();
      await until(() => upstream.count('server/discover') >= 2);
      assert.equal(verdict(), undefined);
      const lines = bench.log.lines.filter(({ message }) => message.includes('the upstream refuses the gateway'));
      assert.equal(lines.length, named ? 1 : 0);
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
