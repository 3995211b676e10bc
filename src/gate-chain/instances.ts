import type { Clock } from '../contract/clock.js';
import { type Egress, NO_PROXY } from '../contract/egress.js';
import type { GateModule, RequestGate, RouteInfo } from '../contract/gate.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { Telemetry } from '../contract/telemetry.js';
import { ConfigError, type ConfigProblem, within } from '../errors/error.js';
import { before } from '../modules/load-module.js';
import type { Ready } from './rules.js';
import { type End, SharedPool } from './shared.js';

export interface ChainDeps {
  readonly builtins: Readonly<Record<string, GateModule>>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** The way to what gates ask over the network. Default: directly. */
  readonly egress?: Egress;
  /** Aborts when the gateway closes. */
  readonly signal: AbortSignal;
  /** What gates share, kept over reloads. Default: a pool of this generation alone. */
  readonly shared?: SharedPool;
  /** Gates whose config is the same as in the generation before: they go on with what they shared. */
  readonly unchanged?: ReadonlySet<string>;
  /** The config file's folder: `npm:`, `file:` and file names in options start there. */
  readonly folder: string;
}

/** Milliseconds that a gate may take to open and to close. */
export const OPEN_TIMEOUT_MS = 30_000;
export const CLOSE_TIMEOUT_MS = 5_000;

/** A gate to open for one place: a route, or `*` for the listener. */
export interface GatePlace {
  readonly ready: Ready;
  readonly use: string;
  readonly route: RouteInfo;
}

export interface Instances {
  /** One for each place, in the same order. */
  readonly gates: readonly RequestGate[];
  /** Closes every gate, then what they shared. Bounded; failures are logged. Calling it again waits for the same end. */
  close(): Promise<void>;
}

/** Opens all gates at once. If one fails, those that did open are closed and a ConfigError names each failure. */
export async function openInstances(places: readonly GatePlace[], deps: ChainDeps): Promise<Instances> {
  const shared = (deps.shared ?? new SharedPool()).open(deps.unchanged);
  const opened: (RequestGate | undefined)[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= closeAll(opened, (end) => shared.close(end), deps);
    return closing;
  };
  const problems: ConfigProblem[] = [];
  await Promise.all(
    places.map(async ({ ready, use, route }, i) => {
      const { name, module, options } = ready;
      const log = deps.log.child({ gate: name, route: route.path });
      const { metrics, clock, signal, folder, egress = NO_PROXY } = deps;
      try {
        const host = { name, log, metrics, clock, signal, route, folder, egress, shared: shared.of(use, name) };
        const work = Promise.resolve(module.open(options as never, host)).then((gate) => {
          // A gate that opens after its deadline is closed by the code below: nothing else holds it.
          if (closing !== undefined) return closing.then(() => closeAll([gate], async () => {}, deps)).then(() => gate);
          opened[i] = gate;
          return gate;
        });
        const gate = await before(work, OPEN_TIMEOUT_MS, clock, `did not open within ${OPEN_TIMEOUT_MS} ms`);
        if (typeof (gate as Partial<RequestGate> | null | undefined)?.decide !== 'function')
          throw new Error('open() returned no gate with a decide function');
      } catch (error) {
        const at = route.path === '*' ? 'listener.gates' : route.path;
        problems.push({
          where: within('gates', name),
          message: `could not be opened for ${at}: ${error instanceof Error ? error.message : String(error)}`,
        });
      }
    }),
  );
  if (problems.length > 0) {
    await close();
    throw new ConfigError(problems);
  }
  return { gates: opened as readonly RequestGate[], close };
}

async function closeAll(
  gates: readonly (RequestGate | undefined)[],
  closeShared: (end: End) => Promise<void>,
  deps: ChainDeps,
): Promise<void> {
  const late = `did not close within ${CLOSE_TIMEOUT_MS} ms`;
  const failed = (error: unknown): void =>
    deps.log.warn({ cause: error instanceof Error ? error.message : String(error) }, 'gate failed to close');
  const end = (close: () => unknown): Promise<void> =>
    before(new Promise((done) => done(close())), CLOSE_TIMEOUT_MS, deps.clock, late).then(() => {}, failed);
  await Promise.all(gates.map((gate) => end(() => gate?.close?.())));
  await closeShared(end);
}
