import type { Endpoint } from './endpoint.js';
import { parseJsonObject } from './json-object.js';
import { isSafeEndpoint } from './settings.js';
import { SourceFailure } from './source-failure.js';

/**
 * The issuer’s `jwks_uri` from its metadata: RFC 8414 first, then OpenID Connect, in the order of MCP 2026-07-28
 * "Authorization Server Metadata Discovery". A document whose `issuer` is not the configured one letter for letter is not
 * used. An unreachable server ends the round; a missing or unusable document leads to the next place.
 */
export async function discoverJwksUri(endpoint: Endpoint, issuer: string, signal: AbortSignal): Promise<string> {
  let last = new SourceFailure('status', 'the issuer publishes no metadata');
  for (const url of toDiscoveryUrls(issuer)) {
    try {
      const answer = await endpoint.ask(url, { method: 'GET', headers: {}, accepts: ['application/json'] }, signal);
      return toJwksUri(answer.body, issuer);
    } catch (error) {
      if (!(error instanceof SourceFailure) || error.reason === 'timeout' || error.reason === 'unreachable') throw error;
      last = preferred(last, error);
    }
  }
  throw last;
}

/** The places of an issuer’s metadata in the order they are asked. */
export function toDiscoveryUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const inserted = `${origin}/.well-known/openid-configuration${path}`;
  return path === '' ? [oauth, inserted] : [oauth, inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** A document that exists but is wrong says more than one that is missing. */
function preferred(last: SourceFailure, next: SourceFailure): SourceFailure {
  return next.reason === 'status' ? last : next;
}

function toJwksUri(body: Buffer, issuer: string): string {
  const metadata = parseJsonObject(body);
  if (metadata === undefined) throw new SourceFailure('malformed', 'the issuer metadata is not one JSON object');
  if (metadata.issuer !== issuer)
    throw new SourceFailure(
      'issuer_mismatch',
      'the issuer metadata names another issuer than the configured one; they must be equal letter for letter',
    );
  const uri = metadata.jwks_uri;
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw new SourceFailure('malformed', 'the issuer metadata has no jwks_uri');
  if (!isSafeEndpoint(new URL(uri))) throw new SourceFailure('insecure', 'the jwks_uri of the issuer metadata is not https');
  return uri;
}
