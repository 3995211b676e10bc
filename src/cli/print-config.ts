import type { Command } from 'commander';
import { printConfig } from '../config/print.js';
import { type ConfigOption, loadNamedConfig, withConfigOption } from './config-option.js';
import type { CliIo } from './run-io.js';

/** `portcullis print-config`: the config as it would be in force, without a secret in it. */
export function registerPrintConfig(program: Command, io: CliIo): void {
  withConfigOption(program.command('print-config').description('print the config as YAML, defaults filled, secrets as ***')).action(
    (options: ConfigOption) => {
      io.stdout(printConfig(loadNamedConfig(options, io)));
    },
  );
}
