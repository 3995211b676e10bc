import type { LoadedConfig } from '../config/load.js';
import type { Log } from '../contract/log.js';
import { assembleGateway, type Gateway } from '../gateway.js';
import { systemClock } from '../system-clock.js';
import { createLog, type LogLevel } from '../telemetry/log.js';
import { egressFrom } from '../upstream/egress.js';
import { located } from './checked-config.js';
import { CliExit, EXIT } from './exit.js';
import type { RunIo } from './run-io.js';

/** The logs that `telemetry.log` asks for, on standard output. `level` does not silence denials and other mandatory records. */
function logsOf({ config }: LoadedConfig, io: RunIo): { readonly log: Log; readonly record: Log } {
  const { level, format } = config.telemetry.log;
  const shape = format === 'auto' ? (io.terminal ? 'pretty' : 'json') : format;
  const at = (least: LogLevel): Log => createLog({ level: least, format: shape, write: io.stdout, clock: systemClock });
  return { log: at(level), record: at('info') };
}

export interface ServeOptions {
  /** Runs once requests are served. */
  readonly ready?: (gateway: Gateway) => void;
  /** Reloads the config. */
  readonly reread?: () => Promise<LoadedConfig>;
}

/**
 * Serves until a signal: the first drains, a second ends at once. SIGHUP reloads. Throws ConfigError, or
 * CliExit 69 when an address cannot be bound.
 */
export async function serveUntilSignal(loaded: LoadedConfig, io: RunIo, { ready, reread }: ServeOptions = {}): Promise<void> {
  const logs = logsOf(loaded, io);
  const { log } = logs;
  const gateway = assemble(loaded, logs, io, reread);
  let signals = 0;
  const release = io.onSignal((signal) => {
    signals++;
    log.info({ signal }, signals === 1 ? `${signal}: draining; a second signal ends at once` : `${signal}: ending at once`);
    if (signals === 1) void gateway.drain();
    else void gateway.close();
  });
  const releaseHangup = io.onHangup(() => void gateway.reload().catch(() => undefined));
  try {
    const starting = gateway.start();
    // A signal that comes during the start does not wait for it.
    await Promise.race([starting, gateway.closed]);
    if (signals === 0) {
      await starting;
      ready?.(gateway);
    }
    await gateway.closed;
  } catch (error) {
    throw explain(error, loaded);
  } finally {
    release();
    releaseHangup();
  }
}

function assemble(loaded: LoadedConfig, logs: ReturnType<typeof logsOf>, io: RunIo, reread: ServeOptions['reread']): Gateway {
  const { stdoutStream: stdout, process } = io;
  try {
    return assembleGateway(loaded, {
      ...logs,
      stdout,
      process,
      egress: egressFrom(io.env, systemClock),
      ...(reread === undefined ? {} : { reread }),
    });
  } catch (error) {
    throw located(error, loaded);
  }
}

function explain(error: unknown, loaded: LoadedConfig): unknown {
  const { code, syscall, address, port } = (error ?? {}) as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return located(error, loaded);
  const why = code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be bound (${code})`;
  const remedy = loaded.file === undefined ? 'choose others with --port and --ops-port' : 'choose another listener.port or ops.port';
  return new CliExit(
    EXIT.unavailable,
    `${address ?? loaded.config.listener.host}:${port ?? loaded.config.listener.port} ${why}: ${remedy}`,
  );
}
