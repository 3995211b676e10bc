import type { IncomingHttpHeaders } from 'node:http';
import type { Passed } from '../../contract/runtime.js';
import { isFieldValue, listedIn } from '../../wire/field.js';
import { forwardedIdentity } from '../shared/forwarded-identity.js';
import { HOP_BY_HOP, ORIGIN_WIDE } from '../shared/static-headers.js';
import { confinedCookie, type HttpMount, publicLocation } from './http-mount.js';

/** Characters that Node sends; any other value would throw where no answer is possible. */
const OWN: ReadonlySet<string> = new Set(['content-location', 'date', 'server', 'set-cookie2', 'x-powered-by']);

/** Header fields added for a plain HTTP upstream. */
export interface HttpRequestPolicy {
  /** Static fields, lower-case names; they win over a client's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly forward_authorization: boolean;
  readonly forward_cookies: boolean;
  /** Lower-case names beside the built-in list. */
  readonly request_headers: ReadonlySet<string>;
  /** Scheme and authority that clients dial; undefined: what the connection and Host say. */
  readonly public_url: URL | undefined;
}

/**
 * The fields of one request to a plain HTTP upstream, by allowlist: what browsers and OAuth clients use, and what the route adds.
 * Identity headers of any terminator, hop-by-hop fields, Expect and every forwarded field of the client stay behind;
 * `X-Forwarded-For`, `-Host`, `-Proto` and `-Prefix` say what the gateway knows.
 */
export function httpRequestHeaders(client: IncomingHttpHeaders, policy: HttpRequestPolicy, passed: Passed): Record<string, string> {
  const headers: Record<string, string> = {};
  const bodiless = passed.head.method === 'GET' || passed.head.method === 'HEAD';
  for (const [name, value] of Object.entries(client)) {
    if (typeof value !== 'string' || !allowed(name, policy)) continue;
    if (bodiless && name.startsWith('content-')) continue;
    headers[name] = value;
  }
  const { peer } = passed.head;
  headers['x-forwarded-for'] = peer.client_address;
  headers['x-forwarded-proto'] = policy.public_url?.protocol.slice(0, -1) ?? (peer.tls === undefined ? 'http' : 'https');
  const host = policy.public_url?.host ?? passed.head.headers.get('host');
  if (host !== undefined) headers['x-forwarded-host'] = host;
  if (passed.prefix !== '') headers['x-forwarded-prefix'] = passed.prefix;
  const { identity, forward_identity_header } = passed;
  if (forward_identity_header !== undefined) {
    delete headers[forward_identity_header];
    if (identity !== undefined) headers[forward_identity_header] = forwardedIdentity(identity);
  }
  if (passed.trace !== undefined) {
    const { traceparent, tracestate } = passed.trace.outgoing();
    headers.traceparent = traceparent;
    delete headers.tracestate;
    if (tracestate !== undefined) headers.tracestate = tracestate;
  }
  return Object.assign(headers, policy.headers);
}

function allowed(name: string, policy: HttpRequestPolicy): boolean {
  if (name === 'authorization') return policy.forward_authorization;
  if (name === 'cookie') return policy.forward_cookies;
  return ALLOWED.has(name) || name.startsWith('sec-fetch-') || name.startsWith('sec-ch-') || policy.request_headers.has(name);
}

const ALLOWED: ReadonlySet<string> = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'access-control-request-headers', 'access-control-request-method'],
  ...[
    'cache-control',
    'content-disposition',
    'content-encoding',
    'content-language',
    'content-length',
    'content-type',
    'date',
    'dnt',
    'dpop',
  ],
  ...['idempotency-key', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'last-event-id'],
  ...[
    'mcp-protocol-version',
    'origin',
    'pragma',
    'prefer',
    'priority',
    'range',
    'referer',
    'save-data',
    'sec-gpc',
    'traceparent',
    'tracestate',
  ],
  ...['upgrade-insecure-requests', 'user-agent', 'x-csrf-token', 'x-requested-with', 'x-xsrf-token'],
]);

/**
 * The fields of a plain HTTP upstream's answer as the client gets them; undefined when its Location may not be relayed. Hop-by-hop,
 * `Connection`-listed and origin-wide fields stay behind, Location and Set-Cookie are moved to the public prefix.
 */
export function httpResponseHeaders(upstream: IncomingHttpHeaders, mount: HttpMount, target: string): [string, string][] | undefined {
  const listed = new Set(listedIn(upstream.connection ?? ''));
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(upstream)) {
    if (value === undefined || listed.has(name) || HOP_BY_HOP.has(name) || ORIGIN_WIDE.has(name) || OWN.has(name)) continue;
    if (name.startsWith('x-accel-')) continue;
    for (const line of typeof value === 'string' ? [value] : value) {
      const moved = name === 'location' ? publicLocation(line, mount, target) : name === 'set-cookie' ? confinedCookie(line, mount) : line;
      if (moved !== undefined && isFieldValue(moved)) headers.push([name === 'x-request-id' ? 'x-upstream-request-id' : name, moved]);
      else if (name === 'location') return undefined;
    }
  }
  return headers;
}
