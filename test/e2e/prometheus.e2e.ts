// A real Prometheus reads a real gateway under traffic of every kind; what PromQL shows is what happened. Needs prometheus and promtool.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Child, startChild } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { rawExchange, sendAndLeave } from '../support/raw.js';
import { INITIALIZE, legacy, modern, type SendOptions, type Sent, send, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const KEY_SHA256 = '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'; // of "key"
const GUARDED = '/guarded/mcp';

let upstream: Upstream;
let gateway: RunningGateway;
let prometheus: Child;
let folder: string;
let api: string;
/** A port where nobody listens. */
let gone: number;

before(async () => {
  upstream = await startMcpUpstream();
  gone = await freePort();
  gateway = await startGateway(config('{ request_timeout_ms: 800, request_timeout_max_ms: 60000, max_subscriptions: 3 }'));
  folder = mkdtempSync(join(tmpdir(), 'portcullis-prometheus-'));
  const job = { job_name: 'portcullis', static_configs: [{ targets: [new URL(gateway.ops_url).host] }] };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [job] }));
  const port = await freePort();
  api = `http://127.0.0.1:${port}/api/v1`;
  const files = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`];
  prometheus = startChild([...files, `--web.listen-address=127.0.0.1:${port}`], {}, 'prometheus');
  await until('the gateway is scraped', async () => (await query('up{job="portcullis"}').catch(() => []))[0]?.value === 1, 30_000);
});

after(async () => {
  await prometheus?.stop();
  await gateway?.stop();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

const config = (limits: string): string => `
listener: { port: 0, limits: ${limits} }
ops: { port: 0 }
gates: { key: { use: api-key, options: { keys: [{ name: probe, sha256: "${KEY_SHA256}" }] } } }
runtimes:
  server: { kind: proxied, protocol: as_is, url: "${upstream.url}/mcp" }
  gone: { kind: proxied, protocol: as_is, url: "http://127.0.0.1:${gone}/mcp" }
routes:
  - { path: /mcp, public: true, runtime: server }
  - { path: ${GUARDED}, gates: [key], runtime: server }
  - { path: /gone/mcp, public: true, runtime: gone }
