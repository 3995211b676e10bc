import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startChild, untilListening } from '../parts/child.js';
import { findEnvoy } from '../parts/find-envoy.js';
import { AUDIENCE, ISSUER } from '../parts/issuer.js';
import type { Ground, Row } from './row.js';

/** Envoy with one worker and the filter jwt_authn as it comes: it verifies each request's token. */
export const envoy: Row = {
  name: 'Envoy jwt_authn, verified each time',
  guarded: true,
  open: (ground) => open(ground, 'envoy', {}),
};

/** The same with its cache of verified tokens. */
export const envoyRemembering: Row = {
  name: 'Envoy jwt_authn, token remembered',
  guarded: true,
  open: (ground) => open(ground, 'envoy-cache', { jwt_cache_config: { jwt_cache_size: 10_000 } }),
};

async function open({ upstream_port, issued, folder }: Ground, name: string, cache: object) {
  const command = findEnvoy();
  const file = join(folder(name), 'envoy.json');
  const port = await freePort();
  writeFileSync(file, JSON.stringify(config(port, upstream_port, issued.jwks, cache)));
  const child = startChild(command, ['-c', file, '--concurrency', '1', '--disable-hot-restart', '--log-level', 'warning']);
  await untilListening(port);
  return { port, child };
}

const TYPES = 'type.googleapis.com/envoy';
const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

function config(port: number, upstream: number, jwks: string, cache: object): object {
  const provider = { issuer: ISSUER, audiences: [AUDIENCE], forward: true, local_jwks: { inline_string: jwks }, ...cache };
  const authn = {
    '@type': `${TYPES}.extensions.filters.http.jwt_authn.v3.JwtAuthentication`,
    providers: { bench: provider },
    rules: [{ match: { prefix: '/' }, requires: { provider_name: 'bench' } }],
  };
  const router = { '@type': `${TYPES}.extensions.filters.http.router.v3.Router` };
  const manager = {
    '@type': `${TYPES}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'in',
    route_config: { virtual_hosts: [{ name: 'mcp', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'mcp' } }] }] },
    http_filters: [
      { name: 'envoy.filters.http.jwt_authn', typed_config: authn },
      { name: 'envoy.filters.http.router', typed_config: router },
    ],
  };
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager };
  const endpoint = { lb_endpoints: [{ endpoint: { address: address(upstream) } }] };
  return {
    static_resources: {
      listeners: [{ name: 'in', address: address(port), filter_chains: [{ filters: [filter] }] }],
      clusters: [{ name: 'mcp', type: 'STATIC', load_assignment: { cluster_name: 'mcp', endpoints: [endpoint] } }],
    },
  };
}
