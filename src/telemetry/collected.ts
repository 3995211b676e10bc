import type { Collect } from '../contract/metrics.js';
import { type CounterCell, Family, type Series } from './family.js';
import type { MetricRow } from './names.js';

/** A metric that reads its collectors at each scrape. */
export class Collected {
  readonly name: string;
  readonly row: MetricRow;
  readonly #collectors = new Set<Collect>();

  constructor(name: string, row: MetricRow) {
    this.name = name;
    this.row = row;
  }

  /** Adds a collector; returns the way to take it back. Taking it back twice does nothing. */
  add(collect: Collect): () => void {
    const own: Collect = () => collect();
    this.#collectors.add(own);
    return () => this.#collectors.delete(own);
  }

  /**
   * The live samples. Samples with the same labels, from one collector or several, are added up, because a scrape with two
   * equal label sets is thrown away whole. A collector that throws is left out and told to `failed`.
   */
  read(failed: () => void): Iterable<Series<CounterCell>> {
    const sums = new Family<CounterCell>(this.name, this.row, () => ({ value: 0 }));
    for (const collect of this.#collectors) {
      try {
        for (const { value, labels } of collect())
          if (Number.isFinite(value)) sums.at(this.row.labels.map((label) => labels?.[label] ?? '')).value += value;
      } catch {
        failed();
      }
    }
    return sums.series();
  }
}
