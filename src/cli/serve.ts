import type { LoadedConfig } from '../config/load.js';
import type { Log } from '../contract/log.js';
import { assembleGateway, type Gateway } from '../gateway.js';
import { systemClock } from '../system-clock.js';
import { createLog } from '../telemetry/log.js';
import { CliExit, EXIT } from './exit.js';
import { located } from './located.js';
import type { RunIo } from './run-io.js';

/** The log that `telemetry.log` asks for, on standard output. */
export function logOf({ config }: LoadedConfig, io: RunIo): Log {
  const { level, format } = config.telemetry.log;
  const shape = format === 'auto' ? (io.terminal ? 'pretty' : 'json') : format;
  return createLog({ level, format: shape, write: io.stdout, clock: systemClock });
}

export interface ServeOptions {
  /** Runs once requests are served. */
  readonly ready?: (gateway: Gateway) => void;
  /** Reads the config anew, for reloads. */
  readonly reread?: () => Promise<LoadedConfig>;
}

/**
 * Serves until a signal: the first drains, a second ends at once. SIGHUP reloads. Throws ConfigError, or
 * CliExit 69 when an address cannot be bound.
 */
export async function serveUntilSignal(loaded: LoadedConfig, io: RunIo, { ready, reread }: ServeOptions = {}): Promise<void> {
  const log = logOf(loaded, io);
  const gateway = assemble(loaded, log, io, reread);
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

function assemble(loaded: LoadedConfig, log: Log, io: RunIo, reread: ServeOptions['reread']): Gateway {
  const { stdoutStream: stdout, process } = io;
  try {
    return assembleGateway(loaded, { log, stdout, process, ...(reread === undefined ? {} : { reread }) });
  } catch (error) {
    throw located(error, loaded);
  }
}

function explain(error: unknown, loaded: LoadedConfig): unknown {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return located(error, loaded);
  const why = code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be bound (${code})`;
  const remedy = loaded.file === undefined ? 'choose others with --port and --ops-port' : 'choose another listener.port or ops.port';
  return new CliExit(
    EXIT.unavailable,
    `${address ?? loaded.config.listener.host}:${port ?? loaded.config.listener.port} ${why}: ${remedy}`,
  );
}
