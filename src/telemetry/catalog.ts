import type { Collect, Counter, Histogram, Labels, Metrics } from '../contract/metrics.js';
import { Collected } from './collected.js';
import { type CounterCell, createCounter, createHistogram, type Family, type HistogramCell, observe } from './family.js';
import { DEFAULT_BUCKETS, exportedName, type MetricName, type MetricRow, metricRow } from './names.js';

type Entry =
  | { readonly type: 'counter'; readonly family: Family<CounterCell> }
  | { readonly type: 'histogram'; readonly family: Family<HistogramCell> }
  | { readonly type: 'collected'; readonly family: Collected };

/** One line of a counter or gauge. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Metrics that gates may declare beside the table. */
const MAX_GATE_METRICS = 200;

/**
 * Every metric that was declared, once each. Declaring is for start-up and throws on a mistake: a name or label that
 * Prometheus would refuse, or a name that stands for something else already. Counting afterwards never throws.
 */
export class Catalog implements Metrics {
  readonly #entries = new Map<string, Entry>();
  #gateMetrics = 0;

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const family = this.counterFamily(name, { type: 'counter', help, labels });
    return {
      add: (values?: Labels, count = 1) => {
        if (count > 0 && Number.isFinite(count)) family.at(inOrder(family.row.labels, values)).value += count;
      },
    };
  }

  histogram(name: string, help: string, labels: readonly string[] = [], buckets: readonly number[] = DEFAULT_BUCKETS): Histogram {
    const family = this.histogramFamily(name, { type: 'histogram', help, labels, buckets });
    return { observe: (value, values) => observe(family.at(inOrder(family.row.labels, values)), value) };
  }

  gauge(name: string, help: string, labels: readonly string[], collect: Collect): () => void {
    return this.collected(name, { type: 'gauge', help, labels }, collect);
  }

  /** A counter whose cells the caller adds to directly; a name of the table needs no row. */
  counterFamily(name: string, declared?: MetricRow): Family<CounterCell> {
    const entry = this.#entry(name, 'counter', declared, (exported, row) => ({ type: 'counter', family: createCounter(exported, row) }));
    if (entry.type !== 'counter') throw new Error(`metric ${name}: its samples are collected at each scrape, it cannot be added to`);
    return entry.family;
  }

  histogramFamily(name: string, declared?: MetricRow): Family<HistogramCell> {
    const entry = this.#entry(name, 'histogram', declared, (exported, row) => ({
      type: 'histogram',
      family: createHistogram(exported, row),
    }));
    if (entry.type !== 'histogram') throw new Error(`metric ${name}: it is not a histogram`);
    return entry.family;
  }

  /** A metric that reads live objects when it is scraped; several collectors of one name are read one after the other. */
  collected(name: string, declared: MetricRow | undefined, collect: Collect): () => void {
    const type = (declared ?? metricRow(name))?.type ?? 'gauge';
    const entry = this.#entry(name, type, declared, (exported, row) => ({ type: 'collected', family: new Collected(exported, row) }));
    if (entry.type !== 'collected') throw new Error(`metric ${name}: it is counted, it cannot have a collector`);
    return entry.family.add(collect);
  }

  /** The numbers of a metric of the table as they are now; empty when it was not declared, and for a histogram. */
  samples(name: MetricName): readonly Sample[] {
    const entry = this.#entries.get(exportedName(name));
    if (entry === undefined || entry.type === 'histogram') return [];
    const series = entry.type === 'counter' ? entry.family.series() : entry.family.read(() => undefined);
    return Array.from(series, ({ labels, cell }) => ({ labels, value: cell.value }));
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  #entry(name: string, type: MetricRow['type'], declared: MetricRow | undefined, make: (exported: string, row: MetricRow) => Entry): Entry {
    const own = metricRow(name);
    const row = own ?? declared;
    if (row === undefined) throw new Error(`metric ${name}: it is not in the table of metrics`);
    const exported = own === undefined ? `portcullis_gate_${name}` : exportedName(name as MetricName);
    const known = this.#entries.get(exported);
    const expected = known?.family.row ?? row;
    if (expected.type !== type) throw new Error(`metric ${name}: it is a ${expected.type}, not a ${type}`);
    if (declared !== undefined && !sameLabels(expected.labels, declared.labels))
      throw new Error(`metric ${name}: its labels are ${list(expected.labels)}, not ${list(declared.labels)}`);
    if (known !== undefined) return known;
    if (own === undefined) {
      checkRow(name, row);
      if (++this.#gateMetrics > MAX_GATE_METRICS)
        throw new Error(`metric ${name}: gates have declared ${MAX_GATE_METRICS} metrics already`);
    }
    const entry = make(exported, row);
    this.#entries.set(exported, entry);
    return entry;
  }
}

function inOrder(names: readonly string[], values: Labels | undefined): readonly string[] {
  return names.map((name) => values?.[name] ?? '');
}

function sameLabels(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((label) => other.includes(label));
}

const list = (labels: readonly string[]): string => (labels.length === 0 ? '(none)' : labels.join(', '));

/** What `promtool check metrics` would say of it, said at start. */
function checkRow(name: string, row: MetricRow): void {
  const bad = (why: string): never => {
    throw new Error(`metric ${name}: ${why}`);
  };
  if (!/^[a-z][a-z0-9_]{0,79}$/.test(name)) bad('a name is 1 to 80 of a-z, 0-9 and _, a letter first');
  if (row.help.trim() === '') bad('it needs a help text');
  if ((row.type === 'counter') !== name.endsWith('_total')) bad('names of counters, and only they, end in _total');
  if (/_(bucket|count|sum|info)$/.test(name)) bad('a name cannot end in _bucket, _count, _sum or _info');
  if (row.labels.length > 8) bad('it has more than 8 labels');
  for (const label of row.labels)
    if (!/^[a-z][a-z0-9_]{0,39}$/.test(label) || label === 'le' || label === 'quantile') bad(`${label} cannot be the name of a label`);
  if (new Set(row.labels).size !== row.labels.length) bad('a label is named twice');
  const { buckets } = row;
  if (buckets !== undefined && (buckets.length === 0 || buckets.length > 40)) bad('a histogram has 1 to 40 buckets');
  if (buckets?.some((bound, at) => !Number.isFinite(bound) || bound <= (buckets[at - 1] ?? Number.NEGATIVE_INFINITY)))
    bad('the bounds of its buckets are finite and rise');
}
