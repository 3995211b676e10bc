import type { WireMessage } from '../contract/transport.js';
import { ClientError } from './client-error.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** One message of the server, judged. */
export type Received =
  | { readonly kind: 'answer'; readonly id: number; readonly result: JsonObject | ClientError }
  /** `id`: the request that it belongs to. */
  | { readonly kind: 'progress'; readonly id: number; readonly params: JsonObject }
  | { readonly kind: 'event'; readonly id: number; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'request'; readonly id: unknown; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'junk'; readonly why: string };

/** Reads one message. Ids and tokens of ours are numbers: what names another is junk. */
export function readMessage(raw: WireMessage | Uint8Array | string): Received {
  const message = toObject(raw);
  if (message === undefined) return junk('it is no JSON object');
  if (message.jsonrpc !== '2.0') return junk('jsonrpc is not "2.0"');
  const { id, method } = message;
  if (typeof method === 'string') {
    const params = isObject(message.params) ? message.params : {};
    if (id !== undefined) {
      return typeof id === 'string' || typeof id === 'number'
        ? { kind: 'request', id, method, params }
        : junk('its id is neither text nor a number');
    }
    return readNotification(method, params);
  }
  if (typeof id !== 'number') return junk('it answers no request of this client');
  return { kind: 'answer', id, result: readResult(message) };
}

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

function readNotification(method: string, params: JsonObject): Received {
  if (method === 'notifications/progress') {
    const { progressToken } = params;
    return typeof progressToken === 'number' ? { kind: 'progress', id: progressToken, params } : junk('its progress token is unknown');
  }
  const id = isObject(params._meta) ? params._meta[SUBSCRIPTION_ID] : undefined;
  return typeof id === 'number' ? { kind: 'event', id, method, params } : { kind: 'notification', method, params };
}

function readResult({ result, error }: JsonObject): JsonObject | ClientError {
  if (isObject(result) && error === undefined) return result;
  if (!isObject(error) || result !== undefined)
    return new ClientError('BROKEN', 'the server answered neither a result object nor an error');
  const { code, message, data } = error;
  if (typeof code !== 'number') return new ClientError('BROKEN', 'the server answered an error without a code');
  const text = typeof message === 'string' && message !== '' ? message : 'an error without a message';
  return new ClientError('RPC_ERROR', `the server answered error ${code}: ${text}`, {
    rpc: { code, message: text, ...(data === undefined ? {} : { data }) },
  });
}

function toObject(raw: WireMessage | Uint8Array | string): JsonObject | undefined {
  if (typeof raw !== 'string' && !(raw instanceof Uint8Array)) return raw;
  try {
    const value: unknown = JSON.parse(typeof raw === 'string' ? raw : utf8.decode(raw));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** True for an object that is no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const junk = (why: string): Received => ({ kind: 'junk', why });
