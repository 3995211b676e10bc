import type { GateModule, RequestGate, RouteInfo } from '../contract/gate.js';
import { didYouMean } from '../errors/did-you-mean.js';
import { type ConfigProblem, within } from '../errors/error.js';

/** Refusal codes of one gate that are counted by name when its module lists none. */
const MAX_CODE_LABELS = 32;

/**
 * What an `identify` of this gate does at its place. `always`, `counts`: it is the caller's identity; `always` may not pass
 * without. `ignored`: another gate of the chain always identifies, only the facts count.
 */
export type Identifies = 'always' | 'counts' | 'ignored';

/** A gate of the config whose module was found and whose options are right. */
export interface Ready {
  readonly name: string;
  readonly module: GateModule;
  readonly options: unknown;
  readonly identifies: 'always' | 'when_alone' | undefined;
  readonly requires: readonly string[];
  readonly timeout_ms: number;
}

/** A chain as the config lists it: the listener's gates, then the route's. */
export interface Listing {
  /** Config key of the route's list, e.g. `routes[0].gates`. */
  readonly where: string;
  readonly before: readonly string[];
  readonly names: readonly string[];
  /** Undefined for the listener's own chain, which admits to no route. */
  readonly public: boolean | undefined;
}

/** What is wrong with the order and the company of one chain's gates. Gates that were not found are not judged. */
export function checkListing(listing: Listing, known: readonly string[], ready: ReadonlyMap<string, Ready>): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { where, before, names } = listing;
  const say = (index: number, message: string): number => problems.push({ where: index < 0 ? where : within(where, index), message });
  for (const [i, name] of names.entries()) {
    if (!known.includes(name)) say(i, `there is no gate "${name}"${didYouMean(name, known)}`);
    else if (names.indexOf(name) < i) say(i, `gate "${name}" is listed twice`);
    else if (before.includes(name)) say(i, `gate "${name}" runs already, as one of listener.gates`);
  }
  if (listing.public === false && names.length === 0) say(-1, 'a route without gates must say public: true');
  const chain = [...before, ...names].map((name) => ready.get(name));
  if (problems.length > 0 || chain.some((gate) => gate === undefined)) return problems;
  checkCompany(listing, chain as readonly Ready[], say);
  return problems;
}

/** How each gate of a chain identifies, given the others. */
export function roles(chain: readonly Ready[]): readonly Identifies[] {
  const somebodyAlways = chain.some((gate) => gate.identifies === 'always');
  return chain.map(({ identifies }) => (identifies === 'always' ? 'always' : identifies && somebodyAlways ? 'ignored' : 'counts'));
}

/** True for the gate at `index` if it and the gates that find its facts do without knowing the caller. */
export function asksNobody(chain: readonly Ready[], index: number): boolean {
  const gate = chain[index];
  if (gate === undefined || gate.identifies !== undefined) return false;
  return gate.requires.every((fact) =>
    chain.slice(0, index).some((other, i) => other.module.provides?.includes(fact) === true && asksNobody(chain, i)),
  );
}

function checkCompany(listing: Listing, chain: readonly Ready[], say: (index: number, message: string) => void): void {
  const always = chain.filter((gate) => gate.identifies === 'always');
  const alone = chain.filter((gate) => gate.identifies === 'when_alone');
  const quote = (gates: readonly Ready[]): string => gates.map((gate) => `"${gate.name}"`).join(' and ');
  if (always.length > 1) say(-1, `gates ${quote(always)} both identify the caller; exactly one gate of a chain may`);
  if (always.length === 0 && alone.length > 1)
    say(-1, `gates ${quote(alone)} would both identify the caller; exactly one gate of a chain may`);
  const has = new Set<string>();
  const role = roles(chain);
  for (const [i, gate] of chain.entries()) {
    const missing = gate.requires.filter((fact) => !has.has(fact));
    const place = i - listing.before.length;
    if (place >= 0 && missing.length > 0) {
      const what = missing.map((fact) => (fact === 'identity' ? 'an identity' : `the fact "${fact}"`)).join(' and ');
      say(place, `gate "${gate.name}" needs ${what} from a gate before it; put that gate first`);
    }
    for (const fact of gate.module.provides ?? []) has.add(fact);
    if (gate.identifies !== undefined && role[i] !== 'ignored') has.add('identity');
  }
  const lets = (gate: Ready): boolean => gate.module.identifies !== undefined || gate.module.authorizes === true;
  if (listing.public === false && listing.names.length > 0 && !chain.some(lets)) {
    say(
      -1,
      'no gate of this chain says that it identifies the caller or is an allowlist: every request would be refused; add one, or say public: true (a gate of your own declares `identifies` or `authorizes`)',
    );
  }
}

/** One opened gate at its place in one chain. */
export interface Slot {
  /** Config name of the gate. */
  readonly name: string;
  readonly gate: RequestGate;
  readonly route: RouteInfo;
  readonly timeout_ms: number;
  /** The only facts the gate may write; undefined: any. */
  readonly provides: ReadonlySet<string> | undefined;
  readonly identifies: Identifies;
  /** The module says that it finds out who calls, and at its place that counts. */
  readonly knows_caller: boolean;
  /** True for an allowlist. */
  readonly authorizes: boolean;
  /** The label under which a refusal code is counted: the code itself while the set of them is small, else `other`. */
  codeLabel(code: string): string;
}

/** Counts refusal codes under their names if the module lists them or, where it lists none, for the first 32. */
export function codeLabels(module: GateModule): (code: string) => string {
  const listed = module.codes === undefined ? undefined : new Set(Object.keys(module.codes));
  if (listed !== undefined) return (code) => (listed.has(code) ? code : 'other');
  const seen = new Set<string>();
  return (code) => {
    if (seen.has(code)) return code;
    if (seen.size >= MAX_CODE_LABELS) return 'other';
    seen.add(code);
    return code;
  };
}
