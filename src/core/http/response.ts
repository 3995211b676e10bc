import type { HttpResponse } from '../../contract/http.js';
import type { HeaderList } from '../../contract/runtime.js';
import type { GatewayError } from '../../errors/error.js';
import { lacksRetryAfter, retryAfter } from '../../errors/retry-after.js';
import { errorText } from '../../wire/rpc.js';

/** An error as a JSON-RPC response; `id` as in `errorText`. */
export function errorResponse(error: GatewayError, id: string | undefined, request_id: string): HttpResponse {
  const retry = lacksRetryAfter(error) ? { 'retry-after': retryAfter() } : {};
  return jsonResponse(error.status, Buffer.from(errorText(error, id, request_id)), request_id, { ...retry, ...error.headers });
}

export function jsonResponse(
  status: number,
  body: Uint8Array,
  request_id: string,
  more: Readonly<Record<string, string>> = {},
): HttpResponse {
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length), 'x-request-id': request_id, ...more };
  return { kind: 'response', status, headers, body };
}

export function emptyResponse(status: number, request_id: string, more: Readonly<Record<string, string>> = {}): HttpResponse {
  return { kind: 'response', status, headers: { 'content-length': '0', 'x-request-id': request_id, ...more }, body: new Uint8Array(0) };
}

/** A flat list of fields as an object. */
export function toFields(list: HeaderList): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < list.length; i += 2) fields[list[i] as string] = list[i + 1] as string;
  return fields;
}
