import { resolve } from 'node:path';
import type { RuntimeConfig } from '../config/schema/runtimes.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { ProcessHost } from '../contract/process-host.js';
import type { Telemetry } from '../contract/telemetry.js';
import type { PeerRuntime } from '../runtime/peer/peer-runtime.js';
import { createStdio } from '../runtime/peer/stdio.js';
import type { SessionSeal } from '../runtime/shared/session-seal.js';

export interface StdioSourceDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly metrics: Metrics;
  readonly host: ProcessHost;
  readonly version: string;
  readonly seal: SessionSeal;
  readonly state_keys: readonly string[];
}

/** Opens a runtime of kind `stdio`. `folder` is the config file's. Nothing is started yet. */
export function openStdio(
  name: string,
  options: Extract<RuntimeConfig, { readonly kind: 'stdio' }>,
  folder: string,
  deps: StdioSourceDeps,
): PeerRuntime {
  const { metrics, version } = deps;
  const restarts = metrics.counter('runtime_restarts_total', '', ['runtime', 'reason']);
  const junk = metrics.counter('runtime_junk_total', '', ['runtime', 'reason']);
  return createStdio(
    { ...options, name, cwd: resolve(folder, options.cwd), version },
    {
      ...deps,
      junk: (reason) => junk.add({ runtime: name, reason }),
      ended: (reason) => restarts.add({ runtime: name, reason }),
    },
  );
}
