import type { GateDecision, RequestHead, RouteInfo } from 'portcullis/gate';
import type { Settings } from './settings.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The RFC 9728 document of one route: where clients find it, what it says, and the answers to its requests. */
export interface ResourceMetadata {
  /** Absolute URL for `resource_metadata`. */
  readonly url: string;
  /** Paths this gate answers. */
  readonly paths: readonly string[];
  /**
   * The root form, which some clients ask for alone, and the path of `url` where the public URL has another path than the route; each
   * answered when no other route's document could be meant.
   */
  readonly paths_if_alone: readonly string[];
  isAt(path: string): boolean;
  serve(head: RequestHead): GateDecision;
}

/**
 * Builds the document from the route's public URL and the options alone; no request header shapes it (RFC 9728 sections 2
 * and 3). It is public, cacheable for an hour, and readable by any origin.
 */
export function createResourceMetadata(settings: Settings, route: RouteInfo): ResourceMetadata {
  const own = WELL_KNOWN + (route.path === '/' || route.path === '*' ? '' : route.path);
  const url = toMetadataUrl(settings.resource);
  const paths_if_alone = [...new Set([WELL_KNOWN, pathOf(url)])].filter((path) => path !== own && PLAIN.test(path));
  const body = JSON.stringify(toDocument(settings));
  return {
    url,
    paths: [own],
    paths_if_alone,
    isAt: (path) => path === own || paths_if_alone.includes(path),
    serve: (head) =>
      head.method === 'OPTIONS'
        ? { kind: 'serve', status: 204, headers: PREFLIGHT, body: '' }
        : { kind: 'serve', status: 200, headers: DOCUMENT, body },
  };
}

/** Puts the well-known path between host and path; a lone slash after the host is dropped (RFC 9728 section 3.1). */
export function toMetadataUrl(resource: string): string {
  const host = resource.indexOf('//') + 2;
  const slash = resource.indexOf('/', host);
  const origin = slash === -1 ? resource : resource.slice(0, slash);
  const path = slash === -1 ? '' : resource.slice(slash);
  return origin + WELL_KNOWN + (path === '/' ? '' : path);
}

/** As it is written: a URL parser would escape and resolve it. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('//') + 2));
}

/** What a gate may serve; a public URL with escapes is left to the terminator that adds them. */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+\/?$/;

const CORS = { 'access-control-allow-origin': '*' };
const DOCUMENT = { ...CORS, 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' };
const PREFLIGHT = {
  ...CORS,
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': '86400',
};

function toDocument({ options, resource, authorization_servers, scopes_supported }: Settings): Record<string, unknown> {
  return {
    resource,
    authorization_servers,
    ...(scopes_supported.length === 0 ? {} : { scopes_supported }),
    bearer_methods_supported: ['header'],
    ...(options.resource_name === undefined ? {} : { resource_name: options.resource_name }),
    ...(options.dpop === 'off' ? {} : { dpop_signing_alg_values_supported: options.dpop_algorithms }),
    ...(options.dpop === 'require' ? { dpop_bound_access_tokens_required: true } : {}),
    ...(options.certificate_bound === 'require' ? { tls_client_certificate_bound_access_tokens: true } : {}),
  };
}