`;

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

async function query(expression: string): Promise<readonly Sample[]> {
  const answer = await whole(`${api}/query?query=${encodeURIComponent(expression)}`);
  const { data } = JSON.parse(answer.text) as { data: { result: { metric: Record<string, string>; value: [number, string] }[] } };
  return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
}

/** What a sum by one label shows, zeros left out. */
async function sums(label: string, selector: string): Promise<Readonly<Record<string, number>>> {
  const samples = await query(`sum by (${label}) (${selector}) > 0`);
  return Object.fromEntries(samples.map(({ labels, value }) => [labels[label] ?? '', value]));
}

/** A request as bytes, for a client that leaves before the answer. */
function toRaw({ headers = {}, body = '' }: SendOptions): string {
  const fields = Object.entries({ host: 'a', ...headers, 'content-length': String(body.length) });
  return `POST /mcp HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${String(body)}`;
}

const ask = (options: SendOptions, path = '/mcp'): Promise<Sent> => whole(gateway.url + path, options);

describe('Prometheus', () => {
  it('sees traffic of every kind as what it was', async () => {
    assert.equal((await ask(modern('tools/list'))).status, 200);
    const statuses = await Promise.all(
      (
        [
          [tool('echo')],
          [tool('echo')],
          [tool('never-listed')],
          [tool('fail')],
          [tool('rpc')],
          [tool('crash')],
          [tool('slow', { ms: 5000 })],
          [{ ...tool('echo'), body: '{' }],
          [tool('echo'), GUARDED],
          [withHeaders(tool('echo'), { 'x-api-key': 'key' }), GUARDED],
          [tool('echo'), '/gone/mcp'],
          [tool('echo'), '/nowhere'],
        ] as const
      ).map(([options, path]) => ask(options, path).then(({ status }) => status)),
    );
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 502, 504, 400, 401, 200, 502, 404]);
    const session = (await ask(INITIALIZE)).headers['mcp-session-id'] as string;
    assert.equal((await ask(legacy('ping', {}, session))).status, 200);
    const port = Number(new URL(gateway.url).port);
    await sendAndLeave(port, toRaw(tool('slow', { ms: 5000 })), () =>
      until('the slow call runs', async () => (await gateway.metric('portcullis_requests_in_flight', { route: '/mcp' })) === 1),
    );
    const counted = await send(`${gateway.url}/mcp`, tool('count', { n: 2, ms: 20 }));
    await counted.ended;
    const listen = (id: string) =>
      send(`${gateway.url}/mcp`, modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, id));
    const get = await send(`${gateway.url}/mcp`, {
      headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session },
    });
    const streams = [get, await listen('a'), await listen('b')];
    await Promise.all(streams.map((stream) => stream.shows(/data: /)));
    const over = await ask(modern('subscriptions/listen', { notifications: {} }, 'c'));
    assert.deepEqual([over.status, JSON.parse(over.text).error.data.code], [503, 'TOO_MANY_STREAMS']);
    streams[1]?.leave();
    await until('its end is counted', async () => (await gateway.metric('portcullis_streams_closed_total', { kind: 'listen' })) === 1);
    const asked_s = Date.now() / 1000;
    await until('the next scrape', async () => ((await query('timestamp(up{job="portcullis"})'))[0]?.value ?? 0) > asked_s);

    assert.deepEqual(await sums('outcome', 'portcullis_requests_total{route="/mcp"}'), {
      ok: 7,
      tool_error: 1,
      rpc_error: 1,
      refused: 1,
      timeout: 1,
      cancelled: 2,
      upstream_error: 1,
      overloaded: 1,
    });
    assert.deepEqual(await sums('outcome', `portcullis_requests_total{route="${GUARDED}"}`), { ok: 1, refused: 1 });
    assert.deepEqual(await sums('outcome', 'portcullis_requests_total{route="/gone/mcp"}'), { upstream_error: 1 });
    assert.deepEqual(await sums('mcp_method', 'portcullis_requests_total{era="legacy"}'), { initialize: 1, ping: 1 });
    assert.deepEqual(await sums('reason', 'portcullis_heads_refused_total'), { NO_ROUTE: 1 });
    assert.deepEqual(await sums('code', 'portcullis_gate_decisions_total{gate="key"}'), { API_KEY_MISSING: 1, none: 1 });
    assert.deepEqual(await sums('kind', 'portcullis_streams_opened_total'), { listen: 2, get: 1, response: 1 });
    assert.deepEqual(await sums('reason', 'portcullis_streams_closed_total'), { client: 1, source: 1 });
    assert.deepEqual(await sums('reason', 'portcullis_streams_refused_total'), { limit: 1 });
    assert.deepEqual(await sums('kind', 'portcullis_stream_events_total'), { listen: 2, get: 1, response: 3 });
    assert.deepEqual(await sums('kind', 'portcullis_streams'), { listen: 1, get: 1 });
    assert.deepEqual(await sums('code_class', 'portcullis_upstream_requests_total'), { '2xx': 13, '5xx': 1, error: 1 });
    assert.deepEqual(await sums('gen_ai_tool_name', 'mcp_server_operation_duration_seconds_count{gen_ai_tool_name!=""}'), {
      echo: 2,
      other: 3,
      fail: 1,
      rpc: 1,
      crash: 1,
      slow: 2,
      count: 1,
    });
    assert.deepEqual(await sums('error_type', 'mcp_server_operation_duration_seconds_count{gen_ai_tool_name=~"fail|rpc"}'), {
      tool_error: 1,
      '-32602': 1,
    });
    assert.deepEqual(await sums('state', 'portcullis_runtime_state{runtime="server"}'), { ready: 1 });
    const [slowest] = await query('histogram_quantile(1, sum by (le) (portcullis_request_duration_seconds_bucket{outcome="timeout"}))');
    assert.ok((slowest?.value ?? 0) >= 0.5 && (slowest?.value ?? 99) <= 5, `a call that timed out took ${slowest?.value} s`);
    const [ours] = await query(
      'portcullis_overhead_seconds_sum{route="/mcp"} / on () sum(portcullis_request_duration_seconds_sum{route="/mcp"})',
    );
    assert.ok((ours?.value ?? 1) < 0.7, 'the upstream’s time is not ours');
    for (const stream of streams) stream.leave();
  });

  it('promtool finds nothing to say about the live page', async () => {
    const page = (await whole(`${gateway.ops_url}/metrics`)).text;
    writeFileSync(join(folder, 'page'), page);
    const child = startChild(['-c', `exec promtool check metrics < ${join(folder, 'page')}`], {}, 'sh');
    assert.deepEqual([await child.ended, child.output], [0, '']);
    const help = page.split('\n').filter((line) => line.startsWith('# HELP ')).length;
    assert.ok(help >= 30, `${help} metrics`);
  });

  it('2 000 requests of a stranger’s making add no series', async () => {
    // A gateway of its own: limits so short that a busy machine meets them would add outcomes.
    const patient = await startGateway(config('{}'));
    const { url, ops_url } = patient;
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const port = Number(new URL(url).port);
    const random = (): string => randomBytes(9).toString('hex');
    const shapes: readonly ((at: number) => Promise<unknown>)[] = [
      () => whole(`${url}/${random()}`, { ...tool('echo'), agent }),
      () => whole(`${url}/mcp`, { ...modern(random()), agent }),
      () => whole(`${url}/mcp`, { ...tool(random()), agent }),
      () => whole(`${url}/mcp`, { ...legacy('tools/list', {}, random()), agent }),
      () => whole(`${url}/mcp`, { ...legacy(random()), agent }),
      (at) =>
        whole(`${url}/mcp`, {
          ...withHeaders(tool('echo'), { 'mcp-protocol-version': `2026-${10 + (at % 89)}-${random().slice(0, 2)}` }),
          agent,
        }),
      () => rawExchange(port, [`${random().toUpperCase().replaceAll(/[0-9]/g, 'Q')} /mcp HTTP/1.1\r\nHost: a\r\n\r\n`]),
      (at) => whole(`${url}/mcp`, { method: ['PUT', 'PATCH', 'PROPFIND', 'PURGE', 'LINK'][at % 5] ?? 'PUT', agent }),
      (at) => whole(`${url}/mcp`, { ...tool('rpc', { code: -at - 1 }), agent }),
      () => whole(url + GUARDED, { ...withHeaders(tool('echo'), { 'x-api-key': random() }), agent }),
    ];
    const shoot = async (first: number, count: number): Promise<void> => {
      for (let at = first; at < first + count; at++) await shapes[at % shapes.length]?.(at);
    };
    let before: readonly string[];
    let now: readonly string[];
    try {
      await shoot(0, 100);
      before = await series(ops_url);
      await Promise.all(Array.from({ length: 16 }, (_, worker) => shoot(1000 * (worker + 1), 125)));
      now = await series(ops_url);
    } finally {
      agent.destroy();
      await patient.stop();
    }
    assert.deepEqual(
      now.filter((name) => !before.includes(name)),
      [],
    );
    assert.equal(now.length, before.length);
  });

  /** Every series of the page, without its value. */
  async function series(ops_url: string): Promise<readonly string[]> {
    const page = (await whole(`${ops_url}/metrics`)).text;
    return page.split('\n').flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.slice(0, line.lastIndexOf(' '))]));
  }
});
