/** What the table needs of a route. */
export interface Placed {
  readonly path: string;
  /** True: the route also has everything below `path` (plain HTTP). False: exactly `path` (MCP). */
  readonly prefix: boolean;
}

/**
 * Finds the route of a path without decoding, folding or regex: an MCP route by the exact text, an http route by the
 * longest prefix that ends at a segment, and only for paths that every server reads alike.
 */
export class RouteTable<R extends Placed> {
  readonly #exact = new Map<string, R>();
  readonly #prefixes: readonly (readonly [string, R])[];

  constructor(routes: readonly R[]) {
    for (const route of routes) if (!route.prefix) this.#exact.set(route.path, route);
    this.#prefixes = routes
      .filter((route) => route.prefix)
      .map((route) => [route.path.endsWith('/') ? route.path.slice(0, -1) : route.path, route] as const)
      .sort(([a], [b]) => b.length - a.length);
  }

  match(path: string): R | undefined {
    const exact = this.#exact.get(path);
    if (exact !== undefined || this.#prefixes.length === 0 || !isUnambiguous(path)) return exact;
    for (const [prefix, route] of this.#prefixes) {
      if (path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === SLASH)) return route;
    }
    return undefined;
  }

  /** The exact path that differs from this one by a slash at its end alone; undefined when no such route exists. */
  beside(path: string): string | undefined {
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    return this.#exact.has(other) ? other : undefined;
  }
}

const SLASH = 0x2f;
const REFUSED_ESCAPES: ReadonlySet<string> = new Set(['%2e', '%2f', '%5c', '%3b', '%00', '%25']);

/** False for spellings that two servers could resolve differently: `//`, dot segments, `;`, `\`, encoded separators, broken escapes. */
export function isUnambiguous(path: string): boolean {
  if (path.includes('//') || path.includes(';') || path.includes('\\')) return false;
  for (let at = path.indexOf('%'); at !== -1; at = path.indexOf('%', at + 1)) {
    const triple = path.slice(at, at + 3).toLowerCase();
    if (triple.length < 3 || REFUSED_ESCAPES.has(triple) || Number.isNaN(Number(`0x${triple.slice(1)}`))) return false;
  }
  return !path.split('/').some((segment) => segment === '.' || segment === '..');
}
