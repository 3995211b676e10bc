import type { Timer } from '../contract/clock.js';
import type {
  RawMessage,
  SendOptions,
  ShutdownOptions,
  Transport,
  TransportOptions,
  TransportOutcome,
  WireMessage,
} from '../contract/transport.js';
import { judgeAnswer } from '../wire/summary.js';
import { HttpExchange, type HttpRaw } from './http-exchange.js';
import { HttpPool, type Lease } from './http-pool.js';
import { MAX_RETRIES, retryAfter, SessionStream, type SessionStreamDeps } from './http-session-stream.js';
import { type HttpTarget, readTarget, type TargetOptions } from './http-target.js';
import { CANCELLED, CLOSED, DONE } from './outcomes.js';

/** Of the Streamable HTTP transport. Times in milliseconds, sizes in bytes; RangeError for a limit that is not a positive integer. */
export interface HttpTransportOptions extends TargetOptions {
  /** Requests under way at once; more wait, each up to its own timeout. Event streams have their own connections. Default 4. */
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

/**
 * MCP over Streamable HTTP, every revision from 2025-03-26. Throws TypeError for a URL or header that cannot be used, RangeError for a limit.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { type ClientError, connect, createHttpTransport } from 'portcullis/client';
 *
 * // Nobody listens on port 1.
 * const transport = createHttpTransport({ url: 'http://127.0.0.1:1/mcp', connect_timeout_ms: 1_000 });
 * const error = await connect({ transport }).catch((error: ClientError) => error);
 * assert.ok('code' in error && error.code === 'UNREACHABLE');
 * ```
 */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  return new HttpTransport(options);
}

class HttpTransport implements Transport {
  readonly cancels = 'stream';
  readonly #limits: typeof DEFAULTS;
  readonly #target: HttpTarget;
  readonly #open = new Set<HttpExchange>();
  readonly #closing = new AbortController();
  #options: TransportOptions | undefined;
  #pool: HttpPool | undefined;
  #session: Pick<SendOptions, 'session_id' | 'headers'> | undefined;
  #stream: SessionStream | undefined;

  constructor(options: HttpTransportOptions) {
    this.#limits = { ...DEFAULTS, ...pick(options) };
    for (const [name, value] of Object.entries(this.#limits)) {
      if (!Number.isSafeInteger(value) || value <= 0) throw new RangeError(`${name} must be a positive integer, not ${String(value)}`);
    }
    this.#target = readTarget(options);
  }

  start(options: TransportOptions): Promise<void> {
    this.#options = options;
    const { clock } = options;
    this.#pool = new HttpPool({ ...this.#limits, origin: this.#target.origin, ca: this.#target.ca, clock });
    const get: SessionStreamDeps['get'] = (own, last_event_id) =>
      this.#get('GET', own, { id: undefined, timeout_ms: DEFAULT_TIMEOUT_MS, last_event_id });
    this.#stream = new SessionStream({ clock, get });
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
      return { ok: false, fault: { code: 'BROKEN', message: 'the server sent invalid JSON' } };
    }
  }

  extractMetadata(raw: unknown): Readonly<Record<string, unknown>> {
    const session_id = (raw as HttpRaw).headers['mcp-session-id'];
    return session_id === undefined ? {} : { session_id };
  }

