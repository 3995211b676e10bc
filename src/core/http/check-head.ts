import type { Claims } from '../../contract/claims.js';
import type { HeaderView } from '../../contract/head.js';
import { readClaims } from '../../dialect/claims.js';
import type { ProtocolFault } from '../../errors/error.js';
import { accepts, isJsonType, isPlainLength, isVisible, trimOws } from '../../wire/field.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** What is checked of a request head. */
export interface CheckedHead {
  readonly method: string;
  readonly headers: HeaderView;
  /** `trusted`: its forwarded headers are believed. */
  readonly peer: { readonly trusted: boolean };
  /** From `judgeOrigin`. */
  readonly origin: OriginVerdict;
}

/** The verdict on `Origin`; a repeated field is refused. */
export type OriginVerdict = 'none' | 'allowed' | 'refused';

/** What the path of a request leads to. */
export interface HeadTarget {
  /** `served`: a public document that a gate answers, which any origin may read. */
  readonly kind: 'mcp' | 'http' | 'served';
  /** Undefined: any. OPTIONS of an MCP path is for preflights alone. */
  readonly methods: ReadonlySet<string> | undefined;
}

/** How a body is framed (RFC 9112 section 6). */
export interface BodyFraming {
  /** Declared Content-Length in bytes; -1 without one. */
  readonly content_length: number;
  /** The body has no declared length: any Transfer-Encoding, or the host's own framing. */
  readonly transfer_encoding: boolean;
  /** True when two readers cannot take that for different framings: `chunked` alone in HTTP/1.1, or the host's own framing. */
  readonly chunked: boolean;
}

/** What an operator configures of the checks. */
export interface HeadRules {
  readonly hosts: HostPolicy;
  readonly max_body_bytes: number;
  /** `chunked_requests: accept`: bodies without a declared length are counted instead of refused. */
  readonly chunked: boolean;
  /** Preflights are answered. */
  readonly cors: boolean;
}

/** What `checkHead` found. */
export interface HeadVerdict {
  /** The first fault. With BODY_TOO_LARGE the claims of a message that is good otherwise come along: gates may be asked who sent it. */
  readonly fault?: ProtocolFault;
  /** Value of `Allow` in a 405. */
  readonly allow?: string;
  /** A CORS preflight of an allowed origin; nothing else of it was checked. */
  readonly preflight?: true;
  /** Of a message to an MCP path. */
  readonly claims?: Claims;
  /** Which answers `Accept` admits. */
  readonly json: boolean;
  readonly events: boolean;
}

type MessageVerdict =
  | (HeadVerdict & { readonly fault: ProtocolFault })
  | (HeadVerdict & { readonly fault?: undefined; readonly claims: Claims });

/**
 * Everything that is decided from the head alone, before the first gate, in this order: method, Host, Origin, preflight, body framing,
 * Content-Type, Accept, MCP headers (MCP 2026-07-28 Streamable HTTP). The listener, the mounts and `explain` share it.
 * `framing` undefined: Content-Length is malformed.
 */
export function checkHead(head: CheckedHead, target: HeadTarget, framing: BodyFraming | undefined, rules: HeadRules): HeadVerdict {
  const entry = checkEntry(head, target, framing, rules);
  const { fault } = entry;
  if (entry.preflight || target.kind !== 'mcp') return entry;
  if (fault !== undefined && (fault.code !== 'BODY_TOO_LARGE' || head.method !== 'POST')) return entry;
  const message = checkMessage(head);
  if (fault === undefined) return message;
  return message.claims === undefined ? entry : { ...message, fault };
}

/** The part of `checkHead` before Content-Type: who may send a body here, and of which size. */
export function checkEntry(head: CheckedHead, target: HeadTarget, framing: BodyFraming | undefined, rules: HeadRules): HeadVerdict {
  const { method, headers, origin } = head;
  const { kind, methods } = target;
  const preflight =
    method === 'OPTIONS' &&
    rules.cors &&
    kind !== 'served' &&
    origin !== 'none' &&
    headers.get('access-control-request-method') !== undefined;
  if (!preflight && (methods?.has(method) === false || (kind === 'mcp' && method === 'OPTIONS')))
    return { fault: { code: 'METHOD_NOT_ALLOWED' }, allow: [...(methods ?? [])].join(', '), ...BOTH };
  if (!rules.hosts.isAllowed(headers, head.peer.trusted)) return { fault: { code: 'HOST_NOT_ALLOWED' }, ...BOTH };
  if (kind !== 'served' && origin === 'refused') return { fault: { code: 'ORIGIN_NOT_ALLOWED' }, ...BOTH };
  if (preflight) return PREFLIGHT;
  const fault = framing === undefined ? MALFORMED : checkFraming(method, kind, framing, rules);
  return fault === undefined ? BOTH : { fault, ...BOTH };
}

