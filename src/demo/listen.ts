import type { ServerResponse } from 'node:http';
import type { Clock } from '../contract/clock.js';
import type { RequestId } from './admit.js';
import { type DemoCall, sendEvent, sendLast, toModern } from './answer.js';
import { isObject, TICK_MS, TICKING_URI } from './features.js';

const MAX_URIS = 1_000;
const MAX_STREAMS = 64;

/** The open `subscriptions/listen` streams (MCP 2026-07-28, Subscriptions). */
export class DemoStreams {
  readonly #open = new Map<ServerResponse, () => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Acknowledges what will be delivered: updates of the ticking resource, or nothing. A stream of nothing is completed at once. */
  listen(call: DemoCall, response: ServerResponse): void {
    const { id } = call;
    const filter = call.params.notifications;
    const uris = isObject(filter) ? (filter.resourceSubscriptions ?? []) : undefined;
    if (!Array.isArray(uris) || uris.length > MAX_URIS) return sendLast(response, 400, fault(id, -32602, 'notifications is not a filter.'));
    if (this.#open.size >= MAX_STREAMS) return sendLast(response, 503, fault(id, -32603, 'Too many subscriptions are open.'));
    const ticking = uris.includes(TICKING_URI);
    const notifications = ticking ? { resourceSubscriptions: [TICKING_URI] } : {};
    notify(response, id, 'notifications/subscriptions/acknowledged', { notifications });
    if (!ticking) return complete(response, id);
    const timer = this.#clock.interval(TICK_MS, () => {
      // A reader that is behind misses updates; the next one tells it as much.
      if (!response.writableNeedDrain) notify(response, id, 'notifications/resources/updated', { uri: TICKING_URI });
    });
    response.once('close', () => {
      timer.cancel();
      this.#open.delete(response);
    });
    this.#open.set(response, () => complete(response, id));
  }

  /** Completes every stream. */
  close(): void {
    for (const end of this.#open.values()) end();
  }
}

function notify(response: ServerResponse, id: RequestId, method: string, params: object): void {
  sendEvent(response, { jsonrpc: '2.0', method, params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
}

function complete(response: ServerResponse, id: RequestId): void {
  sendLast(response, 200, { jsonrpc: '2.0', id, result: toModern({}, { 'io.modelcontextprotocol/subscriptionId': id }) });
}

const fault = (id: RequestId, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } });
