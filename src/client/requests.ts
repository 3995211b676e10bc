import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { WireMessage } from '../contract/transport.js';
import { bounded } from './bounded.js';
import { ClientError } from './client-error.js';
import { type ClientIdentity, encodeLegacy, encodeModern, type Spoken } from './encode.js';
import type { JsonRpcConnection } from './json-rpc-connection.js';
import type { JsonObject } from './messages.js';
import { initialize } from './negotiate.js';
import type { Agreement, Callbacks, CallOptions, ConnectOptions, Settled, Tool } from './options.js';
import type { ToolList } from './pages.js';
import { collect } from './pages.js';
import { answerAll } from './questions.js';

/** What a client is made from. */
export interface ClientParts {
  readonly self: ClientIdentity;
  readonly settled: Settled;
  readonly callbacks: Callbacks;
  readonly onLog: ConnectOptions['onLog'];
  readonly log: Log;
  readonly clock: Clock;
}

/** Of one call, with the time, on the monotonic clock, that it ends at. */
export interface BoundOptions extends CallOptions {
  readonly latest_ms: number;
}

/** Requests in the era that was agreed on, with the rounds of questions, the new session and the new list that they may need. */
export class Requests {
  readonly #link: JsonRpcConnection;
  readonly #parts: ClientParts;
  readonly #tools: ToolList;
  #agreement: Agreement | undefined;
  #renewing: Promise<void> | undefined;

  constructor(link: JsonRpcConnection, parts: ClientParts, tools: ToolList) {
    this.#link = link;
    this.#parts = parts;
    this.#tools = tools;
  }

  get agreement(): Agreement {
    return this.#agreement as Agreement;
  }

  get era(): Agreement['era'] | undefined {
    return this.#agreement?.era;
  }

  /** Takes what was agreed on. */
  async agree(agreement: Agreement, signal: AbortSignal | undefined): Promise<void> {
    this.#agreement = agreement;
    const { log_level: level } = this.#parts.self;
    if (level !== undefined && agreement.era === 'legacy' && agreement.capabilities.logging !== undefined)
      await this.#send('logging/setLevel', { level }, this.bound(signal === undefined ? {} : { signal }));
  }

