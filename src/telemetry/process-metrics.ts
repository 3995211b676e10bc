import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Catalog } from './catalog.js';

/** What main.ts hands over of the process: `process` itself fits. */
export interface ProcessView {
  readonly version: string;
  cpuUsage(): { readonly user: number; readonly system: number };
  memoryUsage: { rss(): number };
}

const SAMPLE_MS = 20;
const PERCENTILES: readonly number[] = [50, 99, 100];
const GC_KINDS: Readonly<Record<number, string>> = { 1: 'minor', 2: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' };

/**
 * Declares what every process shows. prom-client’s own default metrics break the naming rules that `promtool check metrics`
 * holds, so these are chosen by hand. Returns what ends them: the delay monitor and the collector watcher.
 */
export function declareProcessMetrics(catalog: Catalog, view: ProcessView | undefined): () => void {
  const one = (name: string, read: () => number) => catalog.collected(name, undefined, () => [{ value: read() }]);
  if (view !== undefined) {
    one('process_cpu_seconds_total', () => {
      const { user, system } = view.cpuUsage();
      return (user + system) / 1e6;
    });
    one('process_resident_memory_bytes', () => view.memoryUsage.rss());
  }
  one('process_start_time_seconds', () => performance.timeOrigin / 1_000);
  one('nodejs_heap_used_bytes', () => getHeapStatistics().used_heap_size);
  one('nodejs_heap_limit_bytes', () => getHeapStatistics().heap_size_limit);
  one('nodejs_external_memory_bytes', () => getHeapStatistics().external_memory);
  one('nodejs_eventloop_busy_seconds_total', () => performance.eventLoopUtilization().active / 1_000);
  return watchLoop(catalog);
}

function watchLoop(catalog: Catalog): () => void {
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  delay.enable();
  catalog.collected('nodejs_eventloop_delay_seconds', undefined, () => {
    // The monitor measures from sample to sample, so its own period is part of each value; without samples it says 511.
    const late = (percentile: number) => (delay.count === 0 ? 0 : Math.max(0, delay.percentile(percentile) / 1e6 - SAMPLE_MS) / 1_000);
    const samples = PERCENTILES.map((percentile) => ({ value: late(percentile), labels: { percentile: String(percentile) } }));
    delay.reset();
    return samples;
  });
  const seconds = catalog.counterFamily('nodejs_gc_duration_seconds_total');
  for (const kind of Object.values(GC_KINDS)) seconds.at([kind]);
  const watcher = new PerformanceObserver((entries) => {
    for (const entry of entries.getEntries()) {
      const { kind } = (entry as unknown as { readonly detail?: { readonly kind?: number } }).detail ?? {};
      seconds.at([GC_KINDS[kind ?? 0] ?? 'other']).value += entry.duration / 1_000;
    }
  });
  watcher.observe({ entryTypes: ['gc'] });
  return () => {
    delay.disable();
    watcher.disconnect();
  };
}
