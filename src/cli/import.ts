import type { Command } from 'commander';
import { stringify } from 'yaml';
import { readMcpServers } from './mcp-servers.js';
import type { CliIo } from './run-io.js';

/** `portcullis import`: a desktop client's list of MCP servers as a config file, on standard output. */
export function registerImport(program: Command, io: CliIo): void {
  program
    .command('import')
    .description('print a config with a route /<name>/mcp for each server of a client’s file (mcpServers or servers)')
    .argument('<file>', 'e.g. claude_desktop_config.json, .cursor/mcp.json, .vscode/mcp.json')
    .action((file: string) => {
      const places = { listener: { host: '127.0.0.1', port: 8080 } };
      const { runtimes, routes, notes } = readMcpServers(file, io, { places, unset: 'allow' });
      for (const note of notes) io.stderr(`note: ${note}\n`);
      const config = { ...places, runtimes, routes };
      io.stdout(`${HEAD}${stringify(config)}`);
    });
}

const HEAD = '# Every route is public, and only this machine can reach it: add gates before you let anybody else in.\n';
