/**
 * True for a response field of an MCP upstream that must not reach the client. Names are in lower case. Three groups: fields
 * of the hop (RFC 9110 section 7.6.1) and of the framing, which the listener writes itself; fields that speak for the whole
 * origin or to a proxy in front of us; and fields that would hand the upstream's credentials, addresses or challenges on.
 */
export function dropped(name: string): boolean {
  return DROPPED.has(name) || (name.charCodeAt(0) === A && name.startsWith('access-control-')) || name.startsWith('x-accel-');
}

/** Fields of one hop (RFC 9110 section 7.6.1, and names of older proxies). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
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

const A = 0x61;

const DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...ORIGIN_WIDE,
  'authentication-info',
  'content-location',
  'date',
  'location',
  'server',
  'set-cookie',
  'set-cookie2',
  'via',
  'www-authenticate',
  'x-powered-by',
]);
