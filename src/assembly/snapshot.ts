import { builtins } from '../../gates/index.js';
import type { LoadedConfig } from '../config/load.js';
import type { Metrics } from '../contract/metrics.js';
import { type ChainInput, type ChainSet, openChains } from '../gate-chain/load.js';
import type { SharedPool } from '../gate-chain/shared.js';
import type { Routing } from '../listener/request/server.js';
import { createRouting } from './routing.js';
import { createRuntimes, type OpenRuntime, type RuntimeDeps, type Runtimes } from './runtimes.js';
import { routeUrl } from './urls.js';

/** Everything built from one config; a reload swaps it atomically. */
export interface Snapshot {
  readonly loaded: LoadedConfig;
  readonly public_url: string;
  readonly chains: ChainSet;
  readonly runtimes: Runtimes;
  readonly routing: Routing;
}

export interface SnapshotDeps extends RuntimeDeps {
  readonly metrics: Metrics;
  readonly shared: SharedPool;
  /** Aborts when the gateway closes. */
  readonly signal: AbortSignal;
}

/**
 * Opens gates and runtimes of a config. What a former snapshot has in common with it goes on: unchanged runtimes, and what
 * unchanged gates share. Throws ConfigError, and then closes again what it opened.
 */
export async function openSnapshot(loaded: LoadedConfig, public_url: string, deps: SnapshotDeps, former?: Snapshot): Promise<Snapshot> {
  const { config, folder } = loaded;
  const runtimes = await createRuntimes(config, folder, deps, former?.runtimes);
  const fresh = [...runtimes.by_name].filter(([name, open]) => former?.runtimes.by_name.get(name) !== open).map(([, open]) => open);
  try {
    for (const { runtime } of fresh) await runtime.start(deps.signal);
    const chains = await openChains(chainInput(loaded, public_url), {
      ...deps,
      builtins,
      folder,
      unchanged: unchangedGates(loaded, former?.loaded),
    });
    const { trusted_proxies, allowed_origins, allowed_hosts, cors, chunked_requests } = config.listener;
    const routing: Routing = {
      table: createRouting(config, public_url, chains, runtimes),
      listenerChain: chains.listener,
      public_url,
      trusted_proxies,
      allowed_origins,
      allowed_hosts,
      cors,
      chunked: chunked_requests === 'accept',
    };
    return { loaded, public_url, chains, runtimes, routing };
  } catch (error) {
    await closeRuntimes(fresh, 0);
    throw error;
  }
}

/** Closes the chains of a snapshot, and those of its runtimes that none of `others` uses. */
export async function closeSnapshot({ chains, runtimes }: Snapshot, others: Iterable<Snapshot>, deadline_ms: number): Promise<void> {
  const used = new Set([...others].flatMap((other) => [...other.runtimes.by_name.values()]));
  await closeRuntimes(
    [...runtimes.by_name.values()].filter((open) => !used.has(open)),
    deadline_ms,
  );
  await chains.close();
}

/** The gates' share of a config. */
export function chainInput({ config }: LoadedConfig, public_url: string): ChainInput {
  return {
    gates: config.gates,
    listener_gates: config.listener.gates,
    routes: config.routes.map((route) => ({
      path: route.path,
      url: routeUrl(route, public_url),
      runtime: route.runtime,
      gates: route.gates,
      public: route.public,
    })),
    gate_timeout_ms: config.listener.limits.gate_timeout_ms,
    public_url,
  };
}

async function closeRuntimes(open: readonly OpenRuntime[], deadline_ms: number): Promise<void> {
  await Promise.all(open.map(({ runtime }) => runtime.close(deadline_ms)));
}

function unchangedGates(loaded: LoadedConfig, former: LoadedConfig | undefined): ReadonlySet<string> {
  const before = former?.config.gates ?? {};
  const same = Object.entries(loaded.config.gates).filter(([name, gate]) => JSON.stringify(before[name]) === JSON.stringify(gate));
  return new Set(same.map(([name]) => name));
}
