import type { Clock, Timer } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { SendOptions, Transport, WireMessage } from '../contract/transport.js';
import { TransportDriver } from '../transport/driver.js';
import { bounded } from './bounded.js';
import { ClientError, fromFault } from './client-error.js';
import { ACKNOWLEDGED, type JsonObject, type Received, readMessages } from './messages.js';
import type { Progress } from './options.js';

export interface LinkDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** A request from the server. Returns a promise that settles once it is answered, if a callback answers asynchronously. */
  asked(id: unknown, method: string, params: JsonObject): Promise<unknown> | undefined;
  /** A notification that belongs to no request. */
  notified(method: string, params: JsonObject): void;
  ended(error: ClientError): void;
}

export interface Asking {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  readonly timeout_max_ms: number;
  readonly signal?: AbortSignal | undefined;
  /** Tells the server that it is cancelled by a message. */
  readonly tells_cancel: boolean;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Notifications of this subscription; after the first of them no time is measured. */
  readonly onEvent?: ((method: string, params: JsonObject) => void) | undefined;
}

interface PendingReply {
  readonly asking: Asking;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  settle(result: JsonObject | ClientError): void;
  touch(): void;
  /** The server asks first: only the longest time counts. */
  held(): void;
  opened(): void;
}

/**
 * JSON-RPC over one transport: it assigns ids; each request is answered once, by the server, by its deadline, by its caller or by the
 * end of the transport. Later answers are dropped.
 */
export class JsonRpcConnection {
  readonly #driver: TransportDriver;
  readonly #deps: LinkDeps;
  readonly #waiting = new Map<number, PendingReply>();
  /** Questions of the server that callbacks are answering. */
  #questions = 0;
  #idle: () => void = () => undefined;
  #next = 1;
  #end: ClientError | undefined;
  /** Of a legacy server over HTTP. */
  session_id: string | undefined;

