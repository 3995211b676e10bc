/** Labels of one sample. Values come from closed sets: config names, enums; never a principal, token, path or header text. */
export type Labels = Readonly<Record<string, string>>;

/** A number that only grows, `_total` in its name (Prometheus metric types). */
export interface Counter {
  add(labels?: Labels, count?: number): void;
}
/** Observations in buckets of fixed bounds, in the unit that its name ends in: seconds or bytes (Prometheus metric types). */
export interface Histogram {
  /** `value` in the base unit of the metric's name: seconds or bytes. */
  observe(value: number, labels?: Labels): void;
}
/** Called at each scrape; returns the live samples. */
export type Collect = () => Iterable<{ readonly value: number; readonly labels?: Labels }>;

/**
 * Where parts declare what they count. A name of the project's own table (docs/metrics.md) is exported as `portcullis_<name>`;
 * any other name as `portcullis_gate_<name>`. Declaring a name again returns the same metric. A metric keeps at most
 * 2 000 label sets: further ones are folded into `other`.
 */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  histogram(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): Histogram;
  /** A gauge reads live objects when it is scraped; several collectors of one name are concatenated. Returns the way to take the collector back. */
  gauge(name: string, help: string, labels: readonly string[], collect: Collect): () => void;
}
