// A live scrape passes promtool, and a real Prometheus reads it in the format it prefers. Needs promtool and prometheus.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { GateVerdict, RequestOutcome } from '../../src/contract/telemetry.js';
import { createOps, type Ops } from '../../src/listener/ops.js';
import { systemClock } from '../../src/system-clock.js';
import { createPrometheus, type Prometheus } from '../../src/telemetry/prometheus.js';

let prometheus: Prometheus;
let ops: Ops;
let url: string;

before(async () => {
  prometheus = createPrometheus({ version: '1.2.3', clock: systemClock, process });
  countEverything(prometheus);
  ops = createOps(
    { host: '127.0.0.1', port: 0 },
    {
      ready: () => ({ ready: true, reason: 'serving' }),
      started: () => true,
      render: prometheus.render,
      drain: () => undefined,
    },
  );
  url = await ops.start();
});

after(async () => {
  await ops.close();
  prometheus.close();
});

describe('metrics page', () => {
  it('passes promtool check metrics without a word', async () => {
    const page = await (await fetch(`${url}/metrics`)).text();
    assert.ok(page.includes('process_resident_memory_bytes '));
    const child = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (chunk) => (said += String(chunk)));
    child.stderr.on('data', (chunk) => (said += String(chunk)));
    child.stdin.end(page);
    const [code] = await once(child, 'close');
    assert.equal(said, '');
    assert.equal(code, 0);
  });

  it('is scraped by Prometheus', { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
    const port = await freePort();
    const scrape = { job_name: 'portcullis', static_configs: [{ targets: [new URL(url).host] }] };
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [scrape] }));
    const child = spawn('prometheus', [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    child.stderr.resume();
    try {
      const query = (expression: string) => ask(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`);
      await until(async () => (await query('up')).at(0)?.value[1] === '1');
      const requests = await query('portcullis_requests_total{outcome="tool_error"}');
      assert.deepEqual(
        requests.map(({ metric, value }) => [metric.route, metric.mcp_method, metric.era, value[1]]),
        [['/files/mcp', 'tools/call', 'modern', '1']],
      );
      const tools = await query('sum by (gen_ai_tool_name) (mcp_server_operation_duration_seconds_count)');
      assert.deepEqual(
        tools.map(({ metric, value }) => [metric.gen_ai_tool_name, value[1]]),
        [['read_file', '8']],
      );
      assert.equal((await query('portcullis_connections{state="head"}')).at(0)?.value[1], '3');
      assert.equal((await query('histogram_quantile(0.5, portcullis_gate_wait_seconds_bucket)')).at(0)?.value[1], '0.05');
    } finally {
      child.kill('SIGTERM');
      await once(child, 'close');
      await rm(folder, { recursive: true });
    }
  });
});

function countEverything({ telemetry, metrics }: Prometheus): void {
  const outcomes: readonly RequestOutcome[] = [
    'ok',
    'tool_error',
    'rpc_error',
    'refused',
    'timeout',
    'cancelled',
    'upstream_error',
    'overloaded',
  ];
  const verdicts: readonly GateVerdict[] = ['pass', 'identify', 'refuse', 'serve', 'timeout', 'failed'];
  const route = '/files/mcp';
  telemetry.toolsListed(route, ['read_file']);
  for (const outcome of outcomes)
    telemetry.requestEnded({
      request_id: 'r-1',
      route,
      method: 'tools/call',
      era: 'modern',
      revision: '2026-07-28',
      outcome,
      seconds: 0.2,
      overhead_seconds: 0.0001,
      tool: 'read_file',
      rpc_code: outcome === 'rpc_error' ? -32602 : undefined,
    });
  for (const verdict of verdicts) telemetry.gateDecided(route, 'token', verdict, verdict === 'refuse' ? 'TOKEN_EXPIRED' : '', 0.0001);
  telemetry.connectionRefused('limit');
  telemetry.headRefused('NO_ROUTE');
  telemetry.streamOpened(route, 'listen');
  telemetry.streamEvents(route, 'listen', 2);
  telemetry.streamClosed(route, 'listen', 'client', 3);
  telemetry.streamRefused(route, 'limit');
  telemetry.callerLimited(route, 'call');
  telemetry.upstreamAnswered('files', '2xx');
  telemetry.upstreamConnected('files', 0.001);
  telemetry.questionRefused('files', 'roots/list');
  telemetry.taskRefused('/files/mcp');
  telemetry.drainKilled('call', 1);
  telemetry.drained(1);
  metrics.counter('jwks_fetches_total', '', ['issuer', 'outcome']).add({ issuer: 'corp', outcome: 'ok' });
  metrics.gauge('jwks_age_seconds', '', ['issuer'], () => [{ value: 12.5, labels: { issuer: 'corp' } }]);
  metrics.gauge('connections', '', ['state'], () => [{ value: 3, labels: { state: 'head' } }]);
  metrics.histogram('wait_seconds', 'A histogram as a gate declares it.', [], [0.1, 1]).observe(0.05);
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

async function ask(address: string): Promise<readonly Sample[]> {
  const response = await fetch(address);
  return ((await response.json()) as { readonly data: { readonly result: readonly Sample[] } }).data.result;
}

async function until(done: () => Promise<boolean>): Promise<void> {
  for (;;) {
    if (await done().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}