/** The part of `checkHead` from Content-Type on: what a request to an MCP path says of its message. */
export function checkMessage({ method, headers }: Pick<CheckedHead, 'method' | 'headers'>): MessageVerdict {
  if (method === 'POST' && !(isJsonType(headers.get('content-type')) && isPlain(headers.all('content-encoding'))))
    return { fault: { code: 'MEDIA_TYPE' }, ...BOTH };
  const wanted = method === 'DELETE' ? BOTH : accepts(headers.all('accept'));
  if (!(wanted.events || (wanted.json && method === 'POST'))) return { fault: { code: 'NOT_ACCEPTABLE' }, ...BOTH };
  const claims = readClaims(headers, method, 'defer');
  if (!claims.ok) return { fault: claims.fault, ...BOTH };
  if (claims.value.era === 'modern' && method !== 'POST') {
    const detail = 'Revision 2026-07-28 has no GET stream and no sessions.';
    return { fault: { code: 'METHOD_NOT_ALLOWED', detail }, allow: 'POST', ...BOTH };
  }
  return { claims: claims.value, json: wanted.json, events: wanted.events };
}

/** Judges the `Origin` of a request. A request without one does not come from a browser's script. */
export function judgeOrigin(headers: HeaderView, policy: OriginPolicy): OriginVerdict {
  const origins = headers.all('origin');
  if (origins.length === 0) return 'none';
  return origins.length === 1 && policy.isAllowed(origins[0]!) ? 'allowed' : 'refused';
}

/**
 * The framing of a body besides Content-Length: `none`, but for the chunks of HTTP/1.1; `host`, as in HTTP/2 and in a `Request`;
 * `old`, HTTP/1.0, where readers do not know chunks and what they forward can be framed in two ways (RFC 9112 section 6.1).
 */
export type Unframed = 'none' | 'host' | 'old';

/**
 * Reads the framing of a body from its header fields. Undefined: Content-Length is repeated or not plain decimal digits (RFC 9110 section 8.6).
 */
export function framingOf(headers: HeaderView, unframed: Unframed = 'none'): BodyFraming | undefined {
  const [length, another] = headers.all('content-length');
  const codings = headers.all('transfer-encoding');
  if (codings.length > 0) {
    const chunked = unframed !== 'old' && codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
    return { content_length: length === undefined ? -1 : 0, transfer_encoding: true, chunked };
  }
  if (length === undefined) return { content_length: -1, transfer_encoding: unframed === 'host', chunked: unframed === 'host' };
  if (another !== undefined || !isPlainLength(length)) return undefined;
  return { content_length: Number(length), transfer_encoding: false, chunked: false };
}

const BOTH = { json: true, events: true } as const;
const PREFLIGHT: HeadVerdict = { preflight: true, ...BOTH };
const MALFORMED: ProtocolFault = { code: 'BAD_REQUEST' };

function checkFraming(method: string, kind: HeadTarget['kind'], framing: BodyFraming, rules: HeadRules): ProtocolFault | undefined {
  const { content_length, transfer_encoding, chunked } = framing;
  if (transfer_encoding) {
    // RFC 9112 section 6.3: both at once is how requests are smuggled.
    if (!rules.chunked || !chunked || content_length !== -1) return { code: 'LENGTH_REQUIRED' };
  } else if (content_length === -1 && method === 'POST') return { code: 'LENGTH_REQUIRED' };
  if (content_length > rules.max_body_bytes) {
    return {
      code: 'BODY_TOO_LARGE',
      detail: `At most ${rules.max_body_bytes} bytes are accepted.`,
      data: { max_body_bytes: rules.max_body_bytes },
    };
  }
  const bodiless = kind === 'mcp' ? method !== 'POST' : kind === 'served' || method === 'GET' || method === 'HEAD';
  if (bodiless && (content_length > 0 || transfer_encoding))
    return { code: 'BAD_REQUEST', detail: `A ${method} request here has no body.` };
  return undefined;
}

/** True without Content-Encoding and for a single `identity`. */
function isPlain(codings: readonly string[]): boolean {
  return codings.length === 0 || (codings.length === 1 && trimOws(codings[0]!).toLowerCase() === 'identity');
}

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

function toAllowed(entry: string): Allowed {
  if (entry.includes('://')) {
    const url = new URL(entry);
    return { scheme: url.protocol, host: url.hostname.toLowerCase(), port: url.port === '' ? defaultPort(url.protocol) : url.port };
  }
  return { scheme: undefined, ...splitAuthority(entry) };
}

function parseOrigin(origin: string): { scheme: string; host: string; port: string } | undefined {
  // The URL parser drops tabs, line breaks and soft hyphens, and white space at either end.
  if (!isVisible(origin, 512) || !URL.canParse(origin)) return undefined;
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
