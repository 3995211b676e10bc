import { methodsOf } from '../assembly/routing.js';
import { publicUrl, routeUrl } from '../assembly/urls.js';
import type { Config } from '../config/schema/config.js';
import type { Claims } from '../contract/claims.js';
import type { HeaderInit } from '../contract/gate.js';
import type { RequestHead } from '../contract/head.js';
import { readClaims } from '../dialect/claims.js';
import type { Chain } from '../gate-chain/chain.js';
import type { ChainSet } from '../gate-chain/load.js';
import { checkHead, type HeadFault } from '../listener/request/head-checks.js';
import { HostPolicy, OriginPolicy } from '../listener/request/origin.js';
import type { ListenerRoute } from '../listener/request/route.js';
import { type Placed, RouteTable } from '../route/table.js';

/** A fault that the listener itself tells. */
export interface Turned {
  readonly fault: HeadFault;
  readonly headers?: HeaderInit;
}

/** What the listener checks before the first gate, in its order: method, Host, Origin, framing, Content-Type, Accept, MCP headers. */
export function askDoor(head: RequestHead, kind: ListenerRoute['kind'], config: Config): Turned | { readonly claims: Claims } {
  const { allowed_hosts, allowed_origins, limits, chunked_requests } = config.listener;
  const methods = methodsOf(kind, config);
  if (methods?.has(head.method) === false || (kind === 'mcp' && head.method === 'OPTIONS'))
    return { fault: { code: 'METHOD_NOT_ALLOWED' }, headers: { allow: [...(methods ?? [])].join(', ') } };
  if (!new HostPolicy(allowed_hosts).isAllowed(head.headers, head.peer.trusted)) return { fault: { code: 'HOST_NOT_ALLOWED' } };
  const [origin, ...more] = head.headers.all('origin');
  const origins = new OriginPolicy(allowed_origins, publicUrl(config));
  if (kind !== 'served' && origin !== undefined && !origins.isAllowed(more.length > 0 ? 'null' : origin))
    return { fault: { code: 'ORIGIN_NOT_ALLOWED' } };
  const content_length = Number(head.headers.get('content-length') ?? -1);
  const codings = head.headers.all('transfer-encoding');
  const chunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
  const framing = { content_length, transfer_encoding: codings.length > 0, chunked, head_bytes: 0 };
  const { fault, claims } = checkHead(head, { kind }, framing, {
    max_body_bytes: limits.max_body_bytes,
    chunked: chunked_requests === 'accept',
    readClaims: (headers, method) => readClaims(headers, method, 'defer'),
  });
  return fault === undefined ? { claims: claims ?? head.claims } : { fault };
}

/** Where a path leads. */
export interface Place extends Placed {
  readonly kind: ListenerRoute['kind'];
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
    chain,
    url: public_url + path,
  }));
  for (const route of config.routes) {
    const { path } = route;
    const chain = chains.routes.get(path);
    const kind = config.runtimes[route.runtime]?.kind === 'http' ? 'http' : 'mcp';
    if (chain !== undefined) places.push({ path, prefix: kind === 'http', kind, chain, url: routeUrl(route, public_url) });
  }
  return new RouteTable(places);
}
