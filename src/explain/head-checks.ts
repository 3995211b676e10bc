import { methodsOf, ssePlaces } from '../assembly/routing.js';
import { publicUrl, routeUrl } from '../assembly/urls.js';
import type { Config } from '../config/schema/config.js';
import type { RequestHead } from '../contract/head.js';
import { checkHead, framingOf, type HeadVerdict, HostPolicy, judgeOrigin, OriginPolicy } from '../core/http/check-head.js';
import type { Chain } from '../gate-chain/chain.js';
import type { ChainSet } from '../gate-chain/load.js';
import type { ListenerRoute } from '../listener/request/route.js';
import { type Placed, RouteTable } from '../route/table.js';

/** What the listener decides from the head, before the first gate. */
export function verdictOn(head: RequestHead, { kind, methods }: Pick<Place, 'kind' | 'methods'>, config: Config): HeadVerdict {
  const { allowed_hosts, allowed_origins, limits, chunked_requests, cors } = config.listener;
  const origin = judgeOrigin(head.headers, new OriginPolicy(allowed_origins, publicUrl(config)));
  const { method, headers, peer } = head;
  return checkHead({ method, headers, peer, origin }, { kind, methods }, framingOf(headers), {
    hosts: new HostPolicy(allowed_hosts),
    max_body_bytes: limits.max_body_bytes,
    chunked: chunked_requests === 'accept',
    cors,
  });
}

/** Where a path leads. */
export interface Place extends Placed {
  readonly kind: ListenerRoute['kind'];
  /** HTTP methods that it has; undefined: any. */
  readonly methods: ReadonlySet<string> | undefined;
  readonly chain: Chain;
  /** What clients dial for it. */
  readonly url: string;
}

/** The listener's table of a config, with what an explanation needs of each route. */
export function placesOf(config: Config, chains: ChainSet): RouteTable<Place> {
  const public_url = publicUrl(config);
  const places: Place[] = [...chains.served].map(([path, chain]) => ({
    path,
    prefix: false,
    kind: 'served',
    methods: methodsOf('served', config),
    chain,
    url: public_url + path,
  }));
  for (const route of config.routes) {
    const { path } = route;
    const chain = chains.routes.get(path);
    const kind = config.runtimes[route.runtime]?.kind === 'http' ? 'http' : 'mcp';
    if (chain === undefined) continue;
    const own: Place = { path, prefix: kind === 'http', kind, methods: methodsOf(kind, config), chain, url: routeUrl(route, public_url) };
    places.push(own);
    if (route.sse) places.push(...ssePlaces(path, config).map((place) => ({ ...own, ...place })));
  }
  return new RouteTable(places);
}
