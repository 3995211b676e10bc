import type { Call, HeaderList } from '../contract/runtime.js';
import type { ErrorCode } from '../errors/codes.js';
import { GatewayError } from '../errors/error.js';
import { encodeSse } from '../wire/sse.js';

/** What went wrong toward an upstream: the code for the client, and for the log why, without an address or a header value. */
export interface UpstreamFault {
  readonly code: ErrorCode;
  readonly reason: string;
}

/** Reads an error of the HTTP client before the answer's head was there. */
export function faultBeforeHead(error: Error): UpstreamFault {
  const reason = reasonOf(error);
  if (reason === 'UND_ERR_INVALID_ARG') return { code: 'BAD_REQUEST', reason };
  if (reason === 'UND_ERR_DESTROYED' || reason === 'UND_ERR_CLOSED') return { code: 'DRAINING', reason };
  const spoke =
    reason === 'HTTPParserError' ||
    reason.startsWith('HPE_') ||
    reason === 'UND_ERR_HEADERS_OVERFLOW' ||
    reason === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  return { code: spoke ? 'UPSTREAM_BROKEN' : 'UPSTREAM_UNREACHABLE', reason };
}

/** The error's code, or its name: never its message, which holds addresses. */
export function reasonOf(error: Error): string {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === 'string' && code !== '' ? code : error.name;
}

/** The fields of an upstream's answer that go with an error body of our own; repeated fields are joined (RFC 9110 section 5.3). */
export function errorHeaders(relayed: HeaderList): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < relayed.length; i += 2) {
    const name = relayed[i] as string;
    const value = relayed[i + 1] as string;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** The JSON-RPC error that tells `error`; `id` is raw JSON text. */
export function errorText(error: GatewayError, id: string | undefined, request_id: string): string {
  const data = { code: error.code, request_id, ...error.data };
  return `{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${JSON.stringify({ code: error.rpc, message: error.message, data })}}`;
}

/** The error event that ends a stream which had begun: it answers the call, so no client waits for a result that never comes. */
export function errorEvent(call: Call, code: ErrorCode): Uint8Array {
  return encodeSse({ data: Buffer.from(errorText(new GatewayError(code), call.id, call.head.id)) });
}
