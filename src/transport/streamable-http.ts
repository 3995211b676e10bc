import type { Timer } from '../contract/clock.js';
import type {
  RawMessage,
  SendOptions,
  Transport,
  TransportFault,
  TransportOptions,
  TransportOutcome,
  WireMessage,
} from '../contract/transport.js';
import { judgeAnswer } from '../wire/probe.js';
import { HttpExchange, type HttpRaw } from './http-exchange.js';
import { HttpPool, type Lease } from './http-pool.js';
import { type HttpTarget, readTarget, type TargetOptions } from './http-target.js';

/** Of the Streamable HTTP transport. Times in milliseconds, sizes in bytes; RangeError for a limit that is no positive integer. */
export interface HttpTransportOptions extends TargetOptions {
  /** Requests under way at once; more wait, each up to its own timeout. Event streams have connections of their own. Default 4. */
  readonly pool_size?: number;
  /** How long an unused connection stays open. Default 30 000. */
  readonly pool_idle_timeout_ms?: number;
  /** Requests on one connection. Then it is retired. Default 100. */
  readonly pool_max_requests?: number;
  /** Bytes of one answer; of one event where the stream has no end. Default 16 777 216. */
  readonly max_response_bytes?: number;
  /** Default 10 000. */
  readonly connect_timeout_ms?: number;
}

/** MCP over Streamable HTTP, every revision from 2025-03-26. Throws TypeError for a URL or header that cannot be used, RangeError for a limit. */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  return new HttpTransport(options);
}

class HttpTransport implements Transport {
  readonly cancels = 'stream';
  readonly #limits: typeof DEFAULTS;
  readonly #target: HttpTarget;
  readonly #active = new Set<Promise<unknown>>();
  #options: TransportOptions | undefined;
  #pool: HttpPool | undefined;
  #session: SendOptions | undefined;
  #stopStream: (() => void) | undefined;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: HttpTransportOptions) {
    this.#limits = { ...DEFAULTS, ...pick(options) };
    for (const [name, value] of Object.entries(this.#limits)) {
      if (!Number.isSafeInteger(value) || value <= 0) throw new RangeError(`${name} must be a positive integer, not ${String(value)}`);
    }
    this.#target = readTarget(options);
  }

  start(options: TransportOptions): Promise<void> {
    this.#options = options;
    this.#pool = new HttpPool({ ...this.#limits, origin: this.#target.origin, ca: this.#target.ca, clock: options.clock });
    return Promise.resolve();
  }

  supportedProtocolVersions(): 'all' {
    return 'all';
  }

  parse(raw: RawMessage, state: unknown): TransportOutcome<readonly [readonly WireMessage[], unknown]> {
    try {
      const value: unknown = JSON.parse(Buffer.from((raw as HttpRaw).body).toString('utf8'));
      return { ok: true, value: [(Array.isArray(value) ? value : [value]) as WireMessage[], state] };
    } catch {
      return { ok: false, fault: { code: 'BROKEN', message: 'the server sent what is no JSON' } };
    }
  }

  extractMetadata(raw: unknown): Readonly<Record<string, unknown>> {
    const session_id = (raw as HttpRaw).headers['mcp-session-id'];
    return session_id === undefined ? {} : { session_id };
  }

