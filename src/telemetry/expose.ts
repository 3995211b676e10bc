import { prefers } from '../wire/field.js';
import type { Collected } from './collected.js';
import type { CounterCell, Family, HistogramCell, Seen, Series } from './family.js';
import type { MetricRow } from './names.js';

/** One metric as prom-client writes it. */
export interface Exposed {
  readonly name: string;
  readonly help: string;
  readonly type: MetricRow['type'];
  readonly values: readonly Line[];
}

interface Line {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly metricName?: string;
  /** Written in OpenMetrics only: the older text format has no place for it. */
  readonly exemplar?: ReturnType<typeof toExemplar>;
}

type Entry =
  | { readonly type: 'counter'; readonly family: Family<CounterCell> }
  | { readonly type: 'histogram'; readonly family: Family<HistogramCell> }
  | { readonly type: 'collected'; readonly family: Collected };

/** Reads one metric after the other. The samples of a collector that throws are omitted, and `failed` is called. */
export function* expose(entries: Iterable<Entry>, failed: (metric: string) => void): Generator<Exposed> {
  for (const entry of entries) {
    const { name, row } = entry.family;
    yield { name, help: row.help, type: row.type, values: linesOf(entry, failed) };
  }
}

function linesOf(entry: Entry, failed: (metric: string) => void): readonly Line[] {
  switch (entry.type) {
    case 'counter':
      return [...entry.family.series()].map(toLine);
    case 'collected':
      return [...entry.family.read(() => failed(entry.family.name))].map(toLine);
    case 'histogram':
      return [...entry.family.series()].flatMap((series) => toHistogramLines(entry.family.name, series));
  }
}

const toLine = ({ labels, cell }: Series<CounterCell>): Line => ({ labels, value: cell.value });

function toExemplar(seen: Seen | undefined) {
  if (seen === undefined) return undefined;
  const { trace_id, span_id, time_s } = seen.trace;
  return { labelSet: { trace_id, span_id }, value: seen.value, timestamp: time_s };
}

/** Counts become cumulative here, once a scrape, not at each observation. */
function toHistogramLines(name: string, { labels, cell }: Series<HistogramCell>): readonly Line[] {
  const lines: Line[] = [];
  let seen = 0;
  cell.counts.forEach((count, at) => {
    seen += count;
    const exemplar = toExemplar(cell.exemplars?.[at]);
    lines.push({ metricName: `${name}_bucket`, labels: { le: cell.bounds[at] ?? '+Inf' }, sharedLabels: labels, value: seen, exemplar });
  });
  lines.push({ metricName: `${name}_sum`, labels: {}, sharedLabels: labels, value: cell.sum });
  lines.push({ metricName: `${name}_count`, labels: {}, sharedLabels: labels, value: seen });
  return lines;
}

/** True when an Accept header prefers OpenMetrics to Prometheus text (RFC 9110 section 12.5.1). Absent or odd: text. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return prefers(accept, 'application/openmetrics-text', 'text/plain');
}
