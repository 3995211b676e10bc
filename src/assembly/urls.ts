import type { AddressInfo } from 'node:net';
import type { Config } from '../config/schema/config.js';

/** The base URL of what was bound: what clients dial when no `public_url` says otherwise. */
export function boundUrl(config: Config, bound: AddressInfo): string {
  const scheme = config.listener.tls === undefined ? 'http' : 'https';
  const { host } = config.listener;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${scheme}://${name}:${bound.port}`;
}

/** The URL that clients dial for a route: the route's own, else the public base followed by the path; nothing is added. */
export function routeUrl(route: Config['routes'][number], public_url: string): string {
  if (route.public_url !== undefined) return route.public_url;
  return route.path === '/' ? public_url : public_url + route.path;
}

/** `listener.public_url`, or what it would be if the config's own port were bound. */
export function publicUrl(config: Config): string {
  const { public_url, host, port } = config.listener;
  return public_url ?? boundUrl(config, { address: host, port, family: '' });
}