  async sendMessage(message: string, options: SendOptions = {}): Promise<TransportOutcome<void>> {
    const body = Buffer.from(message);
    const { kind, id, method } = judgeAnswer(body);
    if (options.session_id !== undefined) this.#session = options;
    const asked = kind === 'request' ? id : undefined;
    const { outcome, exchange } = await this.#post(body, asked, options, method === 'subscriptions/listen');
    if (method === 'notifications/initialized' && outcome.ok) this.#openStream(options, 0);
    const cut = !outcome.ok && outcome.fault.code === 'ENDED' && options.signal?.aborted !== true;
    if (!cut || asked === undefined || exchange?.last_event_id === undefined || this.#session === undefined) return outcome;
    return this.#resume(asked, exchange, options);
  }

  async shutdown(): Promise<TransportOutcome<void>> {
    if (this.#closed) return DONE;
    this.#closed = true;
    this.#retry?.cancel();
    this.#stopStream?.();
    this.#pool?.close();
    while (this.#active.size > 0) await Promise.all(this.#active);
    if (this.#session !== undefined) await this.#get('DELETE', this.#session, { id: undefined, timeout_ms: DELETE_MS }).done;
    return DONE;
  }

  /** One message on a connection of the pool. */
  async #post(
    body: Buffer,
    id: string | undefined,
    options: SendOptions,
    endless: boolean,
  ): Promise<{ readonly outcome: TransportOutcome<void>; readonly exchange?: HttpExchange }> {
    const { timeout_ms = DEFAULT_TIMEOUT_MS, signal } = options;
    if (this.#pool === undefined || this.#options === undefined) return { outcome: { ok: false, fault: CLOSED } };
    const began_ms = this.#options.clock.mono_ms();
    const leased = await this.#pool.lease(timeout_ms, signal);
    if (!('client' in leased)) return { outcome: { ok: false, fault: leased } };
    const left_ms = Math.max(1, timeout_ms - (this.#options.clock.mono_ms() - began_ms));
    const exchange = this.#exchange(leased, { id, endless, timeout_ms: left_ms, signal });
    this.#track(exchange.done);
    try {
      const headers = await this.#target.headers(options);
      leased.client.dispatch({ path: this.#target.path, method: 'POST', headers: [...headers, ...POST], body }, exchange);
    } catch (error) {
      notSent(exchange, error);
    }
    return { outcome: await exchange.done, exchange };
  }

  #exchange(
    lease: Lease,
    how: {
      readonly id: string | undefined;
      readonly endless: boolean;
      readonly timeout_ms: number;
      readonly signal?: AbortSignal | undefined;
    },
  ): HttpExchange {
    const { clock } = this.#options as TransportOptions;
    const { id, endless, timeout_ms, signal } = how;
    let end: (() => void) | undefined;
    const abort = (): void => exchange.stop(CANCELLED);
    const timer = clock.timer(timeout_ms, () => exchange.stop({ code: 'TIMEOUT', message: `no answer came within ${timeout_ms} ms` }));
    const exchange: HttpExchange = new HttpExchange({
      origin: this.#target.origin,
      clock,
      id,
      endless,
      max_response_bytes: this.#limits.max_response_bytes,
      receive: (raw) => this.#options?.receive(raw),
      streaming: () => {
        timer.cancel();
        end = lease.detach();
      },
      over: (reusable) => {
        timer.cancel();
        signal?.removeEventListener('abort', abort);
        if (end !== undefined) end();
        else if (reusable) lease.reuse();
        else lease.discard();
      },
    });
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    return exchange;
  }

  /** A request on a connection of its own: the stream of a legacy session, the rest of a broken answer, the end of a session. */
  #get(
    method: 'GET' | 'DELETE',
    options: SendOptions,
    how: { readonly id: string | undefined; readonly timeout_ms: number; readonly last_event_id?: string | undefined },
  ): HttpExchange {
    const client = (this.#pool as HttpPool).own();
    const end = (): void => void client.destroy().catch(() => undefined);
    const lease: Lease = { client, reuse: end, discard: end, detach: () => end };
    const { id, timeout_ms, last_event_id } = how;
    const exchange = this.#exchange(lease, { id, endless: true, timeout_ms, signal: options.signal });
    void this.#target
      .headers(options)
      .then((headers) => {
        const accept = method === 'GET' ? ['accept', 'text/event-stream'] : [];
        const from = last_event_id === undefined ? [] : ['last-event-id', last_event_id];
        client.dispatch({ path: this.#target.path, method, headers: [...headers, ...accept, ...from], body: null }, exchange);
      })
      .catch((error: unknown) => notSent(exchange, error));
    return exchange;
  }

  /** The stream on which a legacy server speaks unasked; opened anew as long as the session lives. A server may have none. */
  #openStream(options: SendOptions, failures: number, last_event_id?: string): void {
    if (this.#closed) return;
    const { session_id, headers } = options;
    const own: SendOptions = { ...(session_id === undefined ? {} : { session_id }), ...(headers === undefined ? {} : { headers }) };
    const exchange = this.#get('GET', own, { id: undefined, timeout_ms: DEFAULT_TIMEOUT_MS, last_event_id });
    this.#stopStream = () => exchange.stop(CLOSED);
    void exchange.done.then((outcome) => {
      this.#stopStream = undefined;
      if (this.#closed || (!outcome.ok && outcome.fault.code === 'REFUSED')) return;
      const again = exchange.began ? 0 : failures + 1;
      if (again > MAX_RETRIES) return;
      const wait_ms = Math.min(MAX_RETRY_MS, exchange.retry_ms ?? 1000 * 2 ** again);
      this.#retry = this.#options?.clock.timer(wait_ms, () => this.#openStream(own, again, exchange.last_event_id ?? last_event_id));
    });
  }

  /** Goes on reading an answer that the server cut after an event with an id (MCP 2025-11-25, Streamable HTTP, "Resumability"). */
  async #resume(id: string, first: HttpExchange, options: SendOptions): Promise<TransportOutcome<void>> {
    let cut = first;
    let outcome: TransportOutcome<void> = { ok: false, fault: { code: 'ENDED', message: 'the answer was cut and could not be resumed' } };
    let last_event_id = cut.last_event_id;
    for (let tries = 0; tries < MAX_RETRIES && !this.#closed; tries++) {
      await new Promise<void>((resolve) => this.#options?.clock.timer(Math.min(MAX_RETRY_MS, cut.retry_ms ?? 1000), resolve));
      if (options.signal?.aborted === true) return { ok: false, fault: CANCELLED };
      cut = this.#get('GET', options, { id, timeout_ms: options.timeout_ms ?? DEFAULT_TIMEOUT_MS, last_event_id });
      this.#track(cut.done);
      outcome = await cut.done;
      if (outcome.ok || outcome.fault.code !== 'ENDED') break;
      last_event_id = cut.last_event_id ?? last_event_id;
    }
    return outcome;
  }

  #track(done: Promise<unknown>): void {
    const own: Promise<unknown> = done.finally(() => this.#active.delete(own));
    this.#active.add(own);
  }
}

const DEFAULTS = {
  pool_size: 4,
  pool_idle_timeout_ms: 30_000,
  pool_max_requests: 100,
  max_response_bytes: 16_777_216,
  connect_timeout_ms: 10_000,
};
const DEFAULT_TIMEOUT_MS = 30_000;
const DELETE_MS = 5_000;
const MAX_RETRIES = 5;
const MAX_RETRY_MS = 30_000;
const POST = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'] as const;
const DONE: TransportOutcome<void> = { ok: true, value: undefined };
const CLOSED: TransportFault = { code: 'CLOSED', message: 'the connection is closed' };
const CANCELLED: TransportFault = { code: 'CANCELLED', message: 'the request was cancelled' };

/** Only what fetches the token can fail before anything is sent. */
function notSent(exchange: HttpExchange, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  exchange.stop({ code: 'CALLBACK_FAILED', message: `no token could be had: ${why}` });
  exchange.onError(error instanceof Error ? error : new Error(why));
}

function pick(options: HttpTransportOptions): Partial<typeof DEFAULTS> {
  return Object.fromEntries(
    Object.keys(DEFAULTS).flatMap((name) => {
      const value = options[name as keyof typeof DEFAULTS];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
