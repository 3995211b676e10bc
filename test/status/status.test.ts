import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../src/status/status.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { repositoryPath } from '../support/repository.js';
import { type Running, running } from '../support/running.js';
import { modern, type SendOptions, send, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const KEY = 'the-key-of-the-probe';
const FIXTURE = repositoryPath('dist/test/support/stdio/server.js');

let upstream: Upstream;
let gateway: Running;

before(async () => {
  upstream = await startMcpUpstream();
  gateway = await running({
    gates: { key: { use: 'api-key', options: { keys: [{ name: 'probe', sha256: createHash('sha256').update(KEY).digest('hex') }] } } },
    runtimes: {
      server: { kind: 'proxied', protocol: 'as_is', url: `${upstream.url}/mcp`, headers: { 'x-internal': 'THE-SECRET' } },
      gone: { kind: 'proxied', protocol: 'as_is', url: 'http://127.0.0.1:1/mcp' },
      child: { kind: 'stdio', command: process.execPath, args: [FIXTURE, 'modern'] },
    },
    routes: [
      { path: '/mcp', gates: ['key'], runtime: 'server' },
      { path: '/gone/mcp', public: true, runtime: 'gone' },
      { path: '/child/mcp', public: true, runtime: 'child' },
    ],
  });
});

after(async () => {
  await gateway.close();
  await upstream.close();
});

const keyed = (asked: SendOptions): SendOptions => withHeaders(asked, { 'x-api-key': KEY });

async function status(): Promise<Status> {
  return JSON.parse((await whole(`${gateway.ops_url}/status.json`)).text);
}

describe('the state of a running gateway', () => {
  it('has what goes on now and what went on, from the live objects', async () => {
    assert.equal((await whole(`${gateway.url}/mcp`, keyed(tool('echo')))).status, 200);
    for (let i = 0; i < 2; i++) assert.equal((await whole(`${gateway.url}/mcp?q=THE-QUERY`, tool('echo'))).status, 401);
    for (let i = 0; i < 3; i++) assert.equal((await whole(`${gateway.url}/gone/mcp`, tool('echo'))).status, 502);
    const stream = await send(`${gateway.url}/mcp`, keyed(modern('subscriptions/listen', { notifications: { toolsListChanged: true } })));
    await until('the child runs', async () => (await status()).runtimes[2]?.children?.processes.length === 1);
    const { routes, gates, runtimes, recent, subscriptions, connections, problems, drain, url, ready } = await status();
    assert.deepEqual([url, ready, drain.state, subscriptions.open, connections.streaming], [gateway.url, true, 'serving', 1, 1]);
    assert.deepEqual(routes[0], {
      path: '/mcp',
      url: `${gateway.url}/mcp`,
      public: false,
      gates: ['key'],
      runtime: 'server',
      in_flight: 1,
      streams: { listen: 1 },
      requests: { ok: 1, refused: 2 },
    });
    assert.deepEqual(gates, [{ name: 'key', use: 'api-key', passed: 2, refused: 2, failed: 0 }]);
    assert.deepEqual(
      runtimes.map(({ name, kind, health, answers }) => [name, kind, health, answers]),
      [
        ['server', 'proxied', 'ready', { '2xx': 2 }],
        ['gone', 'proxied', 'degraded', { error: 3 }],
        ['child', 'stdio', 'ready', {}],
      ],
    );
    assert.deepEqual(
      runtimes.map(({ era }) => [era?.verdict, era?.reason]),
      [
        [undefined, 'protocol: as_is'],
        [undefined, 'protocol: as_is'],
        ['modern', 'its answer to server/discover or initialize when it was started'],
      ],
    );
    assert.match((await whole(`${gateway.ops_url}/metrics`)).text, /portcullis_upstream_era\{runtime="child",era="modern"\} 1/);
    const [child] = runtimes[2]?.children?.processes ?? [];
    assert.ok((child?.pid ?? 0) > 1 && (child?.rss_bytes ?? 0) > 1_000_000);
    assert.deepEqual(
      problems.map(({ what }) => what),
      ['Runtime gone (proxied) does not answer.'],
    );
    assert.deepEqual(
      recent.map(({ kind, code, gate, route, count, path, client_address }) => [kind, code, gate, route, count, path, client_address]),
      [
        ['failed', 'UPSTREAM_UNREACHABLE', '', '/gone/mcp', 3, '/gone/mcp', '127.0.0.1'],
        ['refused', 'API_KEY_MISSING', 'key', '/mcp', 2, '/mcp', '127.0.0.1'],
      ],
    );
    stream.leave();
  });

  it('holds no secret of the config and none of a caller', async () => {
    await whole(`${gateway.url}/mcp`, withHeaders(tool('echo'), { 'x-api-key': 'A-WRONG-KEY' }));
    for (const path of ['/status.json', '/status']) {
      const { text } = await whole(gateway.ops_url + path, { headers: { accept: 'text/html' } });
      assert.match(text, /x-internal/);
      assert.doesNotMatch(text, /THE-SECRET|THE-QUERY|A-WRONG-KEY|the-key-of-the-probe/);
      assert.ok(!text.includes(createHash('sha256').update(KEY).digest('hex')), path);
    }
  });

  it('explains by the gates of the config in force', async () => {
    const body = new URLSearchParams({ route: '/mcp', header: `x-api-key: ${KEY}` }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, text } = await whole(`${gateway.ops_url}/status/explain`, { method: 'POST', headers, body });
    assert.equal(status, 200);
    const { outcome, identity } = JSON.parse(text);
    assert.deepEqual([outcome, identity.principal], ['admitted', 'probe']);
    assert.doesNotMatch(text, /the-key-of-the-probe/);
  });
});
