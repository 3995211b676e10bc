import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exportedName, METRICS, type MetricName, type MetricRow, metricRow } from '../../src/telemetry/names.js';

const rows = Object.entries(METRICS) as [MetricName, MetricRow][];

describe('the table of metrics', () => {
  it('has every metric of the design and its types follow the naming rules', () => {
    assert.equal(rows.length, 69);
    for (const [name, row] of rows) {
      assert.match(name, /^[a-z][a-z0-9_]*$/);
      assert.equal(row.type === 'counter', name.endsWith('_total'), `${name}: counters, and only they, end in _total`);
      assert.match(row.help, /\.$/, `${name}: the help is a sentence`);
      assert.equal(row.type === 'histogram', row.buckets !== undefined, name);
      assert.deepEqual(
        [...(row.buckets ?? [])],
        [...new Set(row.buckets ?? [])].sort((a, b) => a - b),
        `${name}: bounds rise`,
      );
      assert.doesNotMatch(name, /_(ms|millis|seconds_count|kb|mb|bucket|sum|count)$/);
    }
  });

  it('never names a caller, a token or a session in a label', () => {
    const labels = new Set(rows.flatMap(([, row]) => row.labels));
    assert.deepEqual([...labels].sort(), [
      'code',
      'code_class',
      'decision',
      'direction',
      'era',
      'error_type',
      'gate',
      'gen_ai_tool_name',
      'issuer',
      'kind',
      'mcp_method',
      'mcp_method_name',
      'mcp_protocol_version',
      'metric',
      'network_transport',
      'node',
      'outcome',
      'percentile',
      'reason',
      'route',
      'runtime',
      'state',
      'version',
    ]);
  });

  it('prefixes our own names and leaves the names of others', () => {
    assert.equal(exportedName('requests_total'), 'portcullis_requests_total');
    assert.equal(exportedName('mcp_server_operation_duration_seconds'), 'mcp_server_operation_duration_seconds');
    assert.equal(exportedName('process_cpu_seconds_total'), 'process_cpu_seconds_total');
  });

  it('knows no inherited name', () => {
    assert.equal(metricRow('constructor'), undefined);
    assert.equal(metricRow('toString'), undefined);
    assert.equal(metricRow('streams')?.type, 'gauge');
  });

  it('has the OpenTelemetry buckets of the MCP conventions', () => {
    const expected = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
    assert.deepEqual(METRICS.mcp_server_operation_duration_seconds.buckets, expected);
    assert.deepEqual(METRICS.mcp_client_operation_duration_seconds.buckets, expected);
  });
});
