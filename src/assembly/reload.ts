import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema/config.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { Listener } from '../listener/request/server.js';
import { moduleUrl } from '../modules/import-module.js';
import { isOutdated } from '../modules/load-module.js';
import { closeSnapshot, openSnapshot, type Snapshot, type SnapshotDeps } from './snapshot.js';

const RETIRE_POLL_MS = 1000;
const CLOSE_MS = 2000;

/**
 * What a reload came to. `restart` names what only a restart puts in force: keys whose values differ from those the process started
 * with, and keys of modules whose file is another than the one that was loaded.
 */
export interface ReloadResult {
  readonly restart: readonly string[];
}

/** Owns the snapshots of a gateway: the one in force, and those on which requests still finish. */
export class Snapshots {
  readonly #listener: Listener;
  readonly #deps: SnapshotDeps;
  readonly #live = new Set<Snapshot>();
  readonly #counter: ReturnType<Metrics['counter']>;
  #current: Snapshot | undefined;
  #started: LoadedConfig | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #succeeded = 1;
  #closed = false;

  constructor(listener: Listener, deps: SnapshotDeps) {
    this.#listener = listener;
    this.#deps = deps;
    this.#counter = deps.metrics.counter('config_reloads_total', '', ['outcome']);
    deps.metrics.gauge('config_last_reload_success', '', [], () => [{ value: this.#succeeded }]);
  }

  get current(): Snapshot | undefined {
    return this.#current;
  }

  /** Opens the first snapshot and puts it in force. */
  async start(loaded: LoadedConfig, public_url: string): Promise<void> {
    await this.#swap(loaded, public_url);
    this.#started = loaded;
  }

  /**
   * Puts another config in force as one whole. Requests and streams under way finish on the old one, which is closed after
   * them. Rejects with a ConfigError and changes nothing when the new one cannot be used. Reloads run one after the other.
   */
  reload(loaded: LoadedConfig, bound_url: string): Promise<ReloadResult> {
    const turn = this.#turn.then(() => this.#reload(loaded, bound_url));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Counts a reload that failed before it got here: a file that cannot be read or parsed. */
  failed(): void {
    this.#succeeded = 0;
    this.#counter.add({ outcome: 'failed' });
  }

  /** Closes all of them. One that is being opened is closed when it is there, and its start or reload rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const snapshot of [...this.#live]) {
      this.#live.delete(snapshot);
      await closeSnapshot(snapshot, this.#live, CLOSE_MS);
    }
  }

  async #reload(loaded: LoadedConfig, bound_url: string): Promise<ReloadResult> {
    const before = this.#current;
    try {
      await this.#swap(
        this.#started === undefined ? loaded : inForce(this.#started, loaded),
        loaded.config.listener.public_url ?? bound_url,
      );
    } catch (error) {
      this.failed();
      throw error;
    }
    this.#succeeded = 1;
    this.#counter.add({ outcome: 'succeeded' });
    if (before !== undefined) retireLater(this.#deps.clock, () => this.#retire(before));
    const keys = this.#started === undefined ? [] : restartKeys(this.#started, loaded);
    return { restart: [...keys, ...outdatedModules(loaded.config, loaded.folder)] };
  }

  async #swap(loaded: LoadedConfig, public_url: string): Promise<void> {
    const next = await openSnapshot(loaded, public_url, this.#deps, this.#current);
    if (this.#closed) {
      await closeSnapshot(next, this.#live, 0);
      throw new Error('the gateway was closed meanwhile');
    }
    this.#live.add(next);
    this.#current = next;
    this.#listener.open(next.routing);
  }

  /** True once the old snapshot is closed, or on its way. */
  #retire(old: Snapshot): boolean {
    if (!this.#live.has(old)) return true;
    if (this.#listener.uses(old.routing)) return false;
    this.#live.delete(old);
    void closeSnapshot(old, this.#live, CLOSE_MS).catch((error: unknown) =>
      this.#deps.log.warn({ error: String(error) }, 'parts of the former config did not close'),
    );
    return true;
  }
}

function retireLater(clock: Clock, retire: () => boolean): void {
  const poll = clock.interval(RETIRE_POLL_MS, () => {
    if (retire()) poll.cancel();
  });
}

/** The new config, with the sections that are read only at startup taken from the running one, so that reports show the config in force. */
function inForce({ config: { listener, ops, telemetry, reload }, referenced }: LoadedConfig, next: LoadedConfig): LoadedConfig {
  const { tls: _, ...fresh } = next.config.listener;
  const { host, port, keep_alive, limits, tls } = listener;
  const kept = { ...fresh, host, port, keep_alive, limits, ...(tls === undefined ? {} : { tls }) };
  return {
    ...next,
    config: { ...next.config, listener: kept, ops, telemetry, reload },
    referenced: new Set([...referenced, ...next.referenced]),
  };
}

/** Keys that are read once, when the process starts. */
function restartKeys({ config: before }: LoadedConfig, { config: after }: LoadedConfig): readonly string[] {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['listener.host', before.listener.host, after.listener.host],
    ['listener.port', before.listener.port, after.listener.port],
    ['listener.keep_alive', before.listener.keep_alive, after.listener.keep_alive],
    ['listener.tls', before.listener.tls, after.listener.tls],
    ['listener.limits', before.listener.limits, after.listener.limits],
    ['ops', before.ops, after.ops],
    ['telemetry', before.telemetry, after.telemetry],
    ['reload', before.reload, after.reload],
  ];
  return pairs.filter(([, was, is]) => JSON.stringify(was) !== JSON.stringify(is)).map(([key]) => key);
}

/** Says in the log what a reload came to. */
export function tellReload(log: Log, { restart }: ReloadResult, warnings: readonly string[]): void {
  log.info({ restart }, 'the new config is in force');
  for (const warning of warnings) log.warn({}, warning);
  if (restart.length > 0) log.warn({ restart }, `only a restart puts these changes in force: ${restart.join(', ')}`);
}

/** Keys of the modules that run as they were before their file changed. Code is loaded once: only a restart puts the file in force. */
export function outdatedModules({ gates, runtimes }: Config, folder: string): readonly string[] {
  const modules = [
    ...Object.entries(gates).map(([name, { use }]) => [`gates.${name}.use`, use] as const),
    ...Object.entries(runtimes).flatMap(([name, options]) =>
      'module' in options
        ? [[`runtimes.${name}.module`, options.kind === 'hosted' ? hosted(options.module) : options.module] as const]
        : [],
    ),
  ];
  return modules.filter(([, use]) => /^(?:npm|file):/.test(use) && isOutdated(urlOf(use, folder))).map(([key]) => `${key} (its file)`);
}

/** A hosted server's module is an absolute file. */
function hosted(module: string): string {
  return module.startsWith('npm:') ? module : `file:${module}`;
}

/** A package that was removed meanwhile has no file, so there is nothing to load. */
function urlOf(use: string, folder: string): string {
  try {
    return moduleUrl(use, folder);
  } catch {
    return '';
  }
}
