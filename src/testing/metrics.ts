import type { Collect, Labels, Metrics } from '../contract/metrics.js';

/** Metrics that can be read back. */
export interface TestMetrics extends Metrics {
  /** A counter's count, a histogram's number of observations or a gauge's value now; 0 when nothing was counted. */
  value(name: string, labels?: Labels): number;
}

/** Metrics that can be read back, with nothing declared. */
export function makeMetrics(): TestMetrics {
  const counts = new Map<string, number>();
  const gauges = new Map<string, Set<Collect>>();
  const add = (name: string, labels: Labels | undefined, count: number): void => {
    const key = sampleKey(name, labels);
    counts.set(key, (counts.get(key) ?? 0) + count);
  };
  return {
    counter: (name) => ({ add: (labels, count = 1) => add(name, labels, count) }),
    histogram: (name) => ({ observe: (_value, labels) => add(name, labels, 1) }),
    gauge: (name, _help, _labels, collect) => {
      const collectors = gauges.get(name) ?? new Set();
      gauges.set(name, collectors.add(collect));
      return () => void collectors.delete(collect);
    },
    value: (name, labels) => {
      const key = sampleKey(name, labels);
      let sum = counts.get(key) ?? 0;
      for (const collect of gauges.get(name) ?? []) {
        for (const sample of collect()) if (sampleKey(name, sample.labels) === key) sum += sample.value;
      }
      return sum;
    },
  };
}

function sampleKey(name: string, labels: Labels = {}): string {
  return JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
