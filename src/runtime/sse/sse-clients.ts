import { randomBytes } from 'node:crypto';
import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange, Runtime } from '../../contract/runtime.js';
import type { CallTimes } from '../../core/run/call-deadline.js';
import { MODERN, SERVED_REVISIONS } from '../../dialect/methods.js';
import { GatewayError } from '../../errors/error.js';
import { bindingOf, createSessionSeal, type SessionSeal } from '../shared/session-seal.js';
import { SseSession } from './sse-session.js';

/**
 * Clients of the HTTP+SSE transport of MCP 2024-11-05 ("HTTP with SSE"), on any runtime. A GET opens an event stream, which names where its messages are POSTed, by an id that
 * opens for the caller and the route of that stream alone; a POST is answered with 202, and what the server says comes on the stream. A session is its stream: it lives in this
 * process, and ends with it. One of these serves all routes, so that streams survive a reload.
 */
export class SseClients {
  readonly #clock: Clock;
  readonly #times: CallTimes;
  /** Streams are of this process, and so is the key. */
  readonly #seal: SessionSeal;
  readonly #sessions = new Map<string, SseSession>();

  constructor(times: CallTimes, clock: Clock) {
    this.#clock = clock;
    this.#times = times;
    this.#seal = createSessionSeal({ keys: undefined, ttl_s: TTL_S, clock });
  }

  /** What stands behind the two paths of one route; `endpoint` is the path of its POSTs as clients see it. */
  doorOf(runtime: Runtime, endpoint: string): Runtime {
    return {
      name: runtime.name,
      kind: runtime.kind,
      get health() {
        return runtime.health;
      },
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      handle: (call, exchange) => {
        if (exchange.ended) return;
        if (call.kind === 'get_stream') this.#open(runtime, endpoint, call, exchange);
        else this.#posted(call, exchange);
      },
    };
  }

  #open(runtime: Runtime, endpoint: string, call: Call, exchange: Exchange): void {
    const id = randomBytes(16).toString('base64url');
    const writer = exchange.events([]);
    if (writer === undefined) return;
    const session = new SseSession(runtime, call, writer, {
      clock: this.#clock,
      times: this.#times,
      ended: () => this.#sessions.delete(id),
    });
    this.#sessions.set(id, session);
    exchange.onCancel((reason) => session.end(reason));
    writer.write(`${endpoint}?id=${this.#seal.seal(id, bindingOf(call))}`, { event: 'endpoint' });
  }

  #posted(call: Call, exchange: Exchange): void {
    if (call.era === 'modern') {
      const data = { supported: SERVED_REVISIONS.filter((revision) => revision !== MODERN), requested: call.revision };
      return exchange.fail(new GatewayError('UNSUPPORTED_VERSION', { data }));
    }
    const [sealed, another] = new URLSearchParams(call.head.query).getAll('id');
    const id = sealed === undefined || another !== undefined ? undefined : this.#seal.open(sealed, bindingOf(call));
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session === undefined) exchange.fail(new GatewayError('SESSION_NOT_FOUND'));
    else session.handle(call, exchange);
  }
}

/** Longer than any stream lives. */
const TTL_S = 10 * 365 * 86_400;
