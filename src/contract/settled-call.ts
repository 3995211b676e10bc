import type { HeaderView } from './head.js';
import type { Call } from './runtime.js';

/** The call without its body and its head's fields: what a stream needs that may stay open for hours. The caller's credential is not in it. */
export function settledCall(call: Call): Call {
  const { id, method, path, query, peer, received_at_ms, claims } = call.head;
  return { ...call, body: EMPTY, head: { id, method, path, query, headers: NO_FIELDS, peer, received_at_ms, claims } };
}

const EMPTY = Buffer.alloc(0);
const NO_FIELDS: HeaderView = { raw: [], get: () => undefined, all: () => [] };
