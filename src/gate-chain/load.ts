import type { Clock } from '../contract/clock.js';
import type { GateModule, RouteInfo } from '../contract/gate.js';
import { ConfigError, type ConfigProblem, within, withRoutePaths } from '../errors/error.js';
import { findModule } from '../modules/find-module.js';
import { checkOptions } from '../modules/options.js';
import { Chain, type ChainEnd } from './chain.js';
import { type ChainDeps, type GatePlace, type Instances, openInstances } from './instances.js';
import { asksNobody, checkListing, codeLabels, type Listing, type Ready, roles, type Slot } from './rules.js';
import { servedPaths } from './served.js';

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
  const places: GatePlace[] = [];
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

function toSlots(indexes: readonly number[], places: readonly GatePlace[], instances: Instances): readonly Slot[] {
  const chain = indexes.map((index) => places[index] as GatePlace);
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

interface PreparedChains {
  readonly ready: ReadonlyMap<string, Ready>;
  readonly problems: readonly ConfigProblem[];
}

/** Everything about the chains that needs no network and opens nothing: modules, options, order, identities, public routes. */
async function prepare(
  input: ChainInput,
  { builtins, folder, clock }: { readonly builtins: Readonly<Record<string, GateModule>>; readonly folder: string; readonly clock: Clock },
): Promise<PreparedChains> {
  const problems: ConfigProblem[] = [];
  const ready = new Map<string, Ready>();
  for (const [name, config] of Object.entries(input.gates)) {
    const found = await findModule(config.use, builtins, folder, clock);
    if (!found.ok) {
      problems.push({ where: within(within('gates', name), 'use'), message: `${config.use} ${found.message}` });
      continue;
    }
    const where = within(within('gates', name), 'options');
    const checked = checkOptions(found.module.options, config.options, where);
    problems.push(...checked.problems);
    if (checked.problems.length > 0) continue;
    try {
      found.module.check?.(checked.options);
      ready.set(name, {
        name,
        module: found.module,
        options: checked.options,
        identifies: evaluate(found.module.identifies, checked.options),
        requires: evaluate(found.module.requires, checked.options) ?? [],
        timeout_ms: config.timeout_ms ?? input.gate_timeout_ms,
      });
    } catch (error) {
      problems.push({ where, message: error instanceof Error ? error.message : String(error) });
    }
  }
  for (const listing of listings(input)) problems.push(...checkListing(listing, Object.keys(input.gates), ready));
  return { ready, problems: problems.map((problem) => withRoutePaths(problem, (index) => input.routes[index]?.path)) };
}

function listings(input: ChainInput): readonly Listing[] {
  const listener: Listing = { where: 'listener.gates', before: [], names: input.listener_gates, public: undefined };
  const routes = input.routes.map(
    (route, i): Listing => ({
      where: within(within('routes', i), 'gates'),
      before: input.listener_gates,
      names: route.gates,
      public: route.public,
    }),
  );
  return [listener, ...routes];
}

function evaluate<T>(value: T | ((options: never) => T), options: unknown): T {
  return typeof value === 'function' ? (value as (options: unknown) => T)(options) : value;
}
