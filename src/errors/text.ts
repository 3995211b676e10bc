import type { HeaderInit } from '../contract/gate.js';

/** An error as JSON-RPC reports it. */
interface Reported {
  /** JSON-RPC error code. */
  readonly rpc: number;
  /** Stable name, `error.data.code`. */
  readonly code: string;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The JSON-RPC error response for `error`, as JSON text. `id` is the raw JSON text of the request's id. Undefined leaves the member
 * out: in MCP the id of an error response is optional and never null (schema, `JSONRPCErrorResponse`).
 */
export function errorText({ rpc, code, message, data }: Reported, id: string | undefined, request_id: string): string {
  const error = JSON.stringify({ code: rpc, message, data: { code, request_id, ...data } });
  return id === undefined ? `{"jsonrpc":"2.0","error":${error}}` : `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/**
 * Value of a `Retry-After` header in seconds (RFC 9110 section 10.2.3): `least_s`, rounded up and at least 1 (the default), plus 0 to
 * 4 by chance, so that callers refused at the same moment do not come back at the same moment. `random` is as `Math.random`.
 */
export function retryAfter(least_s = 1, random: () => number = Math.random): string {
  return String(Math.max(1, Math.ceil(least_s)) + Math.floor(5 * random()));
}

/** True for a 503 without a `Retry-After`: whoever sends it adds one. */
export function lacksRetryAfter(error: { readonly status: number; readonly headers?: HeaderInit | undefined }): boolean {
  return error.status === 503 && !Object.keys(error.headers ?? {}).some((name) => name.toLowerCase() === 'retry-after');
}
