import { shownUrl } from '../config/format/formats.js';
import { type LoadedConfig, resolveConfig } from '../config/load.js';
import { usageError } from './exit.js';
import { readMcpServers } from './mcp-servers.js';
import { literal } from './references.js';
import type { RunIo } from './run-io.js';

/** What stands behind the routes of a gateway that has no config file. */
export type AdHocConfig =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'file'; readonly file: string };

export interface AdHocOptions {
  readonly host?: string;
  readonly port?: number;
  readonly opsPort?: number;
  /** `NAME` hands on the variable of this environment, `NAME=value` sets one. */
  readonly env?: readonly string[];
}

/** A config for servers that were named on the command line: public routes on loopback. */
export function loadAdHocConfig(adHoc: AdHocConfig, options: AdHocOptions, io: RunIo): LoadedConfig {
  const listener = { host: options.host ?? '127.0.0.1', port: options.port ?? 8080 };
  const places = { listener, ops: { port: options.opsPort ?? 9090 } };
  const { folder, env, ...parts } = partsOf(adHoc, options, places, io);
  return resolveConfig({ ...places, ...parts }, { env, folder });
}

function partsOf(adHoc: AdHocConfig, options: AdHocOptions, places: object, io: RunIo) {
  if (adHoc.kind === 'file') {
    const { runtimes, routes, notes, folder } = readMcpServers(adHoc.file, io, { places, unset: 'refuse' });
    for (const note of notes) io.stderr(`note: ${note}\n`);
    return { runtimes, routes, folder, env: io.env };
  }
  const server =
    adHoc.kind === 'url'
      ? { kind: 'proxied', url: checkedUrl(adHoc.url) }
      : { kind: 'stdio', command: literal(adHoc.command), args: adHoc.args.map(literal), env: variables(options.env ?? [], io) };
  return { runtimes: { server }, routes: [{ path: '/mcp', public: true, runtime: 'server' }], folder: io.cwd, env: {} };
}

function checkedUrl(url: string): string {
  if (/^https?:\/\//.test(url)) return url;
  throw usageError(`"${shownUrl(url)}" is not an http:// or https:// URL of an MCP server; a command goes after --`);
}

function variables(given: readonly string[], io: RunIo): Readonly<Record<string, string>> {
  const set: Record<string, string> = {};
  for (const entry of given) {
    const at = entry.indexOf('=');
    const name = at < 0 ? entry : entry.slice(0, at);
    const value = at < 0 ? io.env[name] : entry.slice(at + 1);
    if (value === undefined) throw usageError(`--env ${name}: this variable is not set here; write --env ${name}=value`);
    set[name] = literal(value);
  }
  return set;
}
