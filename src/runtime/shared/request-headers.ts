import type { Call } from '../../contract/runtime.js';
import type { RequestTrace } from '../../contract/tracing.js';
import { isFieldValue } from '../../wire/field.js';

/** The parts of an upstream request head that no client shapes: request line and fields as they are written, each with its CRLF. */
export interface FixedHeads {
  readonly post: string;
  readonly get: string;
  readonly delete: string;
}

/** Request line, Host and what every request carries, the route's own static headers too; `target` is the upstream's path and query. */
export function fixedHeads(host: string, target: string, configured: Readonly<Record<string, string>>): FixedHeads {
  // Without `identity` an origin may choose a coding by itself, and a compressed event stream arrives in lumps.
  const own = ['accept-encoding', 'identity', ...Object.entries(configured).flatMap(([name, value]) => [name.toLowerCase(), value])];
  const head = (method: string, fields: readonly string[]): string =>
    `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${fieldLines([...fields, ...own])}`;
  return { post: head('POST', POST_FIELDS), get: head('GET', ['accept', 'text/event-stream']), delete: head('DELETE', ACCEPTS) };
}

/** Fields as they are written: one line each, with its CRLF. Undefined when a value is not a field value (RFC 9110 section 5.5). */
export function fieldLines(fields: readonly string[]): string | undefined {
  let lines = '';
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const value = fields[i + 1] as string;
    if (!isFieldValue(value)) return undefined;
    lines += `${fields[i]}: ${value}\r\n`;
  }
  return lines;
}

const ACCEPTS = ['accept', 'application/json, text/event-stream'];
/** What a POST says of itself, flat name, value. */
export const POST_FIELDS: readonly string[] = ['content-type', 'application/json', ...ACCEPTS];

/**
 * What one upstream request carries beside the fixed head: flat name, value, by allowlist (MCP Streamable HTTP, "Request Metadata"). From the client come only the MCP
 * headers that the gateway has compared with the body, the `Mcp-Param-*` of a POST in either era unchanged, trace context, and `Last-Event-ID` on a
 * legacy GET. A name in the client's `Connection` field changes nothing. `name_there` takes the place of the client's `Mcp-Name`.
 */
export function requestHeaders(call: Call, session: string | undefined, identity: string | undefined, name_there?: string): string[] {
  const headers: string[] = [];
  const identityName = call.route.forward_identity_header;
  if (session !== undefined) headers.push('mcp-session-id', session);
  if (identity !== undefined && identityName !== undefined) headers.push(identityName, identity);
  const modern = call.era === 'modern';
  const posted = call.kind !== 'get_stream' && call.kind !== 'session_end';
  if (call.trace !== undefined) pushTrace(headers, call.trace);
  const traced = call.trace === undefined ? 0 : TRACE;
  const raw = call.head.headers.raw;
  let taken = traced;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string;
    const initial = name.charCodeAt(0) | 0x20;
    if (initial !== M && initial !== T && initial !== L) continue;
    const lower = name.toLowerCase();
    const single = SINGLE.get(lower);
    if (single !== undefined) {
      if ((taken & single) !== 0 || !wanted(single, modern, call.kind)) continue;
      taken |= single;
    } else if ((lower !== 'tracestate' || traced !== 0) && !(posted && lower.startsWith('mcp-param-') && lower !== identityName)) continue;
    headers.push(lower, single === NAME && name_there !== undefined ? name_there : (raw[i + 1] as string));
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

/** Ours in place of the client's: the upstream's span becomes a child of the one we have for it. */
function pushTrace(headers: string[], trace: RequestTrace): void {
  const { traceparent, tracestate } = trace.outgoing();
  headers.push('traceparent', traceparent);
  if (tracestate !== undefined) headers.push('tracestate', tracestate);
}

function wanted(single: number, modern: boolean, kind: Call['kind']): boolean {
  if (single === METHOD || single === NAME) return modern;
  if (single === LAST_EVENT) return !modern && kind === 'get_stream';
  return true;
}
