import { dirname } from 'node:path';
import type { Audit } from '../contract/audit.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { Server } from '../contract/server.js';
import type { Telemetry } from '../contract/telemetry.js';
import { asRuntime } from '../core/define/server-runtime.js';
import { ConfigError } from '../errors/error.js';
import { createExecutor } from '../executor/bounded.js';
import { findServer, NO_SERVER } from '../modules/find-server.js';
import { before, LOAD_TIMEOUT_MS } from '../modules/load-module.js';
import { openSdkServer, type SdkServer } from '../modules/sdk-server.js';
import { createHosted, type HiddenCall, type HostedRuntime } from '../runtime/hosted/hosted.js';
import { createSdkHosted, type SdkHostedRuntime } from '../runtime/hosted/sdk-hosted.js';

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
  readonly audit: Audit | undefined;
}

/** Loads the module of a hosted runtime and opens the runtime on what it exports. Rejects with ConfigError. */
export async function openHosted(source: HostedSource, deps: HostedSourceDeps): Promise<HostedRuntime | SdkHostedRuntime> {
  const { name, module, folder, max_concurrency, max_queue, state_keys } = source;
  const { log, clock, telemetry, metrics, audit } = deps;
  const { server } = await findServer(name, module, folder, clock);
  if (asRuntime(server) === undefined) {
    const sdk = await sdkServer(server, source, clock);
    return createSdkHosted({ name, ...sdk }, { log, clock, telemetry, executor: createExecutor({ max_concurrency, max_queue, clock }) });
  }
  const rejected = metrics.counter('executor_rejected_total', '', ['runtime', 'reason']);
  return createHosted(
    { name, server: server as Server, state_keys },
    {
      log,
      clock,
      telemetry,
      executor: createExecutor({ max_concurrency, max_queue, clock }),
      rejected: (reason) => rejected.add({ runtime: name, reason }),
      hidden: tellHidden(log, audit),
    },
  );
}

/** What is not ours must be a factory of the official SDK's servers, found from the module's own folder. */
async function sdkServer(exported: unknown, { name, module, folder }: HostedSource, clock: Clock): Promise<SdkServer> {
  const fail = (message: string) => new ConfigError([{ where: `runtimes.${name}.module`, message }]);
  const from = module.startsWith('npm:') ? folder : dirname(module);
  const opening = openSdkServer(exported, from);
  const sdk = await before(opening, LOAD_TIMEOUT_MS, clock, `its factory made no server within ${LOAD_TIMEOUT_MS} ms`).catch(
    (error: unknown) => {
      throw fail(error instanceof Error ? error.message : `its factory threw ${String(error)}`);
    },
  );
  if (sdk !== undefined) return sdk;
  throw fail(NO_SERVER);
}

/** The client's answer says that the component does not exist; the audit gets the real reason. The line of the admission has the client's address. */
function tellHidden(log: Log, audit: Audit | undefined): (call: HiddenCall) => void {
  return ({ request_id, route, identity, component: { kind, name }, why }) => {
    log.debug({ request_id, route, component: kind, name, why }, 'hidden from the caller');
    audit?.decided({
      request_id,
      route,
      gate: '',
      verdict: 'refused',
      code: why === 'scopes' ? 'HIDDEN_BY_SCOPES' : 'HIDDEN_BY_POLICY',
      status: 200,
      identity,
      method: METHODS[kind] ?? name,
      tool: kind === 'tool' ? name : undefined,
      client_address: '',
    });
  };
}

const METHODS: Readonly<Record<string, string>> = {
  tool: 'tools/call',
  resource: 'resources/read',
  template: 'resources/read',
  prompt: 'prompts/get',
};

/** The server that the module of a hosted runtime exports. Rejects with ConfigError when there is none that `defineServer` made. */
export async function loadServer(name: string, module: string, folder: string, clock: Clock): Promise<Server> {
  const { server } = await findServer(name, module, folder, clock);
  if (asRuntime(server) !== undefined) return server as Server;
  const message = 'its export "server" was not made by defineServer of portcullis/server';
  throw new ConfigError([{ where: `runtimes.${name}.module`, message }]);
}
