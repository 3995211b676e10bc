import type { Command } from 'commander';
import { loadCheckedConfig } from './checked-config.js';
import { type ConfigOption, withConfigOption } from './config-option.js';
import type { CliIo } from './run-io.js';

/** `portcullis validate`: says whether a start with this config would succeed as far as no network is needed. */
export function registerValidate(program: Command, io: CliIo): void {
  withConfigOption(
    program.command('validate').description('check a config file and everything it names, without starting anything'),
  ).action(async (options: ConfigOption) => {
    const { config, file, warnings } = await loadCheckedConfig(options, io);
    for (const warning of warnings) io.stderr(`warning: ${warning}\n`);
    const { routes, gates, runtimes } = config;
    const counts = [
      plural(routes.length, 'route'),
      plural(Object.keys(gates).length, 'gate'),
      plural(Object.keys(runtimes).length, 'runtime'),
    ];
    io.stdout(`OK ${file}: ${counts.join(', ')}\n`);
  });
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
