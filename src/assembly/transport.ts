import type { RuntimeConfig } from '../config/schema/runtimes.js';
import type { PeerRuntime } from '../runtime/peer/peer-runtime.js';
import { createTransportRuntime } from '../runtime/transport.js';
import { findTransport } from './find-transport.js';
import type { StdioSourceDeps } from './stdio.js';

/** Loads the module of a runtime of kind `transport` and opens the runtime. Nothing is connected yet. Rejects with ConfigError. */
export async function openTransportRuntime(
  name: string,
  options: Extract<RuntimeConfig, { readonly kind: 'transport' }>,
  folder: string,
  deps: StdioSourceDeps,
): Promise<PeerRuntime> {
  const where = { module: `runtimes.${name}.module`, options: `runtimes.${name}.options` };
  const open = await findTransport({ module: options.module, options: options.options, folder, where });
  const { metrics, version } = deps;
  const restarts = metrics.counter('runtime_restarts_total', '', ['runtime', 'reason']);
  const junk = metrics.counter('runtime_junk_total', '', ['runtime', 'reason']);
  return createTransportRuntime(
    { ...options, name, version },
    {
      ...deps,
      open: () => open(deps),
      junk: (reason) => junk.add({ runtime: name, reason }),
      ended: (reason) => restarts.add({ runtime: name, reason }),
    },
  );
}