  constructor(transport: Transport, deps: LinkDeps) {
    this.#deps = deps;
    this.#driver = new TransportDriver(transport, {
      ...deps,
      message: (message, metadata) => this.#message(message, metadata),
      junk: ({ message }) => deps.log.warn({}, `dropped: ${message}`),
      closed: (fault) => this.#over(fromFault(fault)),
    });
  }

  get cancels(): 'stream' | 'message' {
    return this.#driver.cancels;
  }

  async start(timeout_ms: number, signal: AbortSignal | undefined): Promise<void> {
    const outcome = await this.#driver.start(timeout_ms, signal);
    if (!outcome.ok) throw fromFault(outcome.fault);
  }

  versions(known: readonly string[]): readonly string[] {
    const outcome = this.#driver.versions(known);
    if (!outcome.ok) throw fromFault(outcome.fault);
    return outcome.value;
  }

  /** The members of the result. Rejects with ClientError. */
  request(asking: Asking): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end);
      if (asking.signal?.aborted === true) return reject(cancelled(asking.method));
      const id = this.#next++;
      const waiting = this.#wait(id, asking, resolve, reject);
      // Known before it is sent: a server in this process answers at once.
      this.#waiting.set(id, waiting);
      this.#send(id, waiting);
    });
  }

  /** Sends what has no answer. Rejects with ClientError, after `timeout_ms` whatever the transport does. */
  async tell(message: WireMessage, headers: Readonly<Record<string, string>>, timeout_ms: number, signal?: AbortSignal): Promise<void> {
    const name = typeof message.method === 'string' ? message.method : 'an answer to the server';
    const outcome = await bounded(name, { clock: this.#deps.clock, timeout_ms, signal }, (ended) =>
      this.#driver.send(JSON.stringify(message), () => message, { ...this.#session(), headers, timeout_ms, signal: ended }),
    );
    if (!outcome.ok) throw fromFault(outcome.fault);
  }

  /**
   * Accepts no new request; those on their own streams may finish, others are abandoned. Ends at the latest `timeout_ms` after the last of
   * them, and a second after `signal` aborts.
   */
  async close(timeout_ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.#end ??= new ClientError('CLOSED', 'the client is closed');
    const end = this.#end;
    if (this.cancels === 'message') this.#lose(end);
    for (const { asking, settle } of this.#waiting.values()) if (asking.onEvent !== undefined) settle(end);
    const hurry = new AbortController();
    const stop = (): void => {
      this.#lose(end);
      hurry.abort();
    };
    let timer: Timer | undefined;
    this.#idle = () => {
      timer ??= this.#deps.clock.timer(timeout_ms, stop);
    };
    if (this.#waiting.size === 0) this.#idle();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    // Each request has its own timeout, so the first argument is only an upper bound.
    await this.#driver.shutdown(LONGEST_MS, hurry.signal);
    timer?.cancel();
    signal?.removeEventListener('abort', stop);
    this.#idle = () => undefined;
    this.#lose(end);
  }

  #wait(id: number, asking: Asking, resolve: (result: JsonObject) => void, reject: (error: ClientError) => void): PendingReply {
    const { clock } = this.#deps;
    const { method, timeout_ms, signal } = asking;
    const abort = new AbortController();
    const latest_ms = clock.mono_ms() + Math.max(asking.timeout_max_ms, timeout_ms);
    let timer: Timer;
    const settle = (result: JsonObject | ClientError): void => {
      if (!this.#waiting.delete(id)) return;
      if (this.#waiting.size === 0) this.#idle();
      timer.cancel();
      signal?.removeEventListener('abort', cancel);
      if (result instanceof ClientError) reject(result);
      else resolve(result);
    };
    const giveUp = (error: ClientError): void => {
      settle(error);
      abort.abort();
      if (asking.tells_cancel) this.#cancel(id, asking, error);
    };
    const cancel = (): void => giveUp(cancelled(method));
    const arm = (ms: number): void => {
      timer = clock.timer(ms, () => giveUp(new ClientError('TIMEOUT', `${method} was not answered within ${Math.round(ms)} ms`)));
    };
    arm(timeout_ms);
    signal?.addEventListener('abort', cancel, { once: true });
    return {
      asking,
      signal: abort.signal,
      settle: (result) => {
        settle(result);
        if (asking.onEvent !== undefined) abort.abort();
      },
      touch: () => {
        timer.cancel();
        arm(Math.max(1, Math.min(timeout_ms, latest_ms - clock.mono_ms())));
      },
      held: () => {
        timer.cancel();
        arm(Math.max(1, latest_ms - clock.mono_ms()));
      },
      opened: () => timer.cancel(),
    };
  }

  #send(id: number, { asking, signal, settle }: PendingReply): void {
    const { method, headers, timeout_ms, timeout_max_ms } = asking;
    const params = asking.onProgress === undefined ? asking.params : withToken(asking.params, id);
    const message: WireMessage = { jsonrpc: '2.0', id, method, params };
    const options: SendOptions = { ...this.#session(), headers, timeout_ms: Math.max(timeout_ms, timeout_max_ms), signal };
    void this.#driver
      .send(JSON.stringify(message), () => message, options)
      .then((outcome) => {
        if (!outcome.ok) settle(fromFault(outcome.fault));
      });
  }

  #session(): SendOptions {
    return this.session_id === undefined ? {} : { session_id: this.session_id };
  }

  #cancel(id: number, { headers, timeout_ms }: Asking, { message }: ClientError): void {
    const notice: WireMessage = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: message } };
    void this.tell(notice, headers, timeout_ms).catch(() => undefined);
  }

  #message(raw: WireMessage | Uint8Array | string, metadata: Readonly<Record<string, unknown>>): void {
    for (const message of readMessages(raw)) this.#received(message, metadata);
  }

  #received(message: Received, metadata: Readonly<Record<string, unknown>>): void {
    switch (message.kind) {
      case 'answer': {
        const waiting = this.#waiting.get(message.id);
        if (waiting === undefined) return this.#deps.log.debug({ id: message.id }, 'an answer to no pending request arrived');
        if (waiting.asking.method === 'initialize' && typeof metadata.session_id === 'string') this.session_id = metadata.session_id;
        return waiting.settle(message.result);
      }
      case 'progress':
        return this.#progress(message.id, message.params);
      case 'event': {
        const waiting = this.#waiting.get(message.id);
        if (message.method === ACKNOWLEDGED) waiting?.opened();
        return waiting?.asking.onEvent?.(message.method, message.params);
      }
      case 'request':
        return this.#asked(message, metadata);
      case 'notification':
        return this.#deps.notified(message.method, message.params);
      default:
        return this.#deps.log.warn({ why: message.why }, 'the server sent an invalid message');
    }
  }

  /** The time that a callback needs is not the server's: until it has answered, only the longest time of a call counts. */
  #asked({ id, method, params }: Asked, { session_id }: Readonly<Record<string, unknown>>): void {
    const waiting = [...this.#waiting.values()];
    // The answer of a question that comes before that to `initialize` belongs to the session that its stream names.
    if (typeof session_id === 'string' && waiting.some(({ asking }) => asking.method === 'initialize')) this.session_id ??= session_id;
    const answering = this.#deps.asked(id, method, params);
    if (answering === undefined) return;
    this.#questions++;
    for (const { asking, held } of waiting) if (asking.onEvent === undefined) held();
    void answering.then(() => {
      if (--this.#questions > 0) return;
      for (const { asking, touch } of this.#waiting.values()) if (asking.onEvent === undefined) touch();
    });
  }

  #progress(id: number, params: JsonObject): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || typeof params.progress !== 'number') return;
    if (waiting.asking.onEvent === undefined) waiting.touch();
    const { progress, total, message } = params;
    waiting.asking.onProgress?.({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    });
  }

  #over(error: ClientError): void {
    this.#end ??= error;
    this.#lose(error);
    this.#deps.ended(error);
  }

  #lose(error: ClientError): void {
    for (const { settle } of [...this.#waiting.values()]) settle(error);
  }
}

type Asked = Extract<Received, { readonly kind: 'request' }>;

/** A day: the longest that a timer is set for. */
const LONGEST_MS = 86_400_000;

function cancelled(method: string): ClientError {
  return new ClientError('CANCELLED', `${method} was cancelled`);
}

function withToken(params: JsonObject, token: number): JsonObject {
  return { ...params, _meta: { ...(params._meta as JsonObject | undefined), progressToken: token } };
}
