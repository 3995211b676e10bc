import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from './features.js';

export const MODERN = '2026-07-28';
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
const SUPPORTED = [MODERN, ...LEGACY];

export type RequestId = string | number;

/** What one POST is. */
export type Admitted =
  | {
      readonly kind: 'call';
      readonly modern: boolean;
      readonly id: RequestId;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly id: RequestId | null;
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
    };

const NAMED: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** Reads one message and checks what its era asks of the envelope and the headers (MCP 2026-07-28 Streamable HTTP, 2025-11-25 transports). */
export function admit(body: string, headers: IncomingHttpHeaders): Admitted {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return refuse(null, -32700, 'The body is not JSON.');
  }
  if (!isObject(message) || message.jsonrpc !== '2.0') return refuse(null, -32600, 'The body is not one JSON-RPC 2.0 message.');
  const { id, method } = message;
  const readable = typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null;
  const isResponse = method === undefined && ('result' in message || 'error' in message);
  if (typeof method !== 'string' && !isResponse) return refuse(readable, -32600, 'method is missing.');
  const params = message.params ?? {};
  if (!isObject(params)) return refuse(readable, -32602, 'params must be an object.');

  const version = headers['mcp-protocol-version'];
  if (typeof version === 'string' && !SUPPORTED.includes(version))
    return refuse(readable, -32022, 'Unsupported protocol version.', { supported: SUPPORTED, requested: version });
  const meta = isObject(params._meta) ? params._meta : {};
  const modern = version === MODERN || meta[VERSION_KEY] !== undefined;
  if (isResponse || id === undefined)
    return modern && isResponse ? refuse(null, -32600, 'Responses are not sent here.') : { kind: 'accepted' };
  if (readable === null) return refuse(null, -32600, 'id must be a string or a safe integer.');
  const wrong = modern ? checkModern(readable, method as string, params, meta, headers) : undefined;
  return wrong ?? { kind: 'call', modern, id: readable, method: method as string, params };
}

function checkModern(
  id: RequestId,
  method: string,
  params: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
): Admitted | undefined {
  const version = meta[VERSION_KEY];
  if (typeof version !== 'string' || !isObject(meta[CAPABILITIES_KEY]))
    return refuse(id, -32602, `_meta must hold ${VERSION_KEY} and ${CAPABILITIES_KEY}.`);
  if (headers['mcp-protocol-version'] !== version) return refuse(id, -32020, 'MCP-Protocol-Version does not match _meta.');
  if (headers['mcp-method'] !== method) return refuse(id, -32020, 'Mcp-Method does not match the body.');
  const key = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (key !== undefined && decoded(headers['mcp-name']) !== params[key]) return refuse(id, -32020, 'Mcp-Name does not match the body.');
  return undefined;
}

/** Undoes `=?base64?…?=`; what is not the encoding of valid UTF-8 matches nothing. */
function decoded(value: string | readonly string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const bytes = Buffer.from(value.slice('=?base64?'.length, -'?='.length), 'base64');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuse(id: RequestId | null, code: number, message: string, data?: unknown): Admitted {
  return { kind: 'refused', status: 400, id, code, message, ...(data === undefined ? {} : { data }) };
}
