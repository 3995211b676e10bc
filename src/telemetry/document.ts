import { exportedName, METRICS, type MetricName, type MetricRow } from './names.js';

/** The text of docs/metrics.md, from the table in names.ts. */
export function metricsPage(): string {
  const names = Object.keys(METRICS) as MetricName[];
  const own = names.filter((name) => exportedName(name) !== name);
  const foreign = names.filter((name) => exportedName(name) === name);
  return [
    '# Metrics',
    '',
    'On the ops listener, `GET /metrics`: OpenMetrics when the scraper prefers it, else Prometheus text. Written by `npm run print`.',
    '',
    'Every label value comes from a closed set: names of the configuration, words listed here, MCP methods and revisions, JSON-RPC codes,',
    'and at most 200 tools a route that its server listed; anything else is `other`, a message without a method `none`. A metric keeps at most',
    '2 000 label sets. What a gate declares beside this table is exported as `portcullis_gate_<name>`.',
    '',
    ...table(own),
    '',
    'Names that other tools know:',
    '',
    ...table(foreign),
    '',
    'Buckets:',
    '',
    ...names.flatMap((name) => {
      const { buckets }: MetricRow = METRICS[name];
      return buckets === undefined ? [] : [`- \`${exportedName(name)}\`: ${buckets.join(' ')}`];
    }),
    '',
  ].join('\n');
}

function table(names: readonly MetricName[]): readonly string[] {
  return ['| name | type | labels | meaning |', '|---|---|---|---|', ...names.map((name) => line(name, METRICS[name]))];
}

function line(name: MetricName, row: MetricRow): string {
  const labels = row.labels.length === 0 ? '–' : row.labels.map((label) => `\`${label}\``).join(', ');
  return `| \`${exportedName(name)}\` | ${row.type} | ${labels} | ${row.help} |`;
}
