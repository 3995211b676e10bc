import { type Command, InvalidArgumentError, Option } from 'commander';
import { type LoadedConfig, resolveConfig } from '../config/load.js';
import { loadCheckedConfig } from './checked-config.js';
import { type ConfigOption, withConfigOption } from './config-option.js';
import { CliExit, EXIT } from './exit.js';
import type { RunIo } from './run-io.js';
import { serveUntilSignal } from './serve.js';

interface RunOptions extends ConfigOption {
  readonly host?: string;
  readonly port?: number;
  readonly opsPort?: number;
}

/** `portcullis run`: serves a config file, or one HTTP MCP server without a file. */
export function registerRun(program: Command, io: RunIo): void {
  withConfigOption(program.command('run').description('serve: a config file, or one MCP server at http(s)://…'))
    .argument('[url]', 'MCP server to put behind a public route /mcp on loopback, without a config file')
    .addOption(new Option('--host <host>', 'with a URL: address to listen on').default(undefined, '127.0.0.1'))
    .addOption(new Option('--port <port>', 'with a URL: port to listen on').argParser(toPort).default(undefined, '8080'))
    .addOption(new Option('--ops-port <port>', 'with a URL: port of the ops listener').argParser(toPort).default(undefined, '9090'))
    .action(async (url: string | undefined, options: RunOptions) => {
      if (url === undefined && (options.host ?? options.port ?? options.opsPort) !== undefined) {
        throw new CliExit(
          EXIT.usage,
          'error: --host, --port and --ops-port go with a URL; a config file has listener.host, listener.port and ops.port',
        );
      }
      if (url !== undefined && options.config !== undefined) throw new CliExit(EXIT.usage, 'error: give a URL or --config, not both');
      if (url !== undefined) return serveUntilSignal(fronting(url, options, io), io);
      const reread = (): Promise<LoadedConfig> => loadCheckedConfig(options, io);
      await serveUntilSignal(await reread(), io, { reread });
    });
}

function fronting(url: string, options: RunOptions, io: RunIo): LoadedConfig {
  if (!/^https?:\/\//.test(url)) throw new CliExit(EXIT.usage, `error: "${url}" is not an http:// or https:// URL of an MCP server`);
  const config = {
    listener: { host: options.host ?? '127.0.0.1', port: options.port ?? 8080 },
    ops: { port: options.opsPort ?? 9090 },
    runtimes: { server: { kind: 'proxied', url } },
    routes: [{ path: '/mcp', public: true, runtime: 'server' }],
  };
  return resolveConfig(config, { folder: io.cwd });
}

/** Reads a TCP port; 0 picks one. */
export function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return port;
}
