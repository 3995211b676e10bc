import assert from 'node:assert/strict';
import { it } from 'node:test';
import { metricsPage } from '../../src/telemetry/document.js';
import { exportedName, METRICS, type MetricName } from '../../src/telemetry/names.js';

it('the page of metrics has each metric once, with its labels and buckets', () => {
  const page = metricsPage();
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  assert.equal(rows.length, Object.keys(METRICS).length);
  for (const name of Object.keys(METRICS) as MetricName[])
    assert.equal(rows.filter((row) => row.startsWith(`| \`${exportedName(name)}\` |`)).length, 1, name);
  assert.ok(
    rows.includes('| `portcullis_overhead_seconds` | histogram | `route` | Time spent in the gateway itself, the runtime excluded. |'),
  );
  assert.ok(rows.includes('| `portcullis_drain_state` | gauge | – | 0 serving, 1 draining, 2 closing, 3 closed. |'));
  assert.ok(page.includes('- `portcullis_drain_duration_seconds`: 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 300\n'));
});
