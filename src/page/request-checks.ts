import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HostPolicy } from '../core/http/check-head.js';
import { prefers } from '../wire/field.js';

const PRIVATE = ['.localhost', '.svc', '.cluster.local', '.internal'];

/**
 * True for a name in Host that a stranger cannot have pointed here: an address, localhost, a name without a dot, a name under `.svc`,
 * `.cluster.local` or `.internal`, and those that the config allows. Without this a page of any site could read the answer through a
 * own DNS name. No Host: not a browser.
 */
export function isOwnHost(host: string | undefined, allowed: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  if (name.startsWith('[')) return isIP(name.slice(1, -1)) === 6;
  if (isIP(name) === 4 || !name.includes('.') || PRIVATE.some((end) => name.endsWith(end))) return true;
  const policy = new HostPolicy(allowed);
  return policy.checks && policy.isAllowed({ get: () => host, all: () => [host], raw: [] }, false);
}

/** True when no page of another origin sent this. Programs send neither field; a browser sends one of them with every POST. */
export function isOwnPost(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return true;
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase();
}

/** True when an Accept header prefers HTML to JSON (RFC 9110 section 12.5.1). A range such as `*\/*` alone does not ask for a page. */
export function wantsHtml(accept: string | undefined): boolean {
  return prefers(accept, 'text/html', 'application/json');
}
