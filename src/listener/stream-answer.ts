import type { Call, HeaderList } from '../contract/runtime.js';
import type { RequestOutcome, StreamKind } from '../contract/telemetry.js';
import type { GatewayError } from '../errors/error.js';

/** Fields of every event stream: never buffered, transformed or cached on its way. */
export const EVENT_HEADERS: HeaderList = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache, no-transform',
  'x-accel-buffering',
  'no',
];

/** What an event stream that answers this call is; the label `kind`. */
export function streamKind(call: Call | undefined): StreamKind {
  if (call?.kind === 'get_stream') return 'get';
  return call?.method === 'subscriptions/listen' ? 'listen' : 'response';
}

/** The successful response that ends a subscription (MCP 2026-07-28 Subscriptions, "Graceful Closure"). `id` is raw JSON text. */
export function completion(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}}`;
}

/** How a call that failed is counted. */
export function outcomeOf(error: GatewayError): RequestOutcome {
  if (error.code === 'DEADLINE') return 'timeout';
  if (error.code === 'OVERLOADED' || error.code === 'TOO_MANY_STREAMS') return 'overloaded';
  return error.code.startsWith('UPSTREAM_') ? 'upstream_error' : error.code === 'RUNTIME_FAILED' ? 'rpc_error' : 'refused';
}
