import type { HeaderView } from '../../contract/head.js';

/** One allowed origin: a host name, with a port only if the entry pins one, with a scheme only if the entry names one. */
interface Allowed {
  readonly scheme: string | undefined;
  readonly host: string;
  readonly port: string | undefined;
}

/**
 * Judges `Origin` (MCP 2026-07-28 Streamable HTTP, "Security & Endpoint" 1; RFC 6454). Loopback names are always allowed,
 * as is the gateway's own public origin; `null`, userinfo and anything that is not a plain http(s) origin never is.
 */
export class OriginPolicy {
  readonly #allowed: readonly Allowed[];

  constructor(entries: readonly string[], public_url: string) {
    const own = new URL(public_url);
    const pinned = { scheme: own.protocol, host: own.hostname.toLowerCase(), port: own.port === '' ? defaultPort(own.protocol) : own.port };
    this.#allowed = [...LOOPBACK.map((host) => ({ scheme: undefined, host, port: undefined })), pinned, ...entries.map(toAllowed)];
  }

  isAllowed(origin: string): boolean {
    const parsed = parseOrigin(origin);
    if (parsed === undefined) return false;
    return this.#allowed.some(
      (entry) =>
        entry.host === parsed.host &&
        (entry.port === undefined || entry.port === parsed.port) &&
        (entry.scheme === undefined || entry.scheme === parsed.scheme),
    );
  }
}

/** Judges the name a client dialled: `Host`, or from a trusted peer its single `X-Forwarded-Host`. No entry: not checked. */
export class HostPolicy {
  readonly #entries: readonly Allowed[];

  constructor(entries: readonly string[]) {
    this.#entries = entries.map(toAllowed);
  }

  get checks(): boolean {
    return this.#entries.length > 0;
  }

  isAllowed(headers: HeaderView, trusted: boolean): boolean {
    if (this.#entries.length === 0) return true;
    const host = headers.get('host');
    if (host !== undefined && this.#matches(host)) return true;
    const forwarded = trusted ? headers.get('x-forwarded-host') : undefined;
    return forwarded !== undefined && this.#matches(forwarded);
  }

  #matches(authority: string): boolean {
    const { host, port } = splitAuthority(authority);
    return this.#entries.some((entry) => entry.host === host && (entry.port === undefined || entry.port === port));
  }
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

function toAllowed(entry: string): Allowed {
  if (entry.includes('://')) {
    const url = new URL(entry);
    return { scheme: url.protocol, host: url.hostname.toLowerCase(), port: url.port === '' ? defaultPort(url.protocol) : url.port };
  }
  return { scheme: undefined, ...splitAuthority(entry) };
}

function parseOrigin(origin: string): { scheme: string; host: string; port: string } | undefined {
  // The URL parser drops tabs, line breaks and soft hyphens, and white space at either end.
  if (origin.length > 512 || !/^[\x21-\x7e]+$/.test(origin) || !URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (origin.includes('@') || url.pathname !== '/' || url.search !== '' || url.hash !== '' || origin.endsWith('/')) return undefined;
  return { scheme: url.protocol, host: url.hostname.toLowerCase(), port: url.port === '' ? defaultPort(url.protocol) : url.port };
}

function splitAuthority(authority: string): { host: string; port: string | undefined } {
  const lower = authority.toLowerCase();
  const colon = lower.lastIndexOf(':');
  const bracket = lower.lastIndexOf(']');
  if (colon === -1 || colon < bracket) return { host: lower, port: undefined };
  return { host: lower.slice(0, colon), port: lower.slice(colon + 1) };
}

function defaultPort(scheme: string): string {
  return scheme === 'https:' ? '443' : '80';
}