  /** The options of one call, whose requests, pages and rounds of questions end together: `timeout_max_ms` from now. */
  bound(options: CallOptions): BoundOptions {
    const { timeout_ms, timeout_max_ms } = { ...this.#parts.settled, ...options };
    return { ...options, latest_ms: this.#parts.clock.mono_ms() + Math.max(timeout_ms, timeout_max_ms) };
  }

  /** One request, with as many rounds of questions as the server needs. */
  async ask(method: string, params: JsonObject, options: BoundOptions): Promise<JsonObject> {
    let result = await this.#send(method, params, options);
    for (let round = 1; result.resultType !== undefined && result.resultType !== 'complete'; round++) {
      const { resultType, inputRequests, requestState } = result;
      if (resultType !== 'input_required')
        throw new ClientError('BROKEN', `the result of ${method} has the unknown type ${JSON.stringify(resultType)}`);
      if (!ASKING.has(method) || (inputRequests === undefined && requestState === undefined))
        throw new ClientError('BROKEN', `the answer to ${method} asks for input, which it must not`);
      if (round > this.#parts.settled.max_rounds)
        throw new ClientError(
          'INPUT_REQUIRED',
          `the server asked for input more than max_rounds (${this.#parts.settled.max_rounds}) times`,
        );
      const bound = { clock: this.#parts.clock, timeout_ms: this.#left(method, options), signal: options.signal };
      const inputResponses = await answerAll(this.#parts.callbacks, inputRequests, bound);
      const more = { ...(inputResponses === undefined ? {} : { inputResponses }), ...(requestState === undefined ? {} : { requestState }) };
      result = await this.#send(method, { ...params, ...more }, options);
    }
    return result;
  }

  /** A tool call; when the server misses headers that mirror arguments, the list is read again, once. */
  async callTool(params: { readonly name: string; readonly arguments: JsonObject }, options: BoundOptions): Promise<JsonObject> {
    try {
      return await this.ask('tools/call', params, options);
    } catch (error) {
      if (!(error instanceof ClientError) || error.rpc?.code !== HEADER_MISMATCH || this.era !== 'modern') throw error;
      await this.listTools(options);
      return this.ask('tools/call', params, options);
    }
  }

  async listTools(options: BoundOptions): Promise<readonly Tool[]> {
    const { max_pages, max_items } = this.#parts.settled;
    const limits = { method: 'tools/list', member: 'tools', max_pages, max_items };
    const { onProgress: _, ...rest } = options;
    const tools = await collect<Tool>((params) => this.ask('tools/list', params, rest), limits);
    return this.era === 'modern' ? this.#tools.learn(tools) : tools;
  }

  /** A request whose answer is a stream of events: settles when the stream is over. */
  stream(
    method: string,
    params: JsonObject,
    options: CallOptions,
    onEvent: (method: string, params: JsonObject) => void,
  ): Promise<JsonObject> {
    return this.#link.request({ ...this.#asking(method, params, this.bound(options)), onEvent });
  }

  /** Answers a request of the server. */
  async reply(message: WireMessage): Promise<void> {
    await this.#link.tell(message, encodeLegacy(this.#agreement?.revision, {}).headers, this.#parts.settled.timeout_ms);
  }

  async #send(method: string, params: JsonObject, options: BoundOptions): Promise<JsonObject> {
    const { clock } = this.#parts;
    const renewed = (renewing: Promise<void>) =>
      bounded(method, { clock, timeout_ms: this.#left(method, options), signal: options.signal }, () => renewing);
    if (this.#renewing !== undefined) await renewed(this.#renewing);
    const session = this.#link.session_id;
    try {
      return await this.#link.request(this.#asking(method, params, options));
    } catch (error) {
      // The session is gone and nothing was done (MCP 2025-11-25, Streamable HTTP, "Session Management").
      if (session === undefined || !(error instanceof ClientError) || error.status !== 404) throw error;
      await renewed(this.#renew(session));
      return this.#link.request(this.#asking(method, params, options));
    }
  }

  #asking(method: string, params: JsonObject, options: BoundOptions) {
    const { signal, onProgress, timeout_ms = this.#parts.settled.timeout_ms } = options;
    const left_ms = this.#left(method, options);
    const legacy = this.era === 'legacy';
    return {
      method,
      ...this.#speak(method, params),
      timeout_ms: Math.min(timeout_ms, left_ms),
      timeout_max_ms: left_ms,
      signal,
      onProgress,
      tells_cancel: legacy || this.#link.cancels === 'message',
    };
  }

  /** Milliseconds that the call still has. Throws `TIMEOUT` when there are none. */
  #left(method: string, { latest_ms }: BoundOptions): number {
    const left_ms = latest_ms - this.#parts.clock.mono_ms();
    if (left_ms <= 0) throw new ClientError('TIMEOUT', `${method} took more than timeout_max_ms`);
    return left_ms;
  }

  #speak(method: string, params: JsonObject): Spoken {
    if (this.era !== 'modern') return encodeLegacy(this.#agreement?.revision, params);
    const mirrored = method === 'tools/call' && typeof params.name === 'string' ? this.#tools.mirrored(params.name) : [];
    return encodeModern(this.#parts.self, method, params, mirrored);
  }

  /** A new session in the place of one that the server has forgotten; one at a time. */
  #renew(session: string): Promise<void> {
    if (this.#renewing !== undefined || this.#link.session_id !== session) return this.#renewing ?? Promise.resolve();
    const { self, settled } = this.#parts;
    const { signal: _, ...rest } = settled;
    const renewing = initialize(this.#link, self, rest, [this.agreement.revision]).then((agreement) => {
      this.#agreement = agreement;
    });
    this.#renewing = renewing
      .catch(() => {
        // The next call finds it gone again, and tries again.
        this.#link.session_id = session;
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return renewing;
  }
}

const HEADER_MISMATCH = -32020;
/** What may be answered by questions (MCP Multi Round-Trip Requests, "Supported Requests"). */
const ASKING: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
