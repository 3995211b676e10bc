import type { RouteInfo } from 'portcullis/gate';
import type { Options } from './options.js';

/** The options of one gate instance with everything derived that does not change while it is open. */
export interface Settings {
  readonly options: Options;
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly string[];
  /** What every 401 names as scope, with `first_challenge: all`; undefined: the scopes of the call. */
  readonly first_scopes: readonly string[] | undefined;
  /** The route's public URL, byte for byte: `resource` of the RFC 9728 document and what a proof's `htu` must name. */
  readonly resource: string;
  /** Lower-case media types without `application/`. */
  readonly types: ReadonlySet<string>;
  /** Issuer of opaque tokens; undefined without introspection. */
  readonly introspection_issuer: string | undefined;
}

const MAX_SCOPE_CHARS = 4096;

/** Checks what a schema cannot and derives the rest. Throws an Error that names the option and what to write instead. */
export function toSettings(options: Options, route: RouteInfo): Settings {
  const issuers = typeof options.issuer === 'string' ? [options.issuer] : options.issuer;
  for (const issuer of issuers) requireEndpoint('issuer', issuer, false);
  if (options.jwks_uri !== undefined) requireEndpoint('jwks_uri', options.jwks_uri, true);
  if (options.introspection !== undefined) requireEndpoint('introspection.url', options.introspection.url, true);
  for (const server of options.authorization_servers ?? []) requireEndpoint('authorization_servers', server, false);
  requireResource(route.url);
  const own = [options.jwks_uri, options.jwks_file].filter((source) => source !== undefined).length;
  if (own === 2) throw new Error('jwks_uri and jwks_file are both set; keep one of them');
  if (own === 1 && issuers.length > 1)
    throw new Error('jwks_uri and jwks_file belong to one issuer; with several issuers leave them out: keys are discovered for each');
  for (const name of ['required_scopes', 'scopes_supported'] as const)
    if (options[name]?.includes('offline_access') === true)
      throw new Error(`${name} must not list offline_access: a refresh token is the client’s matter, not a right at this resource`);
  const all_scopes = [...options.required_scopes, ...Object.values(options.tool_scopes).flat()];
  if (all_scopes.join(' ').length > MAX_SCOPE_CHARS)
    throw new Error(`required_scopes and tool_scopes together exceed ${MAX_SCOPE_CHARS} characters; a challenge could not name them all`);
  return {
    options,
    issuers,
    audiences: options.audience === undefined ? [route.url] : typeof options.audience === 'string' ? [options.audience] : options.audience,
    authorization_servers: options.authorization_servers ?? issuers,
    scopes_supported: options.scopes_supported ?? options.required_scopes,
    first_scopes: options.first_challenge === 'all' ? [...new Set(all_scopes)] : undefined,
    resource: route.url,
    types: new Set(options.typ.map(toType)),
    introspection_issuer: introspectionIssuer(options, issuers),
  };
}

/** A media type as `typ` values are compared: lower case, without `application/` (RFC 7515 section 4.1.9). */
export function toType(typ: string): string {
  const lower = typ.toLowerCase();
  return lower.startsWith('application/') ? lower.slice('application/'.length) : lower;
}

/** True for https, and for http to a loopback host. */
export function isSafeEndpoint(url: URL): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && (url.hostname === 'localhost' || url.hostname === '[::1]' || isLoopback4(url.hostname));
}

function isLoopback4(hostname: string): boolean {
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

function requireEndpoint(option: string, text: string, query: boolean): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isSafeEndpoint(url))
    throw new Error(`${option} must be an https URL without credentials (http only for a loopback host), found ${JSON.stringify(text)}`);
  if (text.includes('#') || (!query && text.includes('?')))
    throw new Error(`${option} must have no ${query ? '' : 'query and no '}fragment, found ${JSON.stringify(text)}`);
}

function requireResource(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || text.includes('#') || text.includes('?'))
    throw new Error(
      `the route’s public URL must be http(s)://host/path without query and fragment, found ${JSON.stringify(text)}; set listener.public_url`,
    );
}

function introspectionIssuer(options: Options, issuers: readonly string[]): string | undefined {
  if (options.introspection === undefined) return undefined;
  const issuer = options.introspection.issuer ?? (issuers.length === 1 ? issuers[0] : undefined);
  if (issuer === undefined || !issuers.includes(issuer))
    throw new Error(`introspection.issuer must be one of the configured issuers: ${issuers.join(', ')}`);
  return issuer;
}
