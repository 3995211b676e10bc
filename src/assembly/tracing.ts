import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema/config.js';
import type { Clock } from '../contract/clock.js';
import type { Egress } from '../contract/egress.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { Telemetry } from '../contract/telemetry.js';
import type { Tracing } from '../contract/tracing.js';
import { createRepeatLimit } from '../telemetry/repeat-limit.js';

export interface TracingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  /** The way to the collector. */
  readonly egress: Egress;
  /** The config in force, for what is behind a runtime. */
  readonly config: () => Config;
}

/** Tracing as `telemetry.tracing` says. Before `open` and after `close` no request has a trace. */
export interface ConfiguredTracing extends Tracing {
  /** Loads the OpenTelemetry SDK. */
  open(): Promise<void>;
  close(deadline_ms: number): Promise<void>;
}

/** Undefined when it is off: then the SDK is never loaded. Throws when the CA file cannot be read. */
export function configuredTracing(config: Config, deps: TracingDeps): ConfiguredTracing | undefined {
  const { tracing } = config.telemetry;
  if (tracing === undefined) return undefined;
  const { clock, log, metrics, version, egress } = deps;
  const ca = tracing.ca_file === undefined ? undefined : readFileSync(tracing.ca_file, 'utf8');
  const exported = metrics.counter('trace_spans_exported_total', '');
  const dropped = metrics.counter('trace_spans_dropped_total', '', ['reason']);
  const warnings = createRepeatLimit({ clock, burst: 1, window_ms: 60_000 });
  const failed = (why: string): void => {
    const left_out = warnings.take('');
    if (left_out !== undefined) log.warn({ why, ...(left_out === 0 ? {} : { left_out }) }, 'spans were not exported');
  };
  let closed = false;
  let opened: (Tracing & { close(deadline_ms: number): Promise<void> }) | undefined;

  return {
    begin: (head, route, started_ms) => opened?.begin(head, route, started_ms),
    async open() {
      const { openTracing } = await import('../tracing/open.js');
      if (closed) return;
      opened = openTracing({
        ...tracing,
        ca,
        clock,
        version,
        egress,
        failed,
        exported: (count) => exported.add(undefined, count),
        dropped: (reason, count) => dropped.add({ reason }, count),
        peerOf: (runtime) => knownPeer(deps.config().runtimes[runtime]),
      });
    },
    async close(deadline_ms) {
      closed = true;
      const last = opened;
      opened = undefined;
      await last?.close(deadline_ms);
    },
  };
}

/** Ends each request's trace before anything else hears of its end: the log and the exemplars then know its ids. */
export function withTracing(telemetry: Telemetry): Telemetry {
  return {
    ...telemetry,
    requestEnded(record) {
      record.trace?.ended(record);
      telemetry.requestEnded(record);
    },
  };
}

/** Of an entry of `runtimes`, read once. */
const PEERS = new WeakMap<object, ReturnType<typeof peerOf>>();

function knownPeer(runtime: Config['runtimes'][string] | undefined): ReturnType<typeof peerOf> {
  if (runtime === undefined) return undefined;
  if (!PEERS.has(runtime)) PEERS.set(runtime, peerOf(runtime));
  return PEERS.get(runtime);
}

/** A hosted server runs in this process: its part of a request has no separate span. What a transport of somebody's own does is not known. */
function peerOf(runtime: Config['runtimes'][string]) {
  if (runtime.kind === 'hosted') return undefined;
  if (runtime.kind === 'stdio') return { transport: 'pipe' } as const;
  if (runtime.kind === 'transport') return { transport: undefined } as const;
  const { hostname, port, protocol } = new URL(runtime.url);
  return { transport: 'tcp', address: hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) } as const;
}
