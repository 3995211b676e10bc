/**
 * JSON-RPC 2.0 messages as JSON text. Ids, `params`, `result` and `error` are JSON text already and go in as they are; a method has
 * no character that JSON escapes. An id that came from a client keeps its digits and quotes.
 */

/** The key in `_meta` that marks a message of a subscription (MCP 2026-07-28, Subscriptions). */
export const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';

/** The key in a result's `_meta` that names the server (MCP 2026-07-28). */
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';

export function requestText(id: string | number, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
}

/** Without `params` the member is left out. */
export function notificationText(method: string, params?: string): string {
  return params === undefined ? `{"jsonrpc":"2.0","method":"${method}"}` : `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
}

export function resultText(id: string | number, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** An undefined id is left out: in MCP the id of an error response is optional and never null (schema, `JSONRPCErrorResponse`). */
export function errorResponseText(id: string | undefined, error: string): string {
  return id === undefined ? `{"jsonrpc":"2.0","error":${error}}` : `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** The value of `error`. Undefined `data` is left out. */
export function errorObject(code: number, message: string, data?: unknown): string {
  return JSON.stringify({ code, message, data });
}

/** An error of the gateway's own, e.g. a `GatewayError`. */
interface Reported {
  /** JSON-RPC error code. */
  readonly rpc: number;
  /** Stable name, `error.data.code`. */
  readonly code: string;
  readonly message: string;
  /** More members of `error.data`. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** The response that reports an error of the gateway's own. `request_id`: `error.data.request_id`, what the log calls the request. */
export function errorText({ rpc, code, message, data }: Reported, id: string | undefined, request_id: string): string {
  return errorResponseText(id, errorObject(rpc, message, { code, request_id, ...data }));
}
