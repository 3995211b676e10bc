import type { Call } from '../contract/runtime.js';

/** The parts of an upstream request head that no client shapes: flat name, value lists, ready to be copied. */
export interface FixedHeaders {
  readonly post: readonly string[];
  readonly get: readonly string[];
  readonly delete: readonly string[];
}

/** Joins what every request carries with the route's own static headers. */
export function fixedHeaders(configured: Readonly<Record<string, string>>): FixedHeaders {
  const both = 'application/json, text/event-stream';
  // Without `identity` an origin may choose a coding by itself, and a compressed event stream arrives in lumps.
  const own = ['accept-encoding', 'identity', ...Object.entries(configured).flatMap(([name, value]) => [name.toLowerCase(), value])];
  return {
    post: ['content-type', 'application/json', 'accept', both, ...own],
    get: ['accept', 'text/event-stream', ...own],
    delete: ['accept', both, ...own],
  };
}

/**
 * The head of one upstream request, by allowlist (MCP Streamable HTTP, "Request Metadata"). From the client come only the MCP
 * headers that the gateway has compared with the body, `Mcp-Param-*` unchanged, trace context, and `Last-Event-ID` on a
 * legacy GET. A name in the client's `Connection` field changes nothing. Host and Content-Length are added by the sender.
 */
export function requestHeaders(fixed: readonly string[], call: Call, session: string | undefined, identity: string | undefined): string[] {
  const headers = fixed.slice();
  const identityName = call.route.forward_identity_header;
  if (session !== undefined) headers.push('mcp-session-id', session);
  if (identity !== undefined && identityName !== undefined) headers.push(identityName, identity);
  const modern = call.era === 'modern';
  const raw = call.head.headers.raw;
  let taken = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string;
    const initial = name.charCodeAt(0) | 0x20;
    if (initial !== M && initial !== T && initial !== L) continue;
    const lower = name.toLowerCase();
    const single = SINGLE.get(lower);
    if (single !== undefined) {
      if ((taken & single) !== 0 || !wanted(single, modern, call.kind)) continue;
      taken |= single;
    } else if (lower !== 'tracestate' && !(modern && lower.startsWith('mcp-param-') && lower !== identityName)) continue;
    headers.push(lower, raw[i + 1] as string);
  }
  return headers;
}

const M = 0x6d;
const T = 0x74;
const L = 0x6c;
const VERSION = 1;
const METHOD = 2;
const NAME = 4;
const TRACE = 8;
const LAST_EVENT = 16;

const SINGLE: ReadonlyMap<string, number> = new Map([
  ['mcp-protocol-version', VERSION],
  ['mcp-method', METHOD],
  ['mcp-name', NAME],
  ['traceparent', TRACE],
  ['last-event-id', LAST_EVENT],
]);

function wanted(single: number, modern: boolean, kind: Call['kind']): boolean {
  if (single === METHOD || single === NAME) return modern;
  if (single === LAST_EVENT) return !modern && kind === 'get_stream';
  return true;
}
