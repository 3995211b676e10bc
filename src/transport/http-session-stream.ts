import type { Clock, Timer } from '../contract/clock.js';
import type { SendOptions } from '../contract/transport.js';
import type { HttpExchange } from './http-exchange.js';
import { CLOSED } from './outcomes.js';

export interface SessionStreamDeps {
  readonly clock: Clock;
  /** Sends a GET of this session. */
  get(options: SendOptions, last_event_id: string | undefined): HttpExchange;
}

/**
 * The stream on which a legacy server speaks unasked (MCP 2025-11-25, Streamable HTTP, "Listening for Messages from the Server"): opened
 * again, with a pause, as long as the session lives. A server may have none.
 */
export class SessionStream {
  readonly #deps: SessionStreamDeps;
  #exchange: HttpExchange | undefined;
  #retry: Timer | undefined;

  constructor(deps: SessionStreamDeps) {
    this.#deps = deps;
  }

  /** Opens it for this session, in the place of an earlier one. */
  open({ session_id, headers }: SendOptions): void {
    this.close();
    this.#open({ ...(session_id === undefined ? {} : { session_id }), ...(headers === undefined ? {} : { headers }) }, 0, undefined);
  }

  close(): void {
    this.#retry?.cancel();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.stop(CLOSED);
  }

  #open(options: SendOptions, failures: number, last_event_id: string | undefined): void {
    const exchange = this.#deps.get(options, last_event_id);
    this.#exchange = exchange;
    void exchange.done.then((outcome) => {
      if (this.#exchange !== exchange) return;
      this.#exchange = undefined;
      if (!outcome.ok && outcome.fault.code === 'REFUSED') return;
      const again = exchange.began ? 0 : failures + 1;
      if (again > MAX_RETRIES) return;
      const wait_ms = retryAfter(exchange.retry_ms ?? 1000 * 2 ** again);
      this.#retry = this.#deps.clock.timer(wait_ms, () => this.#open(options, again, exchange.last_event_id ?? last_event_id));
    });
  }
}

/** Milliseconds until a stream is asked for again. A server that asks for no pause at all is not called in a loop. */
export function retryAfter(wanted_ms: number): number {
  return Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, wanted_ms));
}

/** Times that a stream is asked for in a row without an answer. */
export const MAX_RETRIES = 5;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 30_000;
