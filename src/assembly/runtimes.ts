import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema/config.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { HttpRuntime, Runtime } from '../contract/runtime.js';
import type { Telemetry } from '../contract/telemetry.js';
import { createOpaqueHttp } from '../runtime/opaque-http.js';
import { createProxied, type ProxiedRuntime } from '../runtime/proxied.js';
import { createSessionSeal } from '../runtime/session-seal.js';

export interface RuntimeDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Every runtime of the config by name, opened but not started. */
export interface Runtimes {
  readonly mcp: ReadonlyMap<string, ProxiedRuntime>;
  readonly http: ReadonlyMap<string, HttpRuntime>;
  readonly all: readonly (Runtime | HttpRuntime)[];
}

export function createRuntimes(config: Config, deps: RuntimeDeps): Runtimes {
  const { keys, ttl_s } = config.listener.sessions;
  const seal = createSessionSeal({ keys: keys.length === 0 ? undefined : keys, ttl_s, clock: deps.clock });
  const mcp = new Map<string, ProxiedRuntime>();
  const http = new Map<string, HttpRuntime>();
  for (const [name, runtime] of Object.entries(config.runtimes)) {
    const log = deps.log.child({ runtime: name });
    const ca = runtime.ca_file === undefined ? undefined : readFileSync(runtime.ca_file, 'utf8');
    if (runtime.kind === 'http')
      http.set(name, createOpaqueHttp({ ...runtime, name, ca, public_url: config.listener.public_url }, { ...deps, log }));
    else mcp.set(name, createProxied({ ...runtime, name, ca }, { ...deps, log, seal }));
  }
  return { mcp, http, all: [...mcp.values(), ...http.values()] };
}
