import { toWhere } from '../path.js';
import type { Rule, View } from '../view.js';

/** Where the gates publish protected-resource metadata (RFC 9728 section 3.1). */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Where a route with `sse: true` has the event stream of HTTP+SSE, and where its messages are POSTed. */
export function ssePaths(path: string): { readonly stream: string; readonly message: string } {
  const base = path.endsWith('/') ? path.slice(0, -1) : path;
  return { stream: `${base}/sse`, message: `${base}/sse/message` };
}

/** Routes are open only on purpose, have one meaning for each path and hand on only identities that can be there. */
export const routes: Rule = (view, report) => {
  const taken = new Map<string, string>();
  const dialed = new Map<string, string>();
  for (const { at, route } of view.routes) {
    if (route.gates.length === 0 && !route.public) {
      report.errorAtKey(at, 'a route without gates lets everybody in: add gates, or say public: true');
    }
    if (route.path.length > 1 && route.path.endsWith('/') && !isHttp(view, route.runtime)) {
      report.warn([...at, 'path'], 'ends with a slash, and only that spelling is served: a client that dials it without gets 404');
    }
    const key = isHttp(view, route.runtime) ? route.path.replace(/(?<=.)\/$/, '') : route.path;
    const other = taken.get(key);
    if (other !== undefined) report.error([...at, 'path'], `this path is taken by ${other}; every path belongs to one route`);
    else taken.set(key, `routes[${at.at(-1)}]`);
    if (route.path === WELL_KNOWN || route.path.startsWith(`${WELL_KNOWN}/`)) {
      report.error([...at, 'path'], `${WELL_KNOWN} is answered by the gates; choose another path`);
    }
    const url = route.public_url ?? dialedUrl(view, route.path);
    if (url !== undefined) {
      const same = dialed.get(url);
      if (same !== undefined && other === undefined) {
        report.error(
          [...at, route.public_url === undefined ? 'path' : 'public_url'],
          `clients dial the same URL for ${same}; audiences could not tell them apart`,
        );
      } else dialed.set(url, `routes[${at.at(-1)}]`);
    }
  }
};

/** The paths of HTTP+SSE belong to one route, and are served by runtimes of MCP. */
export const sseRoutes: Rule = (view, report) => {
  const taken = new Map(view.routes.map(({ at, route }) => [route.path, `routes[${at.at(-1)}]`]));
  for (const { at, route } of view.routes) {
    if (!route.sse) continue;
    if (isHttp(view, route.runtime)) report.error([...at, 'sse'], 'a runtime of kind http serves no MCP');
    for (const path of Object.values(ssePaths(route.path))) {
      const other = taken.get(path);
      if (other !== undefined) report.error([...at, 'sse'], `its path ${path} is taken by ${other}`);
      else taken.set(path, `routes[${at.at(-1)}]`);
    }
  }
};

/** An identity is forwarded only where a gate can find one, and never in a header that is configured to be something else. */
export const forwardedIdentity: Rule = (view, report) => {
  for (const { at, route } of view.routes) {
    if (route.forward_identity === undefined) continue;
    const { header } = route.forward_identity;
    if (route.gates.length === 0 && view.listener?.gates.length === 0) {
      report.errorAtKey([...at, 'forward_identity'], 'no gate runs before this route, so no identity exists to forward');
    }
    const runtime = view.runtimes.get(route.runtime);
    if (runtime?.kind === 'hosted') report.warn([...at, 'forward_identity'], 'has no effect: a hosted server gets the identity itself');
    const fixed = runtime !== undefined && 'headers' in runtime ? Object.keys(runtime.headers) : [];
    if (fixed.some((name) => name.toLowerCase() === header.toLowerCase())) {
      report.error([...at, 'forward_identity', 'header'], `runtimes.${route.runtime}.headers sets this field already`);
    }
  }
};

/** What a prefix covers beside its own pages is said at start. */
export const prefixes: Rule = (view, report) => {
  for (const { at, route } of view.routes) {
    if (!isHttp(view, route.runtime)) continue;
    const prefix = route.path.endsWith('/') ? route.path : `${route.path}/`;
    const covered = view.routes
      .filter((other) => other.route !== route && other.route.path.startsWith(prefix))
      .map((other) => toWhere(other.at));
    if (covered.length === 0) continue;
    report.warn(
      [...at, 'path'],
      `this prefix covers the path of ${covered.slice(0, 5).join(', ')} too: the longer path wins there, every near miss of it goes to this runtime`,
    );
  }
};

function dialedUrl(view: View, path: string): string | undefined {
  const base = view.listener?.public_url;
  return base === undefined ? undefined : base + (path === '/' ? '' : path);
}

function isHttp(view: View, runtime: string): boolean {
  return view.runtimes.get(runtime)?.kind === 'http';
}
