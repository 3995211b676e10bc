import { type Command, Option } from 'commander';
import { loadServer } from '../assembly/hosted.js';
import type { LoadedConfig } from '../config/load.js';
import { systemClock } from '../system-clock.js';
import { createLog } from '../telemetry/log.js';
import { serveStdio } from '../transport/stdio.js';
import { located } from './checked-config.js';
import { type ConfigOption, loadNamedConfig, withConfigOption } from './config-option.js';
import { CliExit, EXIT, usageError } from './exit.js';
import type { RunIo } from './run-io.js';

interface StdioCommandOptions extends ConfigOption {
  readonly runtime?: string;
}

/** `portcullis stdio`: serves one hosted runtime of a config on standard input and output. Gates and routes have no part in it. */
export function registerStdio(program: Command, io: RunIo): void {
  withConfigOption(program.command('stdio').description('serve a hosted server of a config file on standard input and output'))
    .addOption(new Option('--runtime <name>', 'runtime of kind hosted (default: the only one)'))
    .action(async (options: StdioCommandOptions) => serve(loadNamedConfig(options, io), options.runtime, io));
}

/** Until the input ends. The first signal stops reading and lets calls finish, a second ends them at once. */
async function serve(loaded: LoadedConfig, wanted: string | undefined, io: RunIo): Promise<void> {
  const { config, folder } = loaded;
  const [name, module] = hostedOf(loaded, wanted);
  const { input, output } = io.claimStdio();
  const log = createLog({ level: config.telemetry.log.level, format: 'json', write: io.stderr, clock: systemClock });
  const server = await loadServer(name, module, folder, systemClock).catch((error: unknown) => {
    throw located(error, loaded);
  });
  const stop = new AbortController();
  const release = io.onSignal(() => {
    // An output that is gone ends what runs.
    if (stop.signal.aborted) output.destroy();
    else stop.abort();
  });
  const { max_body_bytes, write_timeout_ms, request_timeout_ms, request_timeout_max_ms, max_subscriptions, drain_timeout_ms } =
    config.listener.limits;
  const end = await serveStdio(server, {
    input,
    output,
    max_line_bytes: max_body_bytes,
    write_timeout_ms,
    request_timeout_ms,
    request_timeout_max_ms,
    max_subscriptions,
    drain_timeout_ms,
    state_keys: config.listener.sessions.keys,
    signal: stop.signal,
    log,
  });
  release();
  input.destroy();
  if (end === 'write_timeout') {
    output.destroy();
    throw new CliExit(EXIT.io, `the client took nothing for listener.limits.write_timeout_ms (${write_timeout_ms} ms): ended`);
  }
}

/** Name and module of the runtime that is asked for, or of the only one there is. */
function hostedOf({ config }: LoadedConfig, wanted: string | undefined): readonly [name: string, module: string] {
  const hosted = Object.entries(config.runtimes).flatMap(([name, runtime]) =>
    runtime.kind === 'hosted' ? [[name, runtime.module] as const] : [],
  );
  const found = wanted === undefined && hosted.length === 1 ? hosted[0] : hosted.find(([name]) => name === wanted);
  if (found !== undefined) return found;
  const there = hosted.length === 0 ? 'the config has none' : `there is ${hosted.map(([name]) => name).join(', ')}`;
  throw usageError(`--runtime names a runtime of kind hosted; ${there}`);
}
