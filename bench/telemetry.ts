// What counting costs on the hot path, in CPU time a call: node dist/bench/telemetry.js
import type { Call } from '../src/contract/runtime.js';
import type { RequestRecord } from '../src/contract/telemetry.js';
import type { Tracing } from '../src/contract/tracing.js';
import { systemClock } from '../src/system-clock.js';
import { createPrometheus } from '../src/telemetry/prometheus.js';
import { makeHead } from '../src/testing.js';
import { createTracing } from '../src/tracing/open.js';
import { toOtlp } from '../src/tracing/otlp.js';
import { KeptSpans } from '../test/support/kept-spans.js';

const ROUNDS = 7;
const CALLS = 200_000;

const prometheus = createPrometheus({ version: 'bench', clock: systemClock });
const { telemetry, metrics } = prometheus;
const routes = Array.from({ length: 20 }, (_, i) => `/service-${i}/mcp`);
const tools = Array.from({ length: 50 }, (_, i) => `tool_${i}`);
for (const route of routes) telemetry.toolsListed(route, tools);
const records: readonly RequestRecord[] = Array.from({ length: 1_000 }, (_, i) => ({
  request_id: `r-${i}`,
  route: routes[i % routes.length] as string,
  method: i % 5 === 0 ? 'tools/list' : 'tools/call',
  era: i % 3 === 0 ? 'legacy' : 'modern',
  revision: i % 3 === 0 ? '2025-11-25' : '2026-07-28',
  outcome: i % 50 === 0 ? 'tool_error' : 'ok',
  seconds: (i % 97) / 300,
  overhead_seconds: 0.0001,
  tool: i % 5 === 0 ? undefined : (tools[i % tools.length] as string),
  rpc_code: undefined,
}));
const declared = metrics.counter('bench_total', 'A counter as a gate declares it.', ['issuer', 'outcome']);

const kept = new KeptSpans();
const head = makeHead({ headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'mcp-method': 'tools/call' } });
const route = { path: '/mcp', runtime: 'server' };
const tracingOf = (sample_ratio: number) =>
  createTracing(
    {
      service_name: 'bench',
      version: 'bench',
      resource: {},
      sample_ratio,
      parent: 'link',
      principal: 'none',
      clock: systemClock,
      peerOf: () => ({ transport: 'tcp', address: 'server', port: 80 }),
    },
    kept,
  );
const call = { ...(records[1] as RequestRecord), kind: 'request', id: '1', name: 'tool_1', body: Buffer.alloc(0), head } as unknown as Call;
const trace = (tracing: Tracing | undefined): void => {
  const traced = tracing?.begin(head, route, systemClock.mono_ms());
  traced?.gateDecided('token', 'identify', '', 0.00002);
  traced?.called(call, undefined, undefined);
  traced?.outgoing();
  traced?.upstreamStarted();
  traced?.upstreamResponded();
  traced?.answered();
  traced?.ended(records[1] as RequestRecord);
  if (kept.spans.length > 255) kept.spans.length = 0;
};
const all = tracingOf(1);
const none = tracingOf(0);

const cases: Readonly<Record<string, (i: number) => void>> = {
  'requestEnded (1 counter, 4 histograms)': (i) => telemetry.requestEnded(records[i % records.length] as RequestRecord),
  'requestEnded, unknown method and tool': (i) =>
    telemetry.requestEnded({ ...(records[1] as RequestRecord), method: `m${i & 1023}`, tool: `t${i & 1023}` }),
  'gateDecided (1 counter, 1 histogram)': (i) => telemetry.gateDecided(routes[i % 20] as string, 'token', 'identify', '', 0.00002),
  'streamEvents (1 counter)': (i) => telemetry.streamEvents(routes[i % 20] as string, 'listen', 1),
  'a request, tracing off (all eight hooks)': () => trace(undefined),
  'a request, tracing on, not sampled': () => trace(none),
  'a request, sampled (2 spans, 2 events)': () => trace(all),
  'a gate’s own counter (1 counter)': () => declared.add({ issuer: 'corp', outcome: 'ok' }),
};

for (const [name, run] of Object.entries(cases)) {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < CALLS; i += 1) run(i);
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / CALLS);
  }
  console.log(`${name.padEnd(42)} ${(rounds.sort((a, b) => a - b)[ROUNDS >> 1] as number).toFixed(3)} µs`);
}
const before = process.cpuUsage();
const { body } = await prometheus.render(undefined);
const { user, system } = process.cpuUsage(before);
console.log(
  `one scrape of ${body.split('\n').length} lines, ${(body.length / 1_024).toFixed(0)} KiB`.padEnd(42),
  ((user + system) / 1_000).toFixed(1),
  'ms',
);
for (let i = 0; i < 256; i += 1) trace(all);
const EXPORTS = 100;
const began = process.cpuUsage();
let bytes = 0;
for (let i = 0; i < EXPORTS; i += 1) bytes = toOtlp(kept.spans.slice(0, 256)).length;
const took = process.cpuUsage(began);
console.log(
  `one export of 256 spans, ${(bytes / 1_024).toFixed(0)} KiB`.padEnd(42),
  ((took.user + took.system) / EXPORTS / 1_000).toFixed(1),
  'ms',
);
prometheus.close();