  async sendMessage(message: string, options: SendOptions = {}): Promise<TransportOutcome<void>> {
    const body = Buffer.from(message);
    const { kind, id, method } = judgeAnswer(body);
    const { session_id, headers = {} } = options;
    if (session_id !== undefined) this.#session = { session_id, headers };
    const asked = kind === 'request' ? id : undefined;
    const { outcome, exchange } = await this.#post(body, asked, options, method === 'subscriptions/listen');
    if (method === 'notifications/initialized' && outcome.ok && !this.#closed) this.#stream?.open(options);
    const cut = !outcome.ok && outcome.fault.code === 'ENDED' && options.signal?.aborted !== true;
    if (!cut || asked === undefined || exchange?.last_event_id === undefined || this.#session === undefined) return outcome;
    return this.#resume(asked, exchange, options);
  }

  async shutdown({ signal }: ShutdownOptions = {}): Promise<TransportOutcome<void>> {
    if (this.#closed) return DONE;
    this.#closing.abort();
    this.#stream?.close();
    this.#pool?.close();
    const giveUp = (): void => {
      for (const exchange of this.#open) exchange.stop(CLOSED);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted === true) giveUp();
    await Promise.all([...this.#open].map(({ done }) => done));
    signal?.removeEventListener('abort', giveUp);
    // What has its answer and was left open by the server.
    giveUp();
    if (this.#session !== undefined) await this.#goodbye(this.#session, signal);
    return DONE;
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Ends the session at the server, with a short wait once the caller no longer waits. */
  async #goodbye(session: SendOptions, signal: AbortSignal | undefined): Promise<void> {
    const exchange = this.#get('DELETE', session, { id: undefined, timeout_ms: DELETE_MS });
    const { clock } = this.#options as TransportOptions;
    let timer: Timer | undefined;
    const hurry = (): void => void (timer = clock.timer(HURRIED_DELETE_MS, () => exchange.stop(CLOSED)));
    signal?.addEventListener('abort', hurry, { once: true });
    if (signal?.aborted === true) hurry();
    await exchange.done;
    timer?.cancel();
    signal?.removeEventListener('abort', hurry);
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
    void this.#dispatch(exchange, leased, options, { method: 'POST', fields: POST, body });
    return { outcome: await exchange.done, exchange };
  }

  /** Nothing is sent when it was stopped while a callback fetched the token. */
  async #dispatch(
    exchange: HttpExchange,
    { client }: Lease,
    options: SendOptions,
    {
      method,
      fields,
      body,
    }: { readonly method: 'POST' | 'GET' | 'DELETE'; readonly fields: readonly string[]; readonly body: Buffer | null },
  ): Promise<void> {
    try {
      const headers = await this.#target.headers(options);
      if (!exchange.over) client.dispatch({ path: this.#target.path, method, headers: [...headers, ...fields], body }, exchange);
    } catch (error) {
      notSent(exchange, error);
    }
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
        this.#open.delete(exchange);
        if (end !== undefined) end();
        else if (reusable) lease.reuse();
        else lease.discard();
      },
    });
    this.#open.add(exchange);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    return exchange;
  }

  /** A request on its own connection: the stream of a legacy session, the rest of a broken answer, the end of a session. */
  #get(
    method: 'GET' | 'DELETE',
    options: SendOptions,
    how: { readonly id: string | undefined; readonly timeout_ms: number; readonly last_event_id?: string | undefined },
  ): HttpExchange {
    const lease = (this.#pool as HttpPool).own();
    const { id, timeout_ms, last_event_id } = how;
    const exchange = this.#exchange(lease, { id, endless: method === 'GET', timeout_ms, signal: options.signal });
    const accept = method === 'GET' ? ['accept', 'text/event-stream'] : [];
    // A field's bytes: an event id may have any character of UTF-8 (HTML, "Server-sent events").
    const from = last_event_id === undefined ? [] : ['last-event-id', Buffer.from(last_event_id).toString('latin1')];
    void this.#dispatch(exchange, lease, options, { method, fields: [...accept, ...from], body: null });
    return exchange;
  }

  /** Goes on reading an answer that the server cut after an event with an id (MCP 2025-11-25, Streamable HTTP, "Resumability"). */
  async #resume(id: string, first: HttpExchange, options: SendOptions): Promise<TransportOutcome<void>> {
    let cut = first;
    let outcome: TransportOutcome<void> = { ok: false, fault: { code: 'ENDED', message: 'the answer was cut and could not be resumed' } };
    let last_event_id = cut.last_event_id;
    for (let tries = 0; tries < MAX_RETRIES && !this.#closed; tries++) {
      await this.#pause(retryAfter(cut.retry_ms ?? 1000), options.signal);
      if (options.signal?.aborted === true) return { ok: false, fault: CANCELLED };
      if (this.#closed) break;
      cut = this.#get('GET', options, { id, timeout_ms: options.timeout_ms ?? DEFAULT_TIMEOUT_MS, last_event_id });
      outcome = await cut.done;
      if (outcome.ok || outcome.fault.code !== 'ENDED') break;
      last_event_id = cut.last_event_id ?? last_event_id;
    }
    return outcome;
  }

  /** Resolves after so long, or at once when the request or the transport is ended. */
  #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const ends = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
      const end = (): void => {
        timer?.cancel();
        for (const one of ends) one.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#options?.clock.timer(ms, end);
      for (const one of ends) one.addEventListener('abort', end);
      if (ends.some(({ aborted }) => aborted)) end();
    });
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
const HURRIED_DELETE_MS = 500;
const POST = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'] as const;

/** Only what fetches the token can fail before anything is sent. */
function notSent(exchange: HttpExchange, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  exchange.stop({ code: 'CALLBACK_FAILED', message: `no token could be had: ${why}` });
}

function pick(options: HttpTransportOptions): Partial<typeof DEFAULTS> {
  return Object.fromEntries(
    Object.keys(DEFAULTS).flatMap((name) => {
      const value = options[name as keyof typeof DEFAULTS];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
