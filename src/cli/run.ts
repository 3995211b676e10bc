import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LoadedConfig } from '../config/load.js';
import { type AdHocConfig, type AdHocOptions, loadAdHocConfig } from './ad-hoc-config.js';
import { loadCheckedConfig } from './checked-config.js';
import { type ConfigOption, withConfigOption } from './config-option.js';
import { usageError } from './exit.js';
import type { RunIo } from './run-io.js';
import { serveUntilSignal } from './serve.js';

interface RunOptions extends ConfigOption, AdHocOptions {
  readonly mcpServers?: string;
}

/** `portcullis run`: serves a config file; or without one an HTTP MCP server, a stdio command, or a client's list of servers. */
export function registerRun(program: Command, io: RunIo): void {
  withConfigOption(
    program.command('run').description('serve a config file; or without one: http(s)://…, -- COMMAND, or --mcp-servers FILE'),
  )
    .usage('[options] [url | -- command args...]')
    .argument('[server...]', 'MCP server to put behind a public route /mcp on loopback: its URL, or after -- its command')
    .addOption(new Option('--mcp-servers <file>', 'serve each server of a client’s file (mcpServers or servers) at /<name>/mcp'))
    .addOption(new Option('--host <host>', 'without a config file: address to listen on').default(undefined, '127.0.0.1'))
    .addOption(new Option('--port <port>', 'without a config file: port to listen on').argParser(toPort).default(undefined, '8080'))
    .addOption(
      new Option('--ops-port <port>', 'without a config file: port of the ops listener').argParser(toPort).default(undefined, '9090'),
    )
    .addOption(
      new Option('--env <name[=value]>', 'with a command: a variable that it gets; repeat for several').argParser(
        (text: string, before: readonly string[] = []) => [...before, text],
      ),
    )
    .action(async (server: readonly string[], options: RunOptions) => {
      const adHoc = toAdHocConfig(server, options, afterDashes(program));
      if (adHoc !== undefined) return serveUntilSignal(loadAdHocConfig(adHoc, options, io), io);
      const reread = (): Promise<LoadedConfig> => loadCheckedConfig(options, io);
      await serveUntilSignal(await reread(), io, { reread });
    });
}

/** What is to be served without a config file; undefined: there is one. */
function toAdHocConfig(server: readonly string[], options: RunOptions, after_dashes: boolean): AdHocConfig | undefined {
  const { config, mcpServers, host, port, opsPort, env } = options;
  const ways = [config, mcpServers, server[0]].filter((way) => way !== undefined);
  if (ways.length > 1) throw usageError('give one of: a URL, -- COMMAND, --mcp-servers, --config');
  const [first, ...rest] = server;
  const command = first !== undefined && after_dashes;
  if (env !== undefined && !command) throw usageError('--env applies to a command; a file sets env itself');
  if (command) return { kind: 'command', command: first, args: rest };
  if (rest.length > 0) throw usageError('more than one argument; a command goes after --: portcullis run -- COMMAND args');
  if (first !== undefined) return { kind: 'url', url: first };
  if (mcpServers !== undefined) return { kind: 'file', file: mcpServers };
  if ((host ?? port ?? opsPort) === undefined) return undefined;
  throw usageError('--host, --port and --ops-port go without a config file, which has listener.host, listener.port and ops.port');
}

/** True when the arguments came after `--`. */
function afterDashes(program: Command): boolean {
  return (program as Command & { readonly rawArgs: readonly string[] }).rawArgs.includes('--');
}

/** Reads a TCP port; 0 picks one. */
export function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return port;
}
