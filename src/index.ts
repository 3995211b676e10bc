// The library: `import { createGateway } from 'portcullis'`.
import { type LoadedConfig, loadConfig, resolveConfig } from './config/load.js';
import type { Log } from './contract/log.js';
import { assembleGateway, type Gateway } from './gateway.js';
import { SILENT } from './silent-log.js';
import { systemClock } from './system-clock.js';
import { egressFrom } from './upstream/egress.js';

export { type LoadedConfig, loadConfig, resolveConfig } from './config/load.js';
export type { Config } from './config/schema/config.js';
export type { Log } from './contract/log.js';
export { CODES, type ErrorCode, type ErrorRow } from './errors/codes.js';
export { ConfigError, type ConfigProblem } from './errors/error.js';
export type { Gateway } from './gateway.js';
export type { DrainResult } from './listener/socket/drain.js';
export { createHub, defineServer, defineTool, RpcError, type Server, type ServerDefinition, ToolError } from './server.js';
export { version } from './version.js';

/** What a gateway gets of the process that it runs in, beside its config. */
export interface GatewayOptions {
  /**
   * Values for `${NAME}` in the config's texts, and `HTTPS_PROXY` and `NO_PROXY`, e.g. `process.env`. Default: none, every name is unset and no
   * proxy is used.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where relative files and `npm:` gates are resolved from, for a config given as an object. Default: the working folder. */
  readonly folder?: string;
  /** Default: silent. */
  readonly log?: Log;
  /** Where `telemetry.audit.file: "-"` goes, e.g. `process.stdout`. Default: nowhere, and such a config is refused. */
  readonly stdout?: NodeJS.WritableStream;
}

/**
 * Makes a gateway from a config: the name of a YAML or JSON file, or the same as an object (snake_case keys, as in config/REFERENCE.md).
 * Throws ConfigError with every problem at once. Nothing is bound before `start()`.
 */
export function createGateway(config: string | object, options: GatewayOptions = {}): Gateway {
  const { env = {}, folder = '.', log = SILENT, stdout } = options;
  const parts = { log, egress: egressFrom(env, systemClock), ...(stdout === undefined ? {} : { stdout }) };
  if (typeof config !== 'string') return assembleGateway(resolveConfig(config, { env, folder }), parts);
  const reread = (): LoadedConfig => loadConfig(config, { env });
  return assembleGateway(reread(), { ...parts, reread });
}
