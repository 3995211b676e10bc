import type { Clock } from '../contract/clock.js';
import type { Egress } from '../contract/egress.js';
import type { GateModule, RouteInfo } from '../contract/gate.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import type { Telemetry } from '../contract/telemetry.js';
import { ConfigError, type ConfigProblem } from '../errors/error.js';
import { Chain, type ChainEnd } from './chain.js';
import { type Instances, openInstances, type Place } from './instances.js';
import { prepare } from './prepare.js';
import { asksNobody, codeLabels, type Ready, roles, type Slot } from './rules.js';
import { servedPaths } from './served.js';
import type { SharedPool } from './shared.js';

/** One entry of `gates` in the config. */
export interface GateConfig {
  /** A built-in's name, `npm:package` or `file:path`. */
  readonly use: string;
  /** Default: `listener.limits.gate_timeout_ms`. */
  readonly timeout_ms?: number;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** One entry of `routes`, in the config's order: problems are reported as `routes[index].gates`. */
export interface RouteChainInput {
  readonly path: string;
  readonly url: string;
  readonly runtime: string;
  readonly gates: readonly string[];
  readonly public: boolean;
}

export interface ChainInput {
  readonly gates: Readonly<Record<string, GateConfig>>;
  readonly listener_gates: readonly string[];
  readonly routes: readonly RouteChainInput[];
  readonly gate_timeout_ms: number;
  readonly public_url: string;
}

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

/** All chains of one gateway. For a route, ask the listener's first, then the route's with what it admitted. */
export interface ChainSet {
  readonly listener: Chain;
  readonly routes: ReadonlyMap<string, Chain>;
  /**
   * Public path → the chain that serves it: the listener's gates that neither identify nor need somebody who does (an ip-allow
   * at the edge holds here too, a token is not asked for), then the gate that answers. Ask it alone. Exact paths.
   */
  readonly served: ReadonlyMap<string, Chain>;
  close(): Promise<void>;
}

/** Opens every gate once for each route it stands before, and once for the listener. Throws a ConfigError with all problems. */
export async function openChains(input: ChainInput, deps: ChainDeps): Promise<ChainSet> {
  const { ready, problems } = await prepare(input, deps);
  if (problems.length > 0) throw new ConfigError(problems);
  const places: Place[] = [];
  const want = (names: readonly string[], route: RouteInfo): readonly number[] =>
    names.map((name) => places.push({ ready: ready.get(name) as Ready, use: input.gates[name]?.use ?? '', route }) - 1);
  const front = want(input.listener_gates, { path: '*', url: input.public_url, runtime: '' });
  const behind = input.routes.map(({ path, url, runtime, gates }) => want(gates, Object.freeze({ path, url, runtime })));
  const instances = await openInstances(places, deps);

  const { clock, log, telemetry } = deps;
  const build = (before: readonly number[], own: readonly number[], end: ChainEnd): Chain => {
    const all = toSlots([...before, ...own], places, instances);
    const slots = all.slice(before.length);
    const judges = all.filter((slot) => slot.gate.decideCall !== undefined);
    const replaces_identity = slots.some((slot) => slot.identifies === 'always');
    return new Chain({ clock, log, telemetry, slots, judges, end, replaces_identity });
  };
  const listener = build([], front, 'open');
  const routes = new Map(input.routes.map((route, i) => [route.path, build(front, behind[i] ?? [], route.public ? 'open' : 'guarded')]));
  const claimed = servedPaths(places, instances.gates, new Set(routes.keys()));
  if (claimed.problems.length > 0) {
    await instances.close();
    throw new ConfigError(claimed.problems);
  }
  const open = front.filter((_, i) =>
    asksNobody(
      input.listener_gates.map((name) => ready.get(name) as Ready),
      i,
    ),
  );
  const served = new Map(
    [...claimed.paths].map(([path, index]) => [path, build([], [...open.filter((i) => i !== index), index], 'served')]),
  );
  return { listener, routes, served, close: instances.close };
}

/** All problems of the chains that show without network and without opening a gate; `portcullis validate` tells them. */
export async function checkChains(
  input: ChainInput,
  deps: Pick<ChainDeps, 'builtins' | 'folder' | 'clock'>,
): Promise<readonly ConfigProblem[]> {
  return (await prepare(input, deps)).problems;
}

function toSlots(indexes: readonly number[], places: readonly Place[], instances: Instances): readonly Slot[] {
  const chain = indexes.map((index) => places[index] as Place);
  const role = roles(chain.map((place) => place.ready));
  return chain.map(({ ready, route }, i): Slot => {
    const { name, module, timeout_ms } = ready;
    const gate = instances.gates[indexes[i] as number] as Slot['gate'];
    const provides = module.provides === undefined ? undefined : new Set(module.provides);
    return {
      name,
      gate,
      route,
      timeout_ms,
      provides,
      identifies: role[i] ?? 'counts',
      knows_caller: ready.identifies !== undefined && role[i] !== 'ignored',
      authorizes: module.authorizes === true,
      codeLabel: codeLabels(module),
    };
  });
}
