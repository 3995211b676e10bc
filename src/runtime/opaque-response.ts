import type { IncomingHttpHeaders } from 'node:http';
import { listedIn } from '../wire/field.js';
import { HOP_BY_HOP, ORIGIN_WIDE } from './dropped-headers.js';
import { confinedCookie, type Mount, publicLocation } from './opaque-mount.js';

/**
 * The fields of a plain HTTP upstream's answer as the client gets them; undefined when its Location may not be relayed. Hop-by-hop,
 * `Connection`-listed and origin-wide fields stay behind, Location and Set-Cookie are moved to the public prefix.
 */
export function opaqueResponseHeaders(upstream: IncomingHttpHeaders, mount: Mount, target: string): [string, string][] | undefined {
  const listed = new Set(listedIn(upstream.connection ?? ''));
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(upstream)) {
    if (value === undefined || listed.has(name) || HOP_BY_HOP.has(name) || ORIGIN_WIDE.has(name) || OWN.has(name)) continue;
    if (name.startsWith('x-accel-')) continue;
    for (const line of typeof value === 'string' ? [value] : value) {
      const moved = name === 'location' ? publicLocation(line, mount, target) : name === 'set-cookie' ? confinedCookie(line, mount) : line;
      if (moved !== undefined && SENDABLE.test(moved)) headers.push([name === 'x-request-id' ? 'x-upstream-request-id' : name, moved]);
      else if (name === 'location') return undefined;
    }
  }
  return headers;
}

/** What Node sends; a value beyond it would throw where nobody can answer. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
const OWN: ReadonlySet<string> = new Set(['content-location', 'date', 'server', 'set-cookie2', 'x-powered-by']);
