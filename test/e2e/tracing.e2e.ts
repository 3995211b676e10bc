// A real OTLP/HTTP collector gets the spans of real traffic, and a real Prometheus keeps the exemplars. Needs prometheus and promtool.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Child, startChild } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { ofRequest, tracedConfig } from '../support/e2e/traced-gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { type OtlpCollector, type SeenSpan, startCollector } from '../support/otlp-collector.js';
import { INITIALIZE, legacy, modern, send, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const [SERVER, CLIENT, ERROR] = [2, 3, 2];

let upstream: Upstream;
let collector: OtlpCollector;
let gateway: RunningGateway;

before(async () => {
  upstream = await startMcpUpstream();
  collector = await startCollector();
  gateway = await startGateway(tracedConfig(upstream.url, collector.endpoint), { COLLECTOR_KEY: 'collector-secret' });
});

after(async () => {
  await gateway?.stop();
  await collector?.close();
  await upstream?.close();
});

/** The SERVER and the CLIENT span of one request. */
async function pair(request_id: string | string[] | undefined): Promise<readonly [SeenSpan, SeenSpan]> {
  const spans = await collector.saw(2, ofRequest(request_id));
  const [server, client] = [spans.find(({ kind }) => kind === SERVER), spans.find(({ kind }) => kind === CLIENT)];
  assert.ok(server !== undefined && client !== undefined && spans.length === 2);
  assert.equal(client.parent_id, server.span_id);
  assert.ok(server.start_ns <= client.start_ns && client.end_ns <= server.end_ns && server.start_ns < server.end_ns);
  return [server, client];
}

/** What the upstream saw of one call. */
const upstreamHeaders = (text: string) => JSON.parse(JSON.parse(text).result.content[0].text);

describe('tracing into a real collector', () => {
  it('a modern call continues the trace of its header, and the upstream gets the gateway’s span as parent', async () => {
    const answer = await whole(
      `${gateway.url}/mcp`,
      withHeaders(tool('whoami', { secret: 'ARGUMENT' }, 'id-1'), { traceparent: PARENT, tracestate: 'a=1' }),
    );
    const [server, client] = await pair(answer.headers['x-request-id']);
    assert.deepEqual([server.name, server.trace_id, server.parent_id, server.state], ['tools/call whoami', TRACE, SPAN, 'a=1']);
    const { traceparent, tracestate } = upstreamHeaders(answer.text);
    assert.deepEqual([traceparent, tracestate], [`00-${TRACE}-${client.span_id}-01`, 'a=1']);
    assert.equal(server.attributes['jsonrpc.request.id'], 'id-1');
    assert.deepEqual(
      client.events.map(({ name }) => name),
      ['handed back'],
    );
    assert.equal(server.attributes['gen_ai.tool.name'], 'whoami');
    assert.deepEqual([client.attributes['server.address'], client.attributes['server.port']], ['127.0.0.1', upstream.port]);
    assert.equal(server.resource['service.name'], 'portcullis');
    assert.equal(collector.headers[0]?.['x-api-key'], 'collector-secret');
  });

  it('the parent in _meta wins over the header, which is linked; the body goes on as it came', async () => {
    const inner = '00-11111111111111111111111111111111-2222222222222222-01';
    const call = modern('tools/call', { name: 'whoami', arguments: {}, _meta: { ...META, traceparent: inner, tracestate: 'm=2' } });
    const answer = await whole(`${gateway.url}/mcp`, withHeaders(call, { traceparent: PARENT }));
    const [server, client] = await pair(answer.headers['x-request-id']);
    assert.deepEqual([server.trace_id, server.parent_id, server.state, server.links], ['1'.repeat(32), '2'.repeat(16), 'm=2', [SPAN]]);
    assert.equal(upstreamHeaders(answer.text).traceparent, `00-${'1'.repeat(32)}-${client.span_id}-01`);
    assert.equal(upstream.seen.at(-1)?.body.toString(), call.body);
  });

  it('a malformed parent is no parent, here and there', async () => {
    const call = modern('tools/call', { name: 'whoami', arguments: {}, _meta: { ...META, traceparent: `${PARENT}-x` } });
    const answer = await whole(
      `${gateway.url}/mcp`,
      withHeaders(call, { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01`, tracestate: 'a=1' }),
    );
    const [server, client] = await pair(answer.headers['x-request-id']);
    assert.deepEqual([server.parent_id, server.state, server.links], [undefined, undefined, []]);
    const { traceparent, tracestate } = upstreamHeaders(answer.text);
    assert.deepEqual([traceparent, tracestate], [`00-${server.trace_id}-${client.span_id}-01`, undefined]);
  });

  it('each request of a legacy session has its spans, with a name for the session that opens nothing', async () => {
    const opened = await whole(`${gateway.url}/mcp`, INITIALIZE);
    const session = opened.headers['mcp-session-id'] as string;
    const ping = await whole(`${gateway.url}/mcp`, withHeaders(legacy('ping', {}, session), { traceparent: PARENT }));
    const [first] = await pair(opened.headers['x-request-id']);
    const [second, client] = await pair(ping.headers['x-request-id']);
    assert.deepEqual([first.name, second.name, client.name], ['initialize', 'ping', 'ping']);
    assert.deepEqual([second.trace_id, second.attributes['mcp.protocol.version']], [TRACE, '2025-11-25']);
    assert.match(String(second.attributes['mcp.session.id']), /^sha256:/);
    assert.ok(!collector.text.includes(session) && !collector.text.includes('upstream-session'));
    const gone = await whole(`${gateway.url}/mcp`, {
      method: 'DELETE',
      headers: { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session },
    });
    assert.equal((await pair(gone.headers['x-request-id']))[0].name, 'DELETE /mcp');
  });

  it('a refused request has one span that says who refused it; its log line has the trace id', async () => {
    const answer = await whole(`${gateway.url}/guarded/mcp`, withHeaders(tool('echo'), { traceparent: PARENT }));
    assert.equal(answer.status, 401);
    const [server, more] = await collector.saw(1, ofRequest(answer.headers['x-request-id']));
    assert.ok(server !== undefined && more === undefined);
    const { 'error.type': type, 'portcullis.gate': gate, 'portcullis.outcome': outcome } = server.attributes;
    assert.deepEqual([server.trace_id, type, gate, outcome, server.status], [TRACE, 'API_KEY_MISSING', 'key', 'refused', ERROR]);
    assert.deepEqual(
      server.events.map(({ name, attributes }) => [name, attributes['portcullis.verdict']]),
      [['gate', 'refuse']],
    );
    const line = gateway.output
      .split('\n')
      .find((each) => each.includes('request refused') && each.includes(String(answer.headers['x-request-id'])));
    assert.equal(JSON.parse(line ?? '{}').trace_id, TRACE);
    await until('the audit has it too', () =>
      /"verdict":"refused"[^\n]*"trace_id":"0af7651916cd43dd8448eb211c80319c"/.test(gateway.output),
    );
  });

  it('the part of a child process is a span with a pipe for its transport', async () => {
    const call = modern('tools/list', { _meta: { ...META, traceparent: PARENT } });
    const answer = await whole(`${gateway.url}/child/mcp`, call);
    assert.equal(answer.status, 200);
    const [server, client] = await pair(answer.headers['x-request-id']);
    assert.deepEqual([server.name, server.trace_id, server.parent_id], ['tools/list', TRACE, SPAN]);
    const { 'network.transport': transport, 'portcullis.runtime': runtime, 'server.address': address } = client.attributes;
    assert.deepEqual([transport, runtime, address], ['pipe', 'child', undefined]);
  });

  it('a call that fails is an error with the code that the client was told; its log line has the trace id', async () => {
    const failed = await whole(`${gateway.url}/mcp`, tool('rpc'));
    const [server, client] = await pair(failed.headers['x-request-id']);
    for (const { attributes, status } of [server, client])
      assert.deepEqual([attributes['error.type'], attributes['rpc.response.status_code'], status], ['-32602', '-32602', ERROR]);
    const isError = await whole(`${gateway.url}/mcp`, tool('fail'));
    assert.equal((await pair(isError.headers['x-request-id']))[0].attributes['error.type'], 'tool_error');
    const crashed = await whole(`${gateway.url}/mcp`, tool('crash'));
    const [broken] = await pair(crashed.headers['x-request-id']);
    assert.equal(broken.attributes['portcullis.code'], 'UPSTREAM_BROKEN');
    const lines = gateway.output.split('\n').filter((line) => line.includes(broken.trace_id));
    assert.deepEqual(lines.map((line) => JSON.parse(line).message).sort(), ['call failed', 'request']);
  });

  it('a stream’s span lasts as long as the stream and says how it ended', async () => {
    const counted = await whole(`${gateway.url}/mcp`, tool('count', { n: 3, ms: 30 }));
    const [server] = await pair(counted.headers['x-request-id']);
    assert.ok(server.end_ns - server.start_ns > 50_000_000n);
    assert.deepEqual(
      server.events.map(({ name, attributes }) => [name, attributes['portcullis.reason']]),
      [['stream ended', 'source']],
    );
    const stream = await send(`${gateway.url}/mcp`, modern('subscriptions/listen', { notifications: { toolsListChanged: true } }));
    await stream.shows(/acknowledged/);
    stream.leave();
    const [left] = await pair(stream.headers['x-request-id']);
    assert.deepEqual([left.name, left.attributes['portcullis.outcome'], left.status], ['subscriptions/listen', 'cancelled', ERROR]);
    assert.deepEqual(
      left.events.map(({ attributes }) => attributes['portcullis.reason']),
      ['client'],
    );
  });

  it('a client that leaves before the answer leaves a span that says so, without a sign of an answer', async () => {
    const asked = upstream.seen.length;
    const leaving = tool('slow', { ms: 20_000 }, 'leaver');
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const fields = Object.entries({ host: 'a', ...leaving.headers, 'content-length': String(leaving.body?.length) });
    socket.write(`POST /mcp HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${String(leaving.body)}`);
    await until('the upstream has it', () => upstream.seen.length > asked);
    socket.destroy();
    const spans = await collector.saw(2, ({ attributes }) => attributes['jsonrpc.request.id'] === 'leaver');
    assert.deepEqual(spans.map(({ kind, attributes, events }) => [kind, attributes['error.type'], events]).sort(), [
      [SERVER, 'cancelled', []],
      [CLIENT, 'cancelled', []],
    ]);
  });

  it('plain HTTP beside MCP is traced as HTTP', async () => {
    const answer = await whole(`${gateway.url}/web/nothing`, { headers: { traceparent: PARENT, tracestate: 'a=1' } });
    const [server, client] = await pair(answer.headers['x-request-id']);
    assert.deepEqual([server.name, server.trace_id, server.attributes['http.request.method']], ['GET /web', TRACE, 'GET']);
    assert.equal(upstream.seen.at(-1)?.headers.traceparent, `00-${TRACE}-${client.span_id}-01`);
  });

  it('no argument, key or token is in anything that was exported', () => {
    assert.ok(collector.text.length > 1_000);
    assert.doesNotMatch(collector.text, /ARGUMENT|collector-secret|SECRET/);
  });

  it('at the end of a drain every span has arrived, that of the stream it ended too', async () => {
    const own = await startGateway(
      tracedConfig(upstream.url, collector.endpoint, ', service_name: drained').replace('interval_ms: 100', 'interval_ms: 600000'),
    );
    await whole(`${own.url}/mcp`, tool('echo'));
    const stream = await send(`${own.url}/mcp`, modern('subscriptions/listen', { notifications: {} }));
    await stream.shows(/acknowledged/);
    const mine = (span: SeenSpan) => span.resource['service.name'] === 'drained';
    assert.equal(collector.spans.filter(mine).length, 0);
    assert.equal(await own.stop(), 0);
    const servers = collector.spans.filter((span) => mine(span) && span.kind === SERVER);
    assert.deepEqual(
      servers.map(({ name, events }) => [name, events.map(({ attributes }) => attributes['portcullis.reason'])]),
      [
        ['tools/call echo', []],
        ['subscriptions/listen', ['drain']],
      ],
    );
  });
});

describe('exemplars', () => {
  let folder: string;
  let prometheus: Child | undefined;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'portcullis-tracing-'));
  });

  after(async () => {
    await prometheus?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a real Prometheus scrapes the trace of a request that fell into a bucket', async () => {
    const job = { job_name: 'portcullis', static_configs: [{ targets: [new URL(gateway.ops_url).host] }] };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [job] }));
    const port = await freePort();
    const files = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`];
    const flags = ['--enable-feature=exemplar-storage', `--web.listen-address=127.0.0.1:${port}`];
    prometheus = startChild([...files, ...flags], {}, 'prometheus');
    const traceId = 'abcdef0123456789abcdef0123456789';
    const parent = `00-${traceId}-${SPAN}-01`;
    const answer = await whole(`${gateway.url}/mcp`, withHeaders(tool('slow', { ms: 300 }), { traceparent: parent }));
    const [server] = await pair(answer.headers['x-request-id']);
    const names = ['portcullis_request_duration_seconds_bucket', 'mcp_server_operation_duration_seconds_bucket'];
    for (const name of names) {
      const query = `query=${name}&start=0&end=${Math.ceil(Date.now() / 1000) + 60}`;
      const exemplars = async (): Promise<readonly { labels: { trace_id: string; span_id: string }; value: string }[]> => {
        const page = await whole(`http://127.0.0.1:${port}/api/v1/query_exemplars?${query}`);
        const { data } = JSON.parse(page.text) as {
          data: { exemplars: { labels: { trace_id: string; span_id: string }; value: string }[] }[];
        };
        return data.flatMap((series) => series.exemplars);
      };
      await until(
        `${name} has it`,
        async () => (await exemplars().catch(() => [])).some(({ labels }) => labels.trace_id === traceId),
        30_000,
      );
      const found = (await exemplars()).find(({ labels }) => labels.trace_id === traceId);
      assert.equal(found?.labels.span_id, server.span_id);
      assert.ok(Number(found?.value) >= 0.3);
    }
  });

  it('the older text format has none, and promtool finds nothing to say about it', async () => {
    const page = (await whole(`${gateway.ops_url}/metrics`)).text;
    assert.doesNotMatch(page, /trace_id/);
    const open = await whole(`${gateway.ops_url}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
    assert.match(open.text, /_bucket\{[^}]*\} \d+ # \{trace_id="[0-9a-f]{32}",span_id="[0-9a-f]{16}"\} \S+ \d+(\.\d+)?\n/);
    writeFileSync(join(folder, 'page'), page);
    const child = startChild(['-c', `exec promtool check metrics < ${join(folder, 'page')}`], {}, 'sh');
    assert.deepEqual([await child.ended, child.output], [0, '']);
  });
});
