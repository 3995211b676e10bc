import { exportedName, METRICS, type MetricName, type MetricRow } from '../telemetry/names.js';
import { code, GENERATED, page, table } from './schema-type.js';

const INTRO = `\`GET /metrics\` on the ops listener answers Prometheus text, or OpenMetrics if the scraper asks for it. Base units throughout: seconds and bytes.
Every label value comes from a closed set: names of the config, enums, tools that the server itself listed (at most 200 a route, then \`other\`). No
principal, token, session, path, URI or header text is ever a label. A metric keeps at most 2 000 label sets; further ones are folded into \`other\`.
Metrics of a gate of your own are \`portcullis_gate_<name>\`.`;

/** docs/metrics.md: every metric of the table in telemetry/names.ts. */
export function printMetrics(): string {
  const rows = Object.entries(METRICS).map(([name, row]) => metricRow(name as MetricName, row));
  return page('# Metrics', GENERATED, INTRO, table(['metric', 'type', 'labels', 'meaning'], rows), '## Buckets', ...bucketLines());
}

function metricRow(name: MetricName, row: MetricRow): readonly string[] {
  return [code(exportedName(name)), row.type, row.labels.map(code).join(', '), row.help];
}

function bucketLines(): readonly string[] {
  const rows = Object.entries(METRICS)
    .map(([name, row]) => [name as MetricName, row as MetricRow] as const)
    .flatMap(([name, row]) => (row.buckets === undefined ? [] : [[code(exportedName(name)), row.buckets.join(', ')]]));
  return [table(['histogram', 'upper bounds'], rows)];
}
