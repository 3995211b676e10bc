import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ProxiedOptions } from '../../../src/runtime/proxied/proxied.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { type LegacyUpstream, startLegacyUpstream } from '../../support/legacy-upstream.js';
import { BRIDGE, type CallInit, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);

describe('proxied: the sessions of modern clients on a legacy server', () => {
  let upstream: LegacyUpstream;
  let bench: ProxiedBench;
  const open = async (options: Partial<ProxiedOptions> = {}, capabilities?: object): Promise<void> => {
    upstream = await startLegacyUpstream(capabilities);
    bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE, ...options });
  };
  const answerTo = async (exchange: FakeExchange): Promise<{ readonly result?: unknown }> =>
    JSON.parse((await exchange.done).body.toString());
  const tool = (init: CallInit = {}) => modernCall('tools/call', { name: 'echo', arguments: {} }, init);

  beforeEach(() => {
    upstream = undefined as unknown as LegacyUpstream;
  });
  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('two callers never share a session', async () => {
    await open();
    const text = async (principal: string) =>
      ((await answerTo(bench.send(tool({ identity: { principal } })))).result as { content: { text: string }[] }).content[0]?.text;
    assert.deepEqual(await Promise.all([text('alice'), text('bob'), text('alice')]), ['echo in s1', 'echo in s2', 'echo in s1']);
  });

  it('the server is told who calls, for each set of scopes in a session of its own', async () => {
    await open();
    const as = (scope: string) =>
      bench.send(tool({ identity: { principal: 'alice', scopes: new Set([scope]) }, route: { forward_identity_header: 'x-caller' } })).done;
    for (const scope of ['read', 'write', 'read']) await as(scope);
    const told = upstream.seen
      .filter(({ body }) => body.includes('"tools/call"'))
      .map(({ headers }) => JSON.parse(Buffer.from(String(headers['x-caller']), 'base64url').toString()).scope);
    assert.deepEqual(told, ['read', 'write', 'read']);
    assert.equal(upstream.count('initialize'), 2);
  });

  it('max_sessions: the one idle longest makes room; when none is idle, 503', async () => {
    await open({ bridge: { ...BRIDGE, max_sessions: 2 } });
    const as = (principal: string) => bench.send(tool({ identity: { principal } }));
    await as('a').done;
    await as('b').done;
    await as('c').done;
    assert.ok(bench.told.includes('session alpha evicted'));
    await until(() => upstream.seen.some(({ method }) => method === 'DELETE'));
    upstream.special = ({ method }) => method === 'tools/call';
    const held = [as('b'), as('c')];
    await until(() => upstream.count('tools/call') === 5);
    assert.equal((await as('d').done).error?.code, 'OVERLOADED');
    assert.equal(bench.runtime.era.leased, 2);
    for (const exchange of held) exchange.cancel('client');
  });

  it('an idle session is ended', async () => {
    await open({ bridge: { ...BRIDGE, session_idle_ms: 20 } });
    await bench.send(tool()).done;
    await until(() => upstream.seen.some(({ method, headers }) => method === 'DELETE' && headers['mcp-session-id'] === 's1'));
    assert.ok(bench.told.includes('session alpha idle'));
    assert.equal(bench.runtime.era.leased, 0);
  });

  it('a server that opens no session either: ERA_UNAVAILABLE', async () => {
    await open();
    upstream.special = ({ id }, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"x"}}`);
      return true;
    };
    assert.equal((await bench.send(tool()).done).error?.code, 'ERA_UNAVAILABLE');
  });

  it('lists come from a session with the capabilities of the client; an unknown caller’s calls never run in it', async () => {
    await open();
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { roots: {} } };
    const list = () => bench.send(modernCall('tools/list', { _meta })).done;
    await list();
    await list();
    assert.deepEqual(
      upstream.messages('initialize').map(({ params }) => params?.capabilities),
      [{ roots: {} }],
    );
    assert.equal(bench.runtime.era.leased, 1);
    await bench.send(modernCall('tools/call', { name: 'echo', _meta })).done;
    assert.deepEqual([upstream.count('initialize'), bench.runtime.era.leased], [2, 1]);
  });
});
