import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { Server } from '../contract/server.js';
import type { Telemetry } from '../contract/telemetry.js';
import { asRuntime } from '../core/define/server-runtime.js';
import { ConfigError } from '../errors/error.js';
import { createExecutor } from '../executor/executor.js';
import { createHosted, type HostedRuntime } from '../runtime/hosted.js';
import { findServer } from './find-server.js';

export interface HostedSource {
  /** Config name. */
  readonly name: string;
  readonly module: string;
  /** The config file's folder. */
  readonly folder: string;
  readonly max_concurrency: number;
  readonly max_queue: number;
  readonly state_keys: readonly string[];
}

export interface HostedSourceDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly metrics: Metrics;
}

/** Loads the module of a hosted runtime and opens the runtime on what it exports. Rejects with ConfigError. */
export async function openHosted(source: HostedSource, deps: HostedSourceDeps): Promise<HostedRuntime> {
  const { name, module, folder, max_concurrency, max_queue, state_keys } = source;
  const server = await findServer(name, module, folder);
  if (asRuntime(server) === undefined) {
    throw new ConfigError([
      { where: `runtimes.${name}.module`, message: 'its export "server" was not made by defineServer of portcullis/server' },
    ]);
  }
  const { log, clock, telemetry, metrics } = deps;
  const rejected = metrics.counter('executor_rejected_total', '', ['runtime', 'reason']);
  return createHosted(
    { name, server: server as Server, state_keys },
    {
      log,
      clock,
      telemetry,
      executor: createExecutor({ max_concurrency, max_queue, clock }),
      rejected: (reason) => rejected.add({ runtime: name, reason }),
      hidden: ({ component, identity: _, ...call }) =>
        log.info({ ...call, component: component.kind, name: component.name }, 'hidden from the caller'),
    },
  );
}
