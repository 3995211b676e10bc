import { ConfigError, type ConfigProblem } from '../../errors/error.js';
import { CONNECTION_FIELDS, isFieldText, isToken } from '../../wire/field.js';

/** Fields of one hop (RFC 9110 section 7.6.1, and names of older proxies). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...CONNECTION_FIELDS,
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'http2-settings',
]);
/** Fields that speak for the whole origin, or to a proxy in front of the gateway. */
export const ORIGIN_WIDE: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'nel',
  'public-key-pins',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'strict-transport-security',
  'x-sendfile',
  'x-lighttpd-send-file',
]);

/**
 * Checks `runtimes.<name>.headers`: names are tokens, values are field values, and none is a field that the gateway writes itself.
 * @throws ConfigError naming every bad key; values are never quoted.
 */
export function checkStaticHeaders(runtime: string, headers: Readonly<Record<string, string>>): void {
  const problems: ConfigProblem[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const where = `runtimes.${runtime}.headers.${name}`;
    const lower = name.toLowerCase();
    if (!isToken(name, 256)) problems.push({ where, message: 'is not a header name' });
    else if (HOP_BY_HOP.has(lower) || OWN.has(lower) || lower.startsWith('mcp-')) {
      problems.push({ where, message: 'is written by the gateway itself and cannot be set' });
    } else if (!isFieldText(value)) problems.push({ where, message: 'the value must be printable ASCII' });
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

const OWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'last-event-id',
  'traceparent',
  'tracestate',
]);

/** A fixed upstream, taken apart once. */
export interface UpstreamUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query that requests are sent to; `/` at least. */
  readonly target: string;
}

/**
 * Reads `runtimes.<name>.url`.
 * @throws ConfigError unless it is an absolute http or https URL without user info and fragment.
 */
export function parseUpstreamUrl(runtime: string, url: string): UpstreamUrl {
  const where = `runtimes.${runtime}.url`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new ConfigError([{ where, message: 'must be an absolute http:// or https:// URL' }]);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ConfigError([{ where, message: 'must not carry user info; put the credential into headers' }]);
  }
  if (parsed.hash !== '') throw new ConfigError([{ where, message: 'must not have a fragment' }]);
  return { origin: parsed.origin, target: parsed.pathname + parsed.search };
}
