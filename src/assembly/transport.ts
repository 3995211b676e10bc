import type { Config } from '../config/schema/config.js';
import type { RuntimeConfig } from '../config/schema/runtimes.js';
import type { Clock } from '../contract/clock.js';
import type { ConfigProblem } from '../errors/error.js';
import { problemsOf } from '../modules/find-server.js';
import { findTransport, type OpenTransport } from '../modules/find-transport.js';
import type { PeerRuntime } from '../runtime/peer/peer-runtime.js';
import { createTransportRuntime } from '../runtime/peer/transport.js';
import type { StdioSourceDeps } from './stdio.js';

type TransportConfig = Extract<RuntimeConfig, { readonly kind: 'transport' }>;

/** What is wrong with the modules of transports and their options. They are loaded, and nothing of them is opened. */
export async function transportProblems({ runtimes }: Config, folder: string, clock: Clock): Promise<readonly ConfigProblem[]> {
  const checks = Object.entries(runtimes).map(async ([name, options]) => {
    if (options.kind !== 'transport') return [];
    return problemsOf(find(name, options, folder, clock));
  });
  return (await Promise.all(checks)).flat();
}

/** Loads the module of a runtime of kind `transport` and opens the runtime. Nothing is connected yet. Rejects with ConfigError. */
export async function openTransportRuntime(
  name: string,
  options: TransportConfig,
  folder: string,
  deps: StdioSourceDeps,
): Promise<PeerRuntime> {
  const open = await find(name, options, folder, deps.clock);
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

function find(name: string, { module, options }: TransportConfig, folder: string, clock: Clock): Promise<OpenTransport> {
  const where = { module: `runtimes.${name}.module`, options: `runtimes.${name}.options` };
  return findTransport({ module, options, folder, clock, where });
}
