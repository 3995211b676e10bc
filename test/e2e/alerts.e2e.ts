// Alerts and dashboard, with a real Prometheus that scrapes a real gateway to which things happen. Needs promtool and prometheus.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import { META, modernBody, modernHead } from '../demo/rpc.js';
import { folderWith } from '../support/config-files.js';
import { dashboardExpressions } from '../support/dashboard.js';
import { type Child, startChild } from '../support/e2e/child.js';
import { readMetric } from '../support/e2e/gateway.js';
import { type RunningPrometheus, startPrometheus } from '../support/e2e/prometheus.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { type OtlpCollector, startCollector } from '../support/otlp-collector.js';
import { repositoryPath } from '../support/repository.js';
import type { Upstream } from '../support/upstream.js';

const AUDIENCE = 'https://mcp.example.com/mcp';
const rules = readFileSync(repositoryPath('deploy/prometheus/rules.yaml'), 'utf8');
const expressions = dashboardExpressions(readFileSync(repositoryPath('deploy/grafana/dashboard.json'), 'utf8'));
/** Metrics without a sample in a healthy run: of a drain that is over nobody can be asked, no collector fails, nobody names a foreign task, and servers stay as they are. */
const QUIET =
  /portcullis_(drain_killed_total|drain_duration_seconds_bucket|collect_failures_total|tasks_refused_total|bridged_calls_total|era_flips_total|bridge_sessions_ended_total|held_ended_total|held_seconds_bucket|questions_total)|^changes\(process_start/;
/** What a busy machine may raise. */
const BUSY = ['PortcullisEventLoopBusy', 'PortcullisOverheadHigh'];

describe('promtool', () => {
  const run = async (...args: readonly string[]): Promise<string> => (await promisify(execFile)('promtool', args)).stdout;

  it('accepts the rules', async () => {
    assert.match(await run('check', 'rules', repositoryPath('deploy/prometheus/rules.yaml')), /SUCCESS: \d+ rules found/);
  });

  it('sees each fault told by its alert, and a gateway at work by none', async () => {
    assert.match(await run('test', 'rules', repositoryPath('deploy/prometheus/rules.test.yaml')), /SUCCESS/);
  });
});

describe('a gateway to which things happen', () => {
  const { folder, remove } = folderWith({});
  const sockets: Socket[] = [];
  const abort = new AbortController();
  let issuer: DemoIssuer;
  let upstream: Upstream;
  let collector: OtlpCollector;
  let gateway: Child;
  let prometheus: RunningPrometheus;
  let url: string;
  let ops_url: string;

  before(async () => {
    issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: AUDIENCE, scopes: ['mcp.read'] });
    upstream = await startMcpUpstream();
    let exports = 0;
    collector = await startCollector((response) => ++exports % 3 === 0 && response.writeHead(400).end() !== undefined);
    writeFileSync(`${folder}/portcullis.yaml`, JSON.stringify(config()));
    gateway = startChild([repositoryPath('dist/src/main.js'), 'run', '-c', `${folder}/portcullis.yaml`]);
    [, url = '', ops_url = ''] = await gateway.says(/"url":"([^"]+)".*"ops":"([^"]+)".*listens on/);
    prometheus = await startPrometheus('portcullis-ops', [new URL(ops_url).host, '127.0.0.1:1'], rules);
    const { query } = prometheus;
    await until('the first scrape', async () => (await query('portcullis_build_info')).length > 0, 30_000);
    await happen();
  });

  after(async () => {
    abort.abort();
    for (const socket of sockets) socket.destroy();
    await prometheus?.stop();
    await gateway?.stop();
    await upstream?.close();
    await collector?.close();
    await issuer?.close();
    remove();
  });

  it('answers every expression of the dashboard, with samples', { timeout: 60_000 }, async () => {
    assert.ok(expressions.length >= 60);
    for (const { where, expr } of expressions) {
      const samples = await prometheus.query(filled(expr));
      if (!QUIET.test(expr)) assert.ok(samples.length > 0, `${where}: ${expr}`);
      for (const { metric } of samples) assert.ok(metric.job === undefined || metric.job === 'portcullis-ops');
    }
  });

  it('shows on the dashboard what happened', async () => {
    const value = async (title: string, label: string, wanted: string): Promise<number> => {
      const exprs = expressions.filter(({ where }) => where === title).map(({ expr }) => filled(expr));
      const samples = (await Promise.all(exprs.map((expr) => prometheus.query(expr)))).flat();
      return Number(samples.find(({ metric }) => metric[label] === wanted)?.value[1]);
    };
    assert.ok((await value('By outcome', 'outcome', 'upstream_error')) > 0);
    assert.ok((await value('Refusals by code', 'code', 'TOKEN_INVALID')) > 0);
    assert.ok((await value('Heads refused', 'reason', 'NO_ROUTE')) > 0);
    assert.ok((await value('Connections refused', 'reason', 'limit')) > 0);
    assert.ok((await value('Tools', 'gen_ai_tool_name', 'echo')) > 0);
    assert.ok((await value('Lines dropped and questions refused', 'reason', 'no_message')) > 0);
    assert.ok((await value('Servers over stdio that ended', 'reason', 'crash')) > 0);
    assert.equal(await value('Servers over stdio', 'runtime', 'child'), 1);
    assert.ok((await value('Memory of servers over stdio', 'runtime', 'child')) > 1_000_000);
    assert.ok((await value('Calls of hosted servers that were rejected', 'runtime', 'narrow')) > 0);
    assert.ok((await value('Spans exported and lost', 'reason', 'collector')) > 0);
    assert.equal(await value('Open', 'kind', 'listen'), 2);
    assert.equal(await value('Signing keys', 'issuer', 'token'), 1);
  });

  it('evaluates every alert, and raises those whose fault is there', async () => {
    const raised = [
      'CallsFailing',
      'ConnectionsRefused',
      'GateFailing',
      'ReloadFailed',
      'RuntimeDown',
      'ScrapeFailing',
      'StreamsRefused',
      'UpstreamErrors',
    ];
    await until('the alerts', async () => (await active()).length >= raised.length, 30_000);
    const states = await prometheus.rules();
    assert.deepEqual(
      states.filter(({ health }) => health !== 'ok'),
      [],
    );
    assert.deepEqual(
      await active(),
      raised.map((name) => `Portcullis${name}`),
    );
  });

  it('is seen while it drains', { timeout: 60_000 }, async () => {
    process.kill(gateway.pid, 'SIGTERM');
    await until('the drain', async () => (await prometheus.query('portcullis_drain_state'))[0]?.value[1] === '1');
    await until('the alert', async () => (await active()).includes('PortcullisDrainSlow'));
    const [remaining] = await prometheus.query('portcullis_drain_remaining');
    assert.ok(Number(remaining?.value[1]) >= 2);
    for (const socket of sockets) socket.destroy();
    abort.abort();
    assert.equal(await gateway.ended, 0);
  });

  async function active(): Promise<readonly string[]> {
    return (await prometheus.rules())
      .filter(({ name, state }) => state !== 'inactive' && !BUSY.includes(name))
      .map(({ name }) => name)
      .sort();
  }

  async function send(route: string, method: string, params: object = {}, headers: object = {}): Promise<number> {
    const head = { ...modernHead(method, (params as { name?: string }).name), ...headers };
    const response = await fetch(`${url}${route}`, { method: 'POST', body: modernBody(method, params), headers: head });
    await response.text();
    return response.status;
  }

  /** Six rounds, so that every counter rises between two scrapes. */
  async function happen(): Promise<void> {
    for (const id of ['one', 'two']) await listen(id);
    await openMany();
    const authorized = { authorization: `Bearer ${issuer.token}` };
    const child = childWrites();
    for (let round = 0; round < 6; round++) {
      assert.equal(await send('/mcp', 'tools/list', {}, authorized), 200);
      assert.equal(await send('/mcp', 'tools/call', tool('echo', { text: 'x' }), authorized), 200);
      assert.equal(await send('/mcp', 'tools/call', tool('add', { a: 1, b: 'x' }), authorized), 200);
      assert.equal(await send('/mcp', 'tools/list', {}, { authorization: 'Bearer a.b.c' }), 401);
      assert.equal(await send('/files/mcp', 'tools/list'), 200);
      assert.equal(await send('/files/mcp', 'tools/call', tool('count', { n: 1, ms: 1 })), 200);
      assert.equal(await send('/files/mcp', 'tools/call', tool('fail', {})), 200);
      assert.equal(await send('/gone/mcp', 'tools/list'), 502);
      assert.equal(await send('/broken/mcp', 'tools/list'), 500);
      assert.equal(await send('/nowhere', 'tools/list'), 404);
      assert.equal(await send('/files/mcp', 'subscriptions/listen', { notifications: {} }), 503);
      const waits = await Promise.all(Array.from({ length: 3 }, () => send('/narrow/mcp', 'tools/call', tool('countdown', { from: 1 }))));
      assert.deepEqual(waits.sort(), [200, 200, 503]);
      const shares = await Promise.all(Array.from({ length: 3 }, () => send('/shared/mcp', 'tools/call', tool('count', { n: 1, ms: 30 }))));
      assert.deepEqual(shares, [200, 200, 200]);
      await send('/asks/mcp', 'tools/call', tool('ask', {}));
      await refused();
      await sleep(1000);
    }
    await child;
    writeFileSync(`${folder}/portcullis.yaml`, 'routes: 5');
    await until('the reload fails', () => gateway.output.includes('the config was not reloaded'));
    await sleep(2500);
  }

  /** Twice, a moment apart, the child writes what is no message, and crashes; then it is up again. */
  async function childWrites(): Promise<void> {
    const ask = (name: string): Promise<number> => send('/child/mcp', 'tools/call', tool(name, {}));
    for (let time = 0; time < 2; time++) {
      await until('the child answers', async () => (await ask('junk')) === 200);
      assert.equal(await ask('crash'), 502);
      await sleep(1500);
    }
    await until('the child is up', async () => (await ask('pid')) === 200);
  }

  async function listen(id: string): Promise<void> {
    const response = await fetch(`${url}/files/mcp`, {
      method: 'POST',
      headers: modernHead('subscriptions/listen'),
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications: {}, _meta: META } }),
      signal: abort.signal,
    });
    assert.equal(response.status, 200);
    void response.text().catch(() => undefined);
  }

  /** Idle connections up to a few below the limit. */
  async function openMany(): Promise<void> {
    for (let i = 0; i < 20; i++) sockets.push(await open());
  }

  async function open(): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  /** Meets max_connections for a moment. */
  async function refused(): Promise<void> {
    const count = (): Promise<number> => readMetric(`${ops_url}/metrics`, 'portcullis_connections_refused_total', { reason: 'limit' });
    const before = await count();
    const more = await Promise.all(Array.from({ length: 45 }, open));
    await until('one is closed unread', async () => (await count()) > before);
    for (const socket of more) socket.destroy();
    await until('room', async () => (await connections()) < 30);
  }

  function connections(): Promise<number> {
    return readMetric(`${ops_url}/metrics`, 'portcullis_connections', {});
  }

  function config(): object {
    const misbehaving = repositoryPath('test/support/third-party-gates/misbehaving.mjs');
    return {
      listener: {
        port: 0,
        limits: {
          max_connections: 40,
          max_subscriptions: 2,
          head_timeout_ms: 120_000,
          read_timeout_ms: 120_000,
          drain_delay_ms: 8000,
          drain_timeout_ms: 5000,
        },
      },
      ops: { port: 0 },
      gates: {
        token: { use: 'oauth-bearer', options: { issuer: issuer.issuer, audience: AUDIENCE } },
        broken: { use: `file:${misbehaving}`, options: { how: 'throws' } },
      },
      runtimes: {
        demo: { kind: 'hosted', module: repositoryPath('dist/src/demo/server.js') },
        files: { kind: 'proxied', url: `${upstream.url}/mcp`, protocol: 'auto' },
        gone: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' },
        narrow: { kind: 'hosted', module: repositoryPath('dist/src/demo/server.js'), max_concurrency: 1, max_queue: 1 },
        shared: { kind: 'proxied', url: `${upstream.url}/mcp`, connections: 2, max_running_per_caller: 1 },
        asks: { kind: 'stdio', command: process.execPath, args: [repositoryPath('dist/test/support/stdio/server.js'), 'legacy'] },
        child: { kind: 'stdio', command: process.execPath, args: [repositoryPath('dist/test/support/stdio/server.js'), 'modern'] },
      },
      routes: [
        { path: '/mcp', gates: ['token'], runtime: 'demo' },
        { path: '/files/mcp', public: true, runtime: 'files' },
        { path: '/gone/mcp', public: true, runtime: 'gone' },
        { path: '/narrow/mcp', public: true, runtime: 'narrow' },
        { path: '/shared/mcp', public: true, runtime: 'shared' },
        { path: '/asks/mcp', public: true, runtime: 'asks' },
        { path: '/child/mcp', public: true, runtime: 'child' },
        { path: '/broken/mcp', gates: ['broken'], runtime: 'files' },
      ],
      telemetry: { audit: { file: `${folder}/audit.jsonl` }, tracing: { endpoint: collector.endpoint, interval_ms: 500 } },
    };
  }
});

const tool = (name: string, args: object) => ({ name, arguments: args });

/** An expression as Grafana sends it. */
function filled(expr: string): string {
  return expr.replaceAll('$__rate_interval', '20s').replace(/\$(job|instance|route)\b/g, '.*');
}
