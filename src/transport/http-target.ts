import type { SendOptions } from '../contract/transport.js';
import { isFieldValue, isToken } from '../wire/field.js';

/**
 * A bearer token, or a function that is asked for one before each request. While it returns undefined, no `Authorization` is sent;
 * whatever else is not a token of RFC 6750 section 2.1, the empty text and null included, fails the request with `CALLBACK_FAILED`.
 */
export type Bearer = string | (() => string | undefined | Promise<string | undefined>);

export interface TargetOptions {
  /** `http://…/mcp` or `https://…/mcp`: the MCP endpoint. */
  readonly url: string | URL;
  /** Added to each request. Not for what the protocol sets itself. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly bearer?: Bearer;
  /** PEM of the certificate authorities that the server must chain to. Default: the public ones. */
  readonly ca?: string;
}

/** Where requests go, and the head that all of them have. */
export interface HttpTarget {
  readonly origin: string;
  readonly path: string;
  readonly ca: string | undefined;
  /** Names and values, one after another. */
  headers(options: SendOptions): Promise<string[]>;
}

/** Reads and checks a target. Throws TypeError, also for values of a wrong type; no message repeats a value, which may be a secret. */
export function readTarget({ url, headers = {}, bearer, ca }: TargetOptions): HttpTarget {
  const { origin, pathname, search, hash, username, password, protocol } = toUrl(url);
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError('the URL of an MCP server begins with http:// or https://');
  if (username !== '' || password !== '')
    throw new TypeError('the URL must not hold a user name or password: use the bearer option or headers');
  if (hash !== '') throw new TypeError('the URL must not have a fragment');
  if (bearer !== undefined && typeof bearer !== 'function') checkToken(bearer);
  if (ca !== undefined && typeof ca !== 'string') throw new TypeError(`ca must be PEM text, not ${typeOf(ca)}`);
  const fixed: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw new TypeError(`headers: the value of ${JSON.stringify(name)} must be text, not ${typeOf(value)}`);
    if (!isToken(name) || !isFieldValue(value))
      throw new TypeError(`headers: ${JSON.stringify(name)} cannot be a header field with this value`);
    if (RESERVED.test(name)) throw new TypeError(`headers: ${name} is set by the protocol`);
    fixed.push(name, value);
  }
  return {
    origin,
    path: `${pathname}${search}`,
    ca,
    async headers({ session_id, headers: own = {} }) {
      const list = [...fixed];
      const token: unknown = typeof bearer === 'function' ? await bearer() : bearer;
      if (token !== undefined) list.push('authorization', `Bearer ${checkToken(token)}`);
      for (const [name, value] of Object.entries(own)) list.push(name, value);
      if (session_id !== undefined) list.push('mcp-session-id', session_id);
      return list;
    },
  };
}

const BAD_TOKEN = 'the bearer token has characters that no token has (RFC 6750 section 2.1)';
const BEARER = /^[A-Za-z0-9\-._~+/]+=*$/;
const RESERVED =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept|expect|upgrade|te|trailer|keep-alive|last-event-id|mcp-(?:method|name|protocol-version|session-id|param-.*))$/i;

/** A pattern alone would judge the text of undefined or null, which looks like a token. */
function checkToken(token: unknown): string {
  if (typeof token !== 'string') throw new TypeError(`the bearer token must be text, not ${typeOf(token)}`);
  if (token === '') throw new TypeError('the bearer token is empty');
  if (!BEARER.test(token)) throw new TypeError(BAD_TOKEN);
  return token;
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function toUrl(url: string | URL): URL {
  try {
    return new URL(url);
  } catch {
    // Its query may hold a key.
    throw new TypeError(`${JSON.stringify(String(url).replace(/\?.*$/s, '?…').slice(0, 200))} is not a URL`);
  }
}
