import type { Command } from 'commander';
import { builtins } from '../../gates/index.js';
import { publicUrl } from '../assembly/urls.js';
import type { LoadedConfig } from '../config/load.js';
import { locate } from '../config/source.js';
import { ConfigError } from '../errors/error.js';
import { checkChains } from '../gate-chain/load.js';
import { chainInput } from '../gateway.js';
import { type ConfigOption, loadNamedConfig, withConfigOption } from './config-option.js';
import type { CliIo } from './io.js';

/** `portcullis validate`: says whether a start with this config would succeed as far as no network is needed. */
export function registerValidate(program: Command, io: CliIo): void {
  withConfigOption(
    program.command('validate').description('check a config file and everything it names, without starting anything'),
  ).action(async (options: ConfigOption) => {
    const loaded = loadNamedConfig(options, io);
    await checkGates(loaded);
    for (const warning of loaded.warnings) io.stderr(`warning: ${warning}\n`);
    const { routes, gates, runtimes } = loaded.config;
    const counts = [
      plural(routes.length, 'route'),
      plural(Object.keys(gates).length, 'gate'),
      plural(Object.keys(runtimes).length, 'runtime'),
    ];
    io.stdout(`OK ${loaded.file}: ${counts.join(', ')}\n`);
  });
}

/** Finds every gate's module, checks its options and the order of the chains. Throws ConfigError with the places in the file. */
export async function checkGates(loaded: LoadedConfig): Promise<void> {
  const problems = await checkChains(chainInput(loaded, publicUrl(loaded.config)), { builtins, folder: loaded.folder });
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => locate(problem, loaded.source)));
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
