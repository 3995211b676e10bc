import { setImmediate } from 'node:timers/promises';
import { type Metric, Registry, type RegistryContentType } from 'prom-client';
import type { Clock } from '../contract/clock.js';
import type { Metrics } from '../contract/metrics.js';
import type { Telemetry } from '../contract/telemetry.js';
import { Catalog, type Sample } from './catalog.js';
import { type Exposed, expose, wantsOpenMetrics } from './expose.js';
import type { MetricName } from './names.js';
import { declareProcessMetrics, type ProcessView } from './process-metrics.js';
import { createTraffic } from './traffic.js';

export interface PrometheusOptions {
  /** Version of the gateway, for `build_info`. */
  readonly version: string;
  readonly clock: Clock;
  /** CPU and memory are shown only if this is there. */
  readonly process?: ProcessView;
}

/** Everything that is counted, and the page that shows it. */
export interface Prometheus {
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  /** The exposition: OpenMetrics 1.0 if `accept` prefers it, else Prometheus text 0.0.4. Never rejects. */
  render(accept: string | undefined): Promise<{ readonly content_type: string; readonly body: string }>;
  /** The numbers of one counter or gauge as they are now. */
  samples(name: MetricName): readonly Sample[];
  /** Ends the watchers of event loop and garbage collection. */
  close(): void;
}

/**
 * Creates the metrics of one gateway. The numbers are ours, because a count through prom-client costs about 0.6 µs and its
 * text and OpenMetrics registries cannot share a metric; prom-client writes the formats.
 */
export function createPrometheus(options: PrometheusOptions): Prometheus {
  const catalog = new Catalog();
  const build = { version: options.version, node: options.process?.version ?? 'unknown' };
  catalog.gauge('build_info', '', ['version', 'node'], () => [{ value: 1, labels: build }]);
  const failures = catalog.counterFamily('collect_failures_total');
  const close = declareProcessMetrics(catalog, options.process);
  const telemetry = createTraffic(catalog);

  return {
    metrics: catalog,
    telemetry,
    samples: (name) => catalog.samples(name),
    close,
    async render(accept) {
      const open = wantsOpenMetrics(accept);
      const type = open ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
      const registry = new Registry<RegistryContentType>();
      registry.setContentType(type);
      const parts: string[] = [];
      for (const exposed of expose(catalog.entries(), (metric) => (failures.at([metric]).value += 1))) {
        parts.push(await registry.getSingleMetricAsString(register(registry, exposed, open)));
        // A large page is written between other work: one metric a turn, so that no request waits for the whole of it.
        await setImmediate();
      }
      return { content_type: type, body: open ? `${parts.join('\n')}\n# EOF\n` : `${parts.join('\n\n')}\n` };
    },
  };
}

/** Returns the name. A registry asks its metrics for `name` and `get()` only, so ours need be no more than that. */
function register(registry: Registry<RegistryContentType>, exposed: Exposed, open: boolean): string {
  const name = open && exposed.type === 'counter' ? exposed.name.replace(/_total$/, '') : exposed.name;
  const metric = { name, get: async () => ({ ...exposed, name, aggregator: 'sum' }) };
  registry.registerMetric(metric as unknown as Metric);
  return name;
}
