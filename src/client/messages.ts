import type { WireMessage } from '../contract/transport.js';
import { isObject } from '../core/call/params.js';
import { SUBSCRIPTION_KEY } from '../wire/rpc.js';
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

/** The first message of a subscription: what it will tell (MCP 2026-07-28, Subscriptions). */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/**
 * Reads one message, or a batch of them (MCP 2025-03-26). Ids and tokens of ours are numbers, which some servers send back as strings;
 * any other version is junk. A leading byte order mark is ignored.
 */
export function readMessages(raw: WireMessage | Uint8Array | string): readonly Received[] {
  const value = toValue(raw);
  return Array.isArray(value) ? value.map(readMessage) : [readMessage(value)];
}

function readMessage(message: unknown): Received {
  if (!isObject(message)) return junk('it is not a JSON object');
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
  const own = toOwnId(id);
  return own === undefined ? junk('it answers no request of this client') : { kind: 'answer', id: own, result: readResult(message) };
}

/** A number, or a string that spells one as this client would. */
function toOwnId(id: unknown): number | undefined {
  if (typeof id === 'number') return id;
  return typeof id === 'string' && /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : undefined;
}

function readNotification(method: string, params: JsonObject): Received {
  if (method === 'notifications/progress') {
    const token = toOwnId(params.progressToken);
    return token === undefined ? junk('its progress token is unknown') : { kind: 'progress', id: token, params };
  }
  const id = isObject(params._meta) ? toOwnId(params._meta[SUBSCRIPTION_KEY]) : undefined;
  return id === undefined ? { kind: 'notification', method, params } : { kind: 'event', id, method, params };
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

function toValue(raw: WireMessage | Uint8Array | string): unknown {
  if (typeof raw !== 'string' && !(raw instanceof Uint8Array)) return raw;
  try {
    return JSON.parse(typeof raw === 'string' ? withoutMark(raw) : utf8.decode(raw));
  } catch {
    return undefined;
  }
}

/** Leaves a byte order mark out. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

const junk = (why: string): Received => ({ kind: 'junk', why });
