import { ssePaths } from '../config/rules/routes.js';
import type { Config } from '../config/schema/config.js';
import type { RouteInfo } from '../contract/gate.js';
import { SERVED_METHODS } from '../gate-chain/chain.js';
import type { ChainSet } from '../gate-chain/load.js';
import type { ListenerRoute, McpRoute } from '../listener/request/route.js';
import { RouteTable } from '../route/table.js';
import type { Runtimes } from './runtimes.js';
import { routeUrl } from './urls.js';

/** Puts routes, chains and runtimes together into what the listener matches. */
export function createRouting(config: Config, public_url: string, chains: ChainSet, runtimes: Runtimes): RouteTable<ListenerRoute> {
  const routes: ListenerRoute[] = config.routes.flatMap((route): ListenerRoute[] => {
    const { path, runtime: name } = route;
    const info: RouteInfo = Object.freeze({ path, url: routeUrl(route, public_url), runtime: name });
    const chain = must(chains.routes.get(path));
    const forward_identity_header = route.forward_identity?.header.toLowerCase();
    const { runtime } = must(runtimes.by_name.get(name));
    if ('serve' in runtime) {
      return [{ kind: 'http', path, prefix: true, info, chain, methods: methodsOf('http', config), runtime, forward_identity_header }];
    }
    const methods = methodsOf('mcp', config);
    const call_route = Object.freeze({ ...info, forward_identity_header });
    const own: McpRoute = { kind: 'mcp', path, prefix: false, info, chain, methods, runtime, call_route };
    if (!route.sse) return [own];
    const door = runtimes.sse.doorOf(runtime, ssePaths(new URL(info.url).pathname).message);
    return [own, ...ssePlaces(path, config).map((place): McpRoute => ({ ...own, ...place, runtime: door }))];
  });
  for (const [path, chain] of chains.served) {
    routes.push({
      kind: 'served',
      path,
      prefix: false,
      info: { path, url: public_url + path, runtime: '' },
      chain,
      methods: methodsOf('served', config),
    });
  }
  return new RouteTable(routes);
}

/** The two paths that a route with `sse: true` has beside its own, each with its method. */
export function ssePlaces(path: string, config: Config): readonly { readonly path: string; readonly methods: ReadonlySet<string> }[] {
  const { stream, message } = ssePaths(path);
  const only = (method: string): ReadonlySet<string> => new Set(config.listener.cors ? [method, 'OPTIONS'] : [method]);
  return [
    { path: stream, methods: only('GET') },
    { path: message, methods: only('POST') },
  ];
}

/** HTTP methods that a route of this kind has; undefined: any. OPTIONS of an MCP route are preflights alone. */
export function methodsOf(kind: ListenerRoute['kind'], config: Config): ReadonlySet<string> | undefined {
  if (kind === 'http') return undefined;
  return kind === 'served' ? SERVED_METHODS : config.listener.cors ? MCP_CORS_METHODS : MCP_METHODS;
}

const MCP_METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);
const MCP_CORS_METHODS: ReadonlySet<string> = new Set([...MCP_METHODS, 'OPTIONS']);

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a checked config names only what exists');
  return value;
}
