import type { Exemplar } from '../contract/telemetry.js';
import type { MetricRow } from './names.js';

/** Label sets one metric keeps; further ones are counted together, each label `other`. */
const MAX_LABEL_SETS = 2_000;

/** The number behind one line of a counter. The owner adds to it directly: no lookup, no allocation. */
export interface CounterCell {
  value: number;
}

/** The numbers behind one label set of a histogram. `counts` has one place for each bound and one for what is above all. */
export interface HistogramCell {
  sum: number;
  readonly bounds: readonly number[];
  readonly counts: number[];
  /** The last traced observation of each place of `counts`; made with the first one. */
  exemplars: (Seen | undefined)[] | undefined;
}

/** One observation that a trace was kept of. */
export interface Seen {
  readonly trace: Exemplar;
  readonly value: number;
}

/** Adds one observation. A value that is not finite or is negative is not counted: it would spoil the sum for good. */
export function observe(cell: HistogramCell, value: number, trace?: Exemplar): void {
  if (!(value >= 0) || value === Number.POSITIVE_INFINITY) return;
  const { bounds, counts } = cell;
  let at = 0;
  while (at < bounds.length && value > (bounds[at] as number)) at += 1;
  counts[at] = (counts[at] as number) + 1;
  cell.sum += value;
  if (trace !== undefined) (cell.exemplars ??= [])[at] = { trace, value };
}

/** One label set and its numbers. */
export interface Series<C> {
  readonly labels: Readonly<Record<string, string>>;
  readonly cell: C;
}

/** All label sets of one metric: at most `MAX_LABEL_SETS` and one more for `other`. */
export class Family<C> {
  readonly name: string;
  readonly row: MetricRow;
  readonly #series = new Map<string, Series<C>>();
  readonly #make: () => C;

  constructor(name: string, row: MetricRow, make: () => C) {
    this.name = name;
    this.row = row;
    this.#make = make;
  }

  /** The cell of one label set, values in the order of `row.labels`. Same values, same cell. */
  at(values: readonly string[]): C {
    const safe = values.map((value) => (isLabelText(value) ? value : 'other'));
    const key = safe.join('\u0000');
    const known = this.#series.get(key);
    if (known !== undefined) return known.cell;
    if (this.#series.size >= MAX_LABEL_SETS && !safe.every((value) => value === 'other')) return this.at(safe.map(() => 'other'));
    const labels = Object.fromEntries(this.row.labels.map((label, index) => [label, safe[index] ?? '']));
    const cell = this.#make();
    this.#series.set(key, { labels, cell });
    return cell;
  }

  series(): Iterable<Series<C>> {
    return this.#series.values();
  }
}

/** A counter. One without labels is exported as 0 from the start: rate() cannot see an event that comes with the first sample. */
export function createCounter(name: string, row: MetricRow): Family<CounterCell> {
  return started(new Family(name, row, () => ({ value: 0 })));
}

export function createHistogram(name: string, row: MetricRow): Family<HistogramCell> {
  const bounds = row.buckets ?? [];
  const make = (): HistogramCell => ({ sum: 0, bounds, counts: new Array<number>(bounds.length + 1).fill(0), exemplars: undefined });
  return started(new Family(name, row, make));
}

function started<C>(family: Family<C>): Family<C> {
  if (family.row.labels.length === 0) family.at([]);
  return family;
}

/**
 * A map from short strings to values made on first use, that stops growing: once `limit` keys are known, further ones share
 * the value of `other`. Labels that come through one can never be more than `limit + 1`.
 */
export class Bounded<V> {
  readonly #map = new Map<string, V>();
  readonly #limit: number;
  readonly #make: (key: string) => V;

  constructor(limit: number, make: (key: string) => V) {
    this.#limit = limit;
    this.#make = make;
  }

  get(key: string): V {
    const known = this.#map.get(key);
    if (known !== undefined) return known;
    return this.#add(this.#map.size < this.#limit && isLabelText(key) ? key : 'other');
  }

  #add(key: string): V {
    let value = this.#map.get(key);
    if (value === undefined) {
      value = this.#make(key);
      this.#map.set(key, value);
    }
    return value;
  }
}

/** True for text that may be a label value: at most 128 UTF-16 units, no lone surrogate, no control character. */
export function isLabelText(value: string): boolean {
  return value.length <= 128 && !/[\p{Cs}\p{Cc}]/u.test(value);
}
