import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GateVerdict, RequestRecord } from '../../src/contract/telemetry.js';
import { samples, seriesCount, withPrometheus } from './page.js';

const record: RequestRecord = {
  request_id: 'r-1',
  route: '/files/mcp',
  method: 'tools/call',
  era: 'modern',
  revision: '2026-07-28',
  outcome: 'ok',
  seconds: 0.25,
  overhead_seconds: 0.0002,
  tool: 'read_file',
  rpc_code: undefined,
};

describe('traffic', () => {
  it('counts one request in each of its metrics', () =>
    withPrometheus(async (prometheus) => {
      prometheus.telemetry.toolsListed('/files/mcp', ['read_file']);
      prometheus.telemetry.requestEnded(record);
      const labels = 'route="/files/mcp",mcp_method="tools/call",era="modern",outcome="ok"';
      assert.deepEqual(await samples(prometheus, 'portcullis_requests_total'), [`portcullis_requests_total{${labels}} 1`]);
      assert.deepEqual(await samples(prometheus, 'portcullis_request_duration_seconds_sum'), [
        `portcullis_request_duration_seconds_sum{${labels}} 0.25`,
      ]);
      assert.deepEqual(await samples(prometheus, 'portcullis_overhead_seconds_sum'), [
        'portcullis_overhead_seconds_sum{route="/files/mcp"} 0.0002',
      ]);
      const operation =
        'mcp_method_name="tools/call",gen_ai_tool_name="read_file",error_type="",mcp_protocol_version="2026-07-28",network_transport="tcp"';
      assert.deepEqual(await samples(prometheus, 'mcp_server_operation_duration_seconds_sum'), [
        `mcp_server_operation_duration_seconds_sum{${operation}} 0.25`,
      ]);
      assert.deepEqual(await samples(prometheus, 'mcp_client_operation_duration_seconds_sum'), [
        `mcp_client_operation_duration_seconds_sum{${operation}} ${0.25 - 0.0002}`,
      ]);
      const buckets = await samples(prometheus, 'mcp_server_operation_duration_seconds_bucket');
      assert.deepEqual(
        buckets.map((line) => [/le="([^"]+)"/.exec(line)?.[1], line.split(' ').at(-1)]),
        [
          ...[0.01, 0.02, 0.05, 0.1, 0.2].map((bound) => [String(bound), '0']),
          ...[0.5, 1, 2, 5, 10, 30, 60, 120, 300, '+Inf'].map((bound) => [String(bound), '1']),
        ],
      );
    }));

  it('puts a value equal to a bound under that bound and one above all under +Inf', () =>
    withPrometheus(async (prometheus) => {
      prometheus.telemetry.drained(0.05);
      prometheus.telemetry.drained(301);
      const buckets = await samples(prometheus, 'portcullis_drain_duration_seconds_bucket');
      assert.equal(buckets[0], 'portcullis_drain_duration_seconds_bucket{le="0.05"} 1');
      assert.deepEqual(buckets.slice(-2), [
        'portcullis_drain_duration_seconds_bucket{le="300"} 1',
        'portcullis_drain_duration_seconds_bucket{le="+Inf"} 2',
      ]);
    }));

  it('says what went wrong in error_type', () =>
    withPrometheus(async (prometheus) => {
      const cases: readonly [Partial<RequestRecord>, string][] = [
        [{ outcome: 'tool_error' }, 'tool_error'],
        [{ outcome: 'rpc_error', rpc_code: -32602 }, '-32602'],
        [{ outcome: 'rpc_error', rpc_code: 4711 }, 'other'],
        [{ outcome: 'timeout', rpc_code: undefined }, 'timeout'],
        [{ outcome: 'overloaded', rpc_code: -32603 }, '-32603'],
        [{ outcome: 'cancelled' }, 'cancelled'],
      ];
      for (const [change] of cases) prometheus.telemetry.requestEnded({ ...record, ...change });
      const lines = await samples(prometheus, 'mcp_server_operation_duration_seconds_count');
      assert.deepEqual(
        lines.map((line) => /error_type="([^"]*)"/.exec(line)?.[1]),
        cases.map(([, expected]) => expected),
      );
    }));

  it('does not count an operation at the server when the gateway answered alone', () =>
    withPrometheus(async (prometheus) => {
      prometheus.telemetry.requestEnded({ ...record, outcome: 'refused', rpc_code: -32600, seconds: 0.001, overhead_seconds: 0.001 });
      assert.equal((await samples(prometheus, 'mcp_server_operation_duration_seconds_count')).length, 1);
      assert.deepEqual(await samples(prometheus, 'mcp_client_operation_duration_seconds_count'), []);
    }));

  it('counts a message without a method as none and not as an operation', () =>
    withPrometheus(async (prometheus) => {
      prometheus.telemetry.requestEnded({ ...record, method: '', era: 'legacy', tool: undefined });
      assert.deepEqual(await samples(prometheus, 'portcullis_requests_total'), [
        'portcullis_requests_total{route="/files/mcp",mcp_method="none",era="legacy",outcome="ok"} 1',
      ]);
      assert.deepEqual(await samples(prometheus, 'mcp_server_operation_duration_seconds_count'), []);
    }));

  it('counts gates, heads, connections, streams, upstreams and the drain', () =>
    withPrometheus(async (prometheus) => {
      const { telemetry } = prometheus;
      telemetry.gateDecided('/files/mcp', 'token', 'refuse', 'TOKEN_EXPIRED', 0.00002);
      telemetry.gateDecided('/files/mcp', 'token', 'pass', '', 0.00001);
      telemetry.headRefused('NO_ROUTE');
      telemetry.connectionRefused('limit');
      telemetry.streamOpened('/files/mcp', 'listen');
      telemetry.streamEvents('/files/mcp', 'listen', 3);
      telemetry.streamClosed('/files/mcp', 'listen', 'slow_consumer', 61);
      telemetry.streamRefused('/files/mcp', 'limit');
      telemetry.callerLimited('/files/mcp', 'stream');
      telemetry.upstreamAnswered('files', '5xx');
      telemetry.upstreamAnswered('files', 'teapot');
      telemetry.upstreamConnected('files', 0.002);
      for (const method of ['roots/list', 'roots/list', 'x/y']) telemetry.questionRefused('files', method);
      telemetry.taskRefused('/files/mcp');
      telemetry.drainKilled('stream', 2);
      const expected: readonly [string, readonly string[]][] = [
        [
          'gate_decisions_total',
          [
            '{route="/files/mcp",gate="token",decision="refuse",code="TOKEN_EXPIRED"} 1',
            '{route="/files/mcp",gate="token",decision="pass",code="none"} 1',
          ],
        ],
        ['gate_duration_seconds_count', ['{gate="token"} 2']],
        ['heads_refused_total', ['{reason="NO_ROUTE"} 1']],
        ['connections_refused_total', ['{reason="limit"} 1']],
        ['streams_opened_total', ['{route="/files/mcp",kind="listen"} 1']],
        ['stream_events_total', ['{route="/files/mcp",kind="listen"} 3']],
        ['streams_closed_total', ['{route="/files/mcp",kind="listen",reason="slow_consumer"} 1']],
        ['stream_duration_seconds_sum', ['{route="/files/mcp",kind="listen"} 61']],
        ['streams_refused_total', ['{route="/files/mcp",reason="limit"} 1']],
        ['callers_limited_total', ['{route="/files/mcp",kind="stream"} 1']],
        ['upstream_requests_total', ['{runtime="files",code_class="5xx"} 1', '{runtime="files",code_class="other"} 1']],
        ['upstream_connect_seconds_sum', ['{runtime="files"} 0.002']],
        ['questions_refused_total', ['{runtime="files",mcp_method="roots/list"} 2', '{runtime="files",mcp_method="other"} 1']],
        ['tasks_refused_total', ['{route="/files/mcp"} 1']],
        ['drain_killed_total', ['{kind="stream"} 2']],
      ];
      for (const [name, lines] of expected)
        assert.deepEqual(
          await samples(prometheus, `portcullis_${name}`),
          lines.map((line) => `portcullis_${name}${line}`),
        );
    }));

  it('keeps the number of series constant whatever 2 000 clients invent', () =>
    withPrometheus(async (prometheus) => {
      const { telemetry } = prometheus;
      telemetry.toolsListed('/files/mcp', ['read_file']);
      const flood = (from: number) => {
        for (let i = from; i < from + 2_000; i += 1) {
          telemetry.requestEnded({ ...record, method: `m${i}`, tool: undefined });
          telemetry.requestEnded({ ...record, tool: `tool${i}` });
          telemetry.requestEnded({ ...record, revision: `20${i}`, tool: `tool${i}`, rpc_code: i, outcome: 'rpc_error' });
          telemetry.requestEnded({ ...record, method: 'tools/list', tool: `tool${i}` });
          telemetry.upstreamAnswered('files', `${i}`);
          telemetry.headRefused('NO_ROUTE');
        }
      };
      flood(0);
      const before = await seriesCount(prometheus);
      flood(5_000);
      assert.equal(await seriesCount(prometheus), before);
      const page = (await prometheus.render(undefined)).body;
      assert.doesNotMatch(page, /tool\d|"m\d+"|"20\d+"/);
      const operations = await samples(prometheus, 'mcp_server_operation_duration_seconds_count');
      assert.deepEqual(
        operations.map((line) => [/method_name="([^"]*)"/.exec(line)?.[1], /tool_name="([^"]*)"/.exec(line)?.[1], line.split(' ').at(-1)]),
        [
          ['other', '', '4000'],
          ['tools/call', 'other', '4000'],
          ['tools/call', 'other', '4000'],
          ['tools/list', '', '4000'],
        ],
      );
    }));

  it('names at most 200 tools of a route, only printable ones, and only on the route whose server listed them', () =>
    withPrometheus(async (prometheus) => {
      const { telemetry } = prometheus;
      telemetry.toolsListed('/files/mcp', ['bad\nname', '', 'x'.repeat(129), '\ud800']);
      telemetry.toolsListed(
        '/files/mcp',
        Array.from({ length: 500 }, (_, i) => `t${i}`),
      );
      for (const tool of ['bad\nname', 't0', 't199', 't200', '\ud800']) telemetry.requestEnded({ ...record, tool });
      telemetry.requestEnded({ ...record, route: '/notes/mcp', tool: 't0' });
      const lines = await samples(prometheus, 'mcp_server_operation_duration_seconds_count');
      assert.deepEqual(
        lines.map((line) => [/tool_name="([^"]*)"/.exec(line)?.[1], line.split(' ').at(-1)]),
        [
          ['other', '4'],
          ['t0', '1'],
          ['t199', '1'],
        ],
      );
    }));

  it('folds refusal codes of a gate beyond 64, and unknown verdicts, into other', () =>
    withPrometheus(async (prometheus) => {
      const { telemetry } = prometheus;
      for (let i = 0; i < 70; i += 1) telemetry.gateDecided('/files/mcp', 'quota', 'refuse', `USER_${i}`, 0);
      telemetry.gateDecided('/files/mcp', 'quota', 'surprise' as GateVerdict, 'USER_0', 0);
      const lines = await samples(prometheus, 'portcullis_gate_decisions_total');
      assert.equal(lines.length, 66);
      assert.equal(lines[64], 'portcullis_gate_decisions_total{route="/files/mcp",gate="quota",decision="refuse",code="other"} 6');
      assert.equal(lines[65], 'portcullis_gate_decisions_total{route="/files/mcp",gate="quota",decision="other",code="USER_0"} 1');
    }));

  it('leaves out durations that are not numbers', () =>
    withPrometheus(async (prometheus) => {
      for (const seconds of [Number.NaN, Number.POSITIVE_INFINITY, -1, 2]) prometheus.telemetry.drained(seconds);
      assert.deepEqual(await samples(prometheus, 'portcullis_drain_duration_seconds_sum'), ['portcullis_drain_duration_seconds_sum 2']);
      assert.deepEqual(await samples(prometheus, 'portcullis_drain_duration_seconds_count'), ['portcullis_drain_duration_seconds_count 1']);
    }));
});
