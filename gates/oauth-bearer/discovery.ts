import type { Endpoint } from './endpoint.js';
import { SourceFailure } from './endpoint.js';
import { type JsonObject, parseDocument } from './json-object.js';
import { isSafeEndpoint } from './settings.js';

/** Metadata of an issuer, and where it says the keys are. */
export interface Discovered {
  readonly metadata: JsonObject;
  readonly jwks_uri: string;
}

/**
 * The issuer’s metadata: RFC 8414 first, then OpenID Connect, in the order of MCP 2026-07-28
 * "Authorization Server Metadata Discovery". A document whose `issuer` is not the configured one letter for letter is not
 * used. An unreachable server ends the round; a missing or unusable document leads to the next place.
 */
export async function discover(endpoint: Endpoint, issuer: string, signal: AbortSignal): Promise<Discovered> {
  let last = new SourceFailure('status', 'the issuer publishes no metadata');
  for (const url of toDiscoveryUrls(issuer)) {
    try {
      const answer = await endpoint.ask(url, { method: 'GET', headers: {}, expects: 'json' }, signal);
      return toDiscovered(answer.body, issuer);
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

function toDiscovered(body: Buffer, issuer: string): Discovered {
  const metadata = parseDocument(body);
  if (metadata === undefined) throw new SourceFailure('malformed', 'the issuer metadata is not one JSON object');
  if (metadata.issuer !== issuer)
    throw new SourceFailure(
      'issuer_mismatch',
      'the issuer metadata names another issuer than the configured one; they must be equal letter for letter',
    );
  const uri = metadata.jwks_uri;
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw new SourceFailure('malformed', 'the issuer metadata has no jwks_uri');
  if (!isSafeEndpoint(new URL(uri))) throw new SourceFailure('insecure', 'the jwks_uri of the issuer metadata is not https');
  return { metadata, jwks_uri: uri };
}
