import type { Clock } from '../contract/clock.js';
import type { GateModule } from '../contract/gate.js';
import { type ConfigProblem, withRoutePaths } from '../errors/error.js';
import { findModule } from '../modules/find-module.js';
import type { ChainInput } from './load.js';
import { checkOptions } from './options.js';
import { checkListing, type Listing, type Ready, within } from './rules.js';

export interface Prepared {
  readonly ready: ReadonlyMap<string, Ready>;
  readonly problems: readonly ConfigProblem[];
}

/** Everything about the chains that needs no network and opens nothing: modules, options, order, identities, public routes. */
export async function prepare(
  input: ChainInput,
  { builtins, folder, clock }: { readonly builtins: Readonly<Record<string, GateModule>>; readonly folder: string; readonly clock: Clock },
): Promise<Prepared> {
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
