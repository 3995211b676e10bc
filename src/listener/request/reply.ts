import type { ServerResponse } from 'node:http';
import type { HeaderInit } from '../../contract/gate.js';
import type { HeaderList } from '../../contract/runtime.js';
import type { ServeRefusal } from '../../core/serve.js';
import { lacksRetryAfter, retryAfter } from '../../errors/retry-after.js';
import { trimOws } from '../../wire/field.js';
import { errorText } from '../../wire/rpc.js';
import type { Connection } from '../socket/connection.js';

/** Request fields that browser clients of MCP may send beside their `Mcp-Param-*`. */
const ASKED =
  'authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id, x-api-key, dpop';
const EXPOSED = 'WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, X-Request-Id, Retry-After, DPoP-Nonce';
const EMPTY: HeaderList = [];

/** An error as it is sent: status and JSON-RPC error object. */
export interface Refusal extends ServeRefusal {
  readonly headers?: HeaderInit | undefined;
}

/**
 * Sends an error. Before the body was read in full the connection closes after it: half-close and linger are the
 * admission's. Does nothing when the head is already out or the connection is gone.
 */
export function sendRefusal(
  connection: Connection,
  refusal: Refusal,
  id: string | undefined,
  request_id: string,
  extra: HeaderList,
  close: boolean,
): void {
  const { response } = connection;
  if (response === undefined || connection.dead || response.headersSent || response.destroyed) return;
  const body = errorText(refusal, id, request_id);
  const headers = [
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
    'x-request-id',
    request_id,
    ...extra,
  ];
  if (lacksRetryAfter(refusal)) headers.push('retry-after', retryAfter());
  addHeaders(headers, refusal.headers);
  sendWhole(response, refusal.status, headers, body, close);
}

/** Sends a whole answer; `close` ends the connection after it. */
export function sendWhole(response: ServerResponse, status: number, headers: string[], body: string, close: boolean): void {
  if (close) response.shouldKeepAlive = false;
  response.writeHead(status, headers);
  response.end(body);
}

/**
 * Sends a whole answer to a POST, with its Content-Length among `headers`. Node sends what `_header` holds with its first write:
 * a small body behind it makes the answer one buffer and one system call, where `end(body)` is a list of two.
 */
export function sendBytes(response: ServerResponse, status: number, headers: string[], body: Uint8Array): void {
  response.writeHead(status, headers);
  const out = response as unknown as { _header?: unknown };
  if (body.length > ONE_WRITE_BYTES || typeof out._header !== 'string') return void response.end(body);
  out._header += Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  response.end();
}

const ONE_WRITE_BYTES = 14_336;

/** Appends header fields of a gate or a fault to a flat list. */
export function addHeaders(list: string[], headers: HeaderInit | undefined): void {
  if (headers === undefined) return;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') list.push(name, value);
    else for (const line of value) list.push(name, line);
  }
}

/** CORS fields of every answer to an allowed origin (Fetch standard); none when CORS is off or the request has no Origin. */
export function corsHeaders(origin: string | undefined): HeaderList {
  if (origin === undefined) return EMPTY;
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED, 'vary', 'Origin'];
}

/** The answer to a preflight of an allowed origin. `asked` is Access-Control-Request-Headers: its `mcp-param-*` names are allowed too. */
export function preflightHeaders(origin: string, methods: string, asked: string | undefined): HeaderList {
  const params = (asked ?? '').toLowerCase().split(',', 64).map(trimOws).filter(isParam);
  return [
    'access-control-allow-origin',
    origin,
    'access-control-allow-methods',
    methods,
    'access-control-allow-headers',
    [ASKED, ...params].join(', '),
    'access-control-max-age',
    '600',
    'vary',
    'Origin, Access-Control-Request-Headers',
  ];
}

function isParam(name: string): boolean {
  if (!name.startsWith('mcp-param-') || name.length > 128) return false;
  for (let i = 10; i < name.length; i++) {
    const c = name.charCodeAt(i);
    const token = (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x5f;
    if (!token) return false;
  }
  return true;
}
