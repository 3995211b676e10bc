import type { RequestGate } from '../contract/gate.js';
import type { ConfigProblem } from '../errors/error.js';
import type { Place } from './instances.js';
import { within } from './where.js';

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
 * not where a route is.
 */
export function servedPaths(places: readonly Place[], gates: readonly RequestGate[], routes: ReadonlySet<string>): Served {
  const paths = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  for (const [i, place] of places.entries()) {
    const { name } = place.ready;
    const say = (message: string): number => problems.push({ where: within('gates', name), message });
    const serves: unknown = gates[i]?.serves ?? [];
    if (!Array.isArray(serves) || serves.length > MAX_SERVED_PATHS) {
      say(`serves is not a list of at most ${MAX_SERVED_PATHS} paths`);
      continue;
    }
    for (const path of serves as readonly unknown[]) {
      if (typeof path !== 'string' || !isPlainPath(path)) say(`serves ${JSON.stringify(path)}, which is not a plain absolute path`);
      else if (routes.has(path)) say(`serves ${path}, which is the path of a route`);
      else {
        const other = places[paths.get(path) ?? i]?.ready.name;
        if (other !== name) say(`serves ${path}, which gate "${other}" serves already`);
        else if (!paths.has(path)) paths.set(path, i);
      }
    }
  }
  return { paths, problems };
}

function isPlainPath(path: string): boolean {
  if (!path.startsWith('/') || path.length > 1_024) return false;
  for (const character of path) {
    if (character <= ' ' || character > '~' || '%?#\\;"<>^`{|}'.includes(character)) return false;
  }
  const segments = path.slice(1).split('/');
  return segments.every((segment, i) => segment !== '.' && segment !== '..' && (segment !== '' || i === segments.length - 1));
}
