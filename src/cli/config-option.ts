import { type Command, InvalidArgumentError, Option } from 'commander';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import { trimOws } from '../wire/field.js';
import type { CliIo } from './run-io.js';

const DEFAULT_FILE = 'portcullis.yaml';

/** What `-c` gave. */
export interface ConfigOption {
  readonly config?: string;
}

/** Adds `-c FILE` to a command. */
export function withConfigOption(command: Command): Command {
  return command.addOption(new Option('-c, --config <file>', `config file (default: $PORTCULLIS_CONFIG, then ./${DEFAULT_FILE})`));
}

/** The file that `-c`, `PORTCULLIS_CONFIG` or the default names, in this order. */
export function configFileOf(options: ConfigOption, io: CliIo): string {
  const named = options.config ?? io.env.PORTCULLIS_CONFIG;
  return named === undefined || named === '' ? DEFAULT_FILE : named;
}

/** Loads that file without looking into its gates. Throws ConfigError. */
export function loadNamedConfig(options: ConfigOption, io: CliIo): LoadedConfig {
  return loadConfig(configFileOf(options, io), { env: io.env, cwd: io.cwd });
}

export function toField(text: string, before: readonly (readonly [string, string])[] = []): readonly (readonly [string, string])[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('write a field as name:value.');
  return [...before, [trimOws(text.slice(0, colon)), trimOws(text.slice(colon + 1))]];
}
