import type { RequestGate } from '../contract/gate.js';
import { type ConfigProblem, within } from '../errors/error.js';
import type { GatePlace } from './instances.js';

/** Which opened gate answers which public path, and what is wrong with the claims. */
export interface Served {
  /** Public path → index of the place. */
  readonly paths: ReadonlyMap<string, number>;
  readonly problems: readonly ConfigProblem[];
}

/** Public paths of one gate instance. */
export const MAX_SERVED_PATHS = 16;

/**
 * Collects `serves` of all gates. A path is written the way the listener compares it: plain, absolute, no escapes, no dot
 * segments. It may be claimed by several instances of one configured gate (the first answers), not by two gates and
 * not where a route is. What a gate serves only while it is alone goes to the one instance that names it, if nothing else is there.
 */
export function servedPaths(places: readonly GatePlace[], gates: readonly RequestGate[], routes: ReadonlySet<string>): Served {
  const paths = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  for (const [i, place] of places.entries()) {
    const { name } = place.ready;
    const say = (message: string): number => problems.push({ where: within('gates', name), message });
    for (const path of plainPaths('serves', gates[i]?.serves, say)) {
      if (routes.has(path)) say(`serves ${path}, which is the path of a route`);
      else {
        const other = places[paths.get(path) ?? i]?.ready.name;
        if (other !== name) say(`serves ${path}, which gate "${other}" serves already`);
        else if (!paths.has(path)) paths.set(path, i);
      }
    }
  }
  for (const [path, indexes] of claimsOfOne(places, gates, problems)) {
    const [index] = indexes;
    if (indexes.length === 1 && index !== undefined && !paths.has(path) && !routes.has(path)) paths.set(path, index);
  }
  return { paths, problems };
}

/** Who names which path in `serves_if_alone`. */
function claimsOfOne(
  places: readonly GatePlace[],
  gates: readonly RequestGate[],
  problems: ConfigProblem[],
): ReadonlyMap<string, readonly number[]> {
  const claims = new Map<string, number[]>();
  for (const [i, place] of places.entries()) {
    const say = (message: string): number => problems.push({ where: within('gates', place.ready.name), message });
    for (const path of plainPaths('serves_if_alone', gates[i]?.serves_if_alone, say)) claims.set(path, [...(claims.get(path) ?? []), i]);
  }
  return claims;
}

/** The usable paths of one list of a gate; `say` hears of the others. */
function plainPaths(name: string, list: unknown = [], say: (message: string) => void): readonly string[] {
  if (!Array.isArray(list) || list.length > MAX_SERVED_PATHS) {
    say(`${name} is not a list of at most ${MAX_SERVED_PATHS} paths`);
    return [];
  }
  return (list as readonly unknown[]).filter((path): path is string => {
    const plain = typeof path === 'string' && isPlainPath(path);
    if (!plain) say(`${name} ${JSON.stringify(path)}, which is not a plain absolute path`);
    return plain;
  });
}

function isPlainPath(path: string): boolean {
  if (!path.startsWith('/') || path.length > 1_024) return false;
  for (const character of path) {
    if (character <= ' ' || character > '~' || '%?#\\;"<>^`{|}'.includes(character)) return false;
  }
  const segments = path.slice(1).split('/');
  return segments.every((segment, i) => segment !== '.' && segment !== '..' && (segment !== '' || i === segments.length - 1));
}
