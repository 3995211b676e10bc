import type { Clock, Timer } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { SendOptions, Transport, WireMessage } from '../contract/transport.js';
import { TransportDriver } from '../transport/driver.js';
import { ClientError, fromFault } from './client-error.js';
import { type JsonObject, readMessage } from './messages.js';
import type { Progress } from './options.js';

export interface LinkDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** A request of the server: what it is answered. */
  asked(id: unknown, method: string, params: JsonObject): void;
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

interface Waiting {
  readonly asking: Asking;
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  settle(result: JsonObject | ClientError): void;
  touch(): void;
  /** The server asks first: only the longest time counts. */
  held(): void;
  opened(): void;
}

/**
 * JSON-RPC over one transport: ids of its own, each request answered once, by the server, by its deadline, by its caller or by the
 * end of the transport. What comes after that belongs to nobody and is dropped.
 */
export class Link {
  readonly #driver: TransportDriver;
  readonly #deps: LinkDeps;
  readonly #waiting = new Map<number, Waiting>();
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

  async start(timeout_ms: number): Promise<void> {
    const outcome = await this.#driver.start(timeout_ms);
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

  /** Sends what has no answer. Rejects with ClientError. */
  async tell(message: WireMessage, headers: Readonly<Record<string, string>>, timeout_ms: number): Promise<void> {
    const outcome = await this.#driver.send(JSON.stringify(message), () => message, { ...this.#session(), headers, timeout_ms });
    if (!outcome.ok) throw fromFault(outcome.fault);
  }

  /** No new request; those over streams of their own may finish, others are given up. */
  async close(timeout_ms: number): Promise<void> {
    this.#end ??= new ClientError('CLOSED', 'the client is closed');
    if (this.cancels === 'message') this.#lose(this.#end);
    for (const { asking, settle } of this.#waiting.values()) if (asking.onEvent !== undefined) settle(this.#end);
    await this.#driver.shutdown(timeout_ms);
    this.#lose(this.#end);
  }

  #wait(id: number, asking: Asking, resolve: (result: JsonObject) => void, reject: (error: ClientError) => void): Waiting {
    const { clock } = this.#deps;
    const { method, timeout_ms, signal } = asking;
    const abort = new AbortController();
    const latest_ms = clock.mono_ms() + Math.max(asking.timeout_max_ms, timeout_ms);
    let timer: Timer;
    const settle = (result: JsonObject | ClientError): void => {
      if (!this.#waiting.delete(id)) return;
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

  #send(id: number, { asking, signal, settle }: Waiting): void {
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
    const message = readMessage(raw);
    switch (message.kind) {
      case 'answer': {
        const waiting = this.#waiting.get(message.id);
        if (waiting === undefined) return this.#deps.log.debug({ id: message.id }, 'an answer came that nobody waits for');
        if (waiting.asking.method === 'initialize' && typeof metadata.session_id === 'string') this.session_id = metadata.session_id;
        return waiting.settle(message.result);
      }
      case 'progress':
        return this.#progress(message.id, message.params);
      case 'event': {
        const waiting = this.#waiting.get(message.id);
        waiting?.opened();
        return waiting?.asking.onEvent?.(message.method, message.params);
      }
      case 'request':
        for (const { asking, held } of this.#waiting.values()) if (asking.onEvent === undefined) held();
        return this.#deps.asked(message.id, message.method, message.params);
      case 'notification':
        return this.#deps.notified(message.method, message.params);
      default:
        return this.#deps.log.warn({ why: message.why }, 'the server sent what is no message');
    }
  }

  #progress(id: number, params: JsonObject): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || typeof params.progress !== 'number') return;
    waiting.touch();
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

function cancelled(method: string): ClientError {
  return new ClientError('CANCELLED', `${method} was cancelled`);
}

function withToken(params: JsonObject, token: number): JsonObject {
  return { ...params, _meta: { ...(params._meta as JsonObject | undefined), progressToken: token } };
}
