import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema/config.js';
import type { Audit } from '../contract/audit.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { ProcessHost } from '../contract/process-host.js';
import type { HttpRuntime } from '../contract/runtime.js';
import type { Telemetry } from '../contract/telemetry.js';
import { ConfigError, type ConfigProblem } from '../errors/error.js';
import type { HostedRuntime } from '../runtime/hosted/hosted.js';
import type { SdkHostedRuntime } from '../runtime/hosted/sdk-hosted.js';
import { createHttpRuntime } from '../runtime/http/http-runtime.js';
import type { PeerRuntime } from '../runtime/peer/peer-runtime.js';
import { createProxied, type ProxiedRuntime } from '../runtime/proxied/proxied.js';
import { createSessionSeal, type SessionSeal } from '../runtime/shared/session-seal.js';
import { createTaskSeal, type TaskSeal } from '../runtime/shared/task-seal.js';
import { SseClients } from '../runtime/sse/sse-clients.js';
import type { TunnelEgress } from '../upstream/egress.js';
import { openHosted } from './hosted.js';
import { openStdio } from './stdio.js';
import { openTransportRuntime } from './transport.js';

export interface RuntimeDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly metrics: Metrics;
  /** Undefined: no audit trail. */
  readonly audit: Audit | undefined;
  /** Where child processes are run from. */
  readonly host: ProcessHost;
  /** The way to what is reached over the network. */
  readonly egress: TunnelEgress;
  /** Of the gateway, told to the servers that it runs. */
  readonly version: string;
}

export type AnyRuntime = ProxiedRuntime | HttpRuntime | HostedRuntime | SdkHostedRuntime | PeerRuntime;

/** One runtime of the config, and everything that it was made from, as text: a reload that changes none of it keeps the runtime. */
export interface OpenRuntime {
  readonly made_from: string;
  readonly runtime: AnyRuntime;
}

/** Every runtime of a config, by name. */
export interface Runtimes {
  readonly by_name: ReadonlyMap<string, OpenRuntime>;
  /** Clients of HTTP+SSE; it outlives a reload. */
  readonly sse: SseClients;
  readonly seal: { readonly made_from: string; readonly seal: SessionSeal; readonly tasks: TaskSeal };
}

/**
 * Makes the runtimes of a config; those that a former config made in the same way are taken over. Nothing is started yet. Rejects
 * with ConfigError when the module of a hosted server cannot be used. `folder` is the config file's.
 */
export async function createRuntimes(config: Config, folder: string, deps: RuntimeDeps, former?: Runtimes): Promise<Runtimes> {
  const seal = sealOf(config, deps, former);
  const by_name = new Map<string, OpenRuntime>();
  const problems: ConfigProblem[] = [];
  for (const [name, options] of Object.entries(config.runtimes)) {
    const ca = !('ca_file' in options) || options.ca_file === undefined ? undefined : readFileSync(options.ca_file, 'utf8');
    const { public_url, sessions, limits } = config.listener;
    const made_from = JSON.stringify([options, ca, options.kind === 'http' ? public_url : seal.made_from]);
    const kept = former?.by_name.get(name);
    if (kept?.made_from === made_from) {
      by_name.set(name, kept);
      continue;
    }
    const own = { ...deps, log: deps.log.child({ runtime: name }) };
    const make = (): AnyRuntime | Promise<AnyRuntime> => {
      if (options.kind === 'http')
        return createHttpRuntime({ ...options, name, ca, public_url, max_body_bytes: limits.max_body_bytes }, own);
      if (options.kind === 'hosted') return openHosted({ ...options, name, folder, state_keys: sessions.keys }, own);
      if (options.kind === 'stdio') return openStdio(name, options, folder, { ...own, seal: seal.seal, state_keys: sessions.keys });
      if (options.kind === 'transport')
        return openTransportRuntime(name, options, folder, { ...own, seal: seal.seal, state_keys: sessions.keys });
      return createProxied(
        { ...options, name, ca },
        { ...own, seal: seal.seal, state_keys: sessions.keys, task_seal: options.tasks === 'bind' ? seal.tasks : undefined },
      );
    };
    try {
      by_name.set(name, { made_from, runtime: await make() });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { by_name, seal, sse: former?.sse ?? new SseClients(config.listener.limits, deps.clock) };
}

/** A seal without configured keys has one random key: it lives as long as the process. */
function sealOf(config: Config, deps: RuntimeDeps, former: Runtimes | undefined): Runtimes['seal'] {
  const { keys, ttl_s } = config.listener.sessions;
  const made_from = JSON.stringify(config.listener.sessions);
  if (former?.seal.made_from === made_from) return former.seal;
  const { clock } = deps;
  return {
    made_from,
    seal: createSessionSeal({ keys: keys.length === 0 ? undefined : keys, ttl_s, clock }),
    tasks: createTaskSeal({ keys, clock }),
  };
}
