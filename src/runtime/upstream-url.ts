import { ConfigError } from '../errors/error.js';

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
