import type { CompletionResult, PromptResult, ResourceResult } from '../contract/content.js';
import type { CompletionTarget } from '../contract/server.js';
import type { Transport } from '../contract/transport.js';
import { isObject } from '../core/call/params.js';
import { bounded } from './bounded.js';
import { ClientError } from './client-error.js';
import { JsonRpcConnection } from './json-rpc-connection.js';
import type { JsonObject } from './messages.js';
import { discover, negotiate } from './negotiate.js';
import type { Agreement, CallOptions, LogMessage, Prompt, Resource, ResourceTemplate, Tool, ToolResult } from './options.js';
import { collect, ToolList } from './pages.js';
import { answerQuestion, canAnswer } from './questions.js';
import { type ClientParts, Requests } from './requests.js';
import { Subscription, type SubscriptionFilter } from './subscription.js';

/** What to complete: an argument of a prompt, or a variable of a resource template. */
export type CompletionQuestion = CompletionTarget & {
  /** Name of the argument or variable. */
  readonly argument: string;
  /** What has been typed so far. */
  readonly value: string;
  /** Arguments that already have a value. */
  readonly arguments?: Readonly<Record<string, string>>;
};

/** A connected MCP client. Every method rejects with `ClientError`. Made by `connect`. */
export class Client {
  readonly #link: JsonRpcConnection;
  readonly #parts: ClientParts;
  readonly #requests: Requests;
  readonly #subscriptions = new Set<Subscription>();
  readonly #closing = new AbortController();

  /** Takes the parts; `open` connects. */
  private constructor(transport: Transport, parts: ClientParts) {
    this.#parts = parts;
    this.#link = new JsonRpcConnection(transport, {
      clock: parts.clock,
      log: parts.log,
      asked: (id, method, params) => this.#asked(id, method, params),
      notified: (method, params) => this.#notified(method, params),
      ended: (error) => {
        for (const subscription of this.#subscriptions) subscription.fail(error);
      },
    });
    this.#requests = new Requests(this.#link, parts, new ToolList(parts.log));
  }

  /** Starts the transport and agrees with the server. What fails leaves nothing open. */
  static async open(transport: Transport, parts: ClientParts): Promise<Client> {
    const client = new Client(transport, parts);
    const { settled, self } = parts;
    const { start_timeout_ms, signal } = settled;
    try {
      await client.#link.start(start_timeout_ms, signal);
      await client.#requests.agree(await negotiate(client.#link, self, settled), signal);
    } catch (error) {
      await client.#link.close(start_timeout_ms, signal);
      throw error;
    }
    return client;
  }

  /** What the server said of itself, and what was agreed on. */
  get server(): Agreement {
    return this.#requests.agreement;
  }

  /** Sends `server/discover` again to a modern server; for a legacy one it returns the result of the handshake. */
  async discover({
    signal,
    timeout_ms = this.#parts.settled.timeout_ms,
  }: Pick<CallOptions, 'signal' | 'timeout_ms'> = {}): Promise<Agreement> {
    if (this.server.era === 'legacy') return this.server;
    const { timeout_max_ms } = this.#parts.settled;
    return discover(this.#link, this.#parts.self, { timeout_max_ms, ...(signal === undefined ? {} : { signal }) }, timeout_ms);
  }

  /** Every tool, all pages. Those whose `x-mcp-header` is not valid are left out, with a warning in the log. */
  async listTools(options: CallOptions = {}): Promise<readonly Tool[]> {
    return this.#requests.listTools(this.#requests.bound(options));
  }

  /** Calls a tool. A result with `isError` is a result; a JSON-RPC error rejects. */
  async callTool(name: string, args: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}): Promise<ToolResult> {
    const result = await this.#requests.callTool({ name, arguments: args }, this.#requests.bound(options));
    const { content = [] } = result;
    if (!Array.isArray(content)) throw new ClientError('BROKEN', 'the content in the answer to tools/call is not a list');
    return { ...result, content };
  }

  async listResources(options: CallOptions = {}): Promise<readonly Resource[]> {
    return this.#list('resources/list', 'resources', options);
  }

  async listResourceTemplates(options: CallOptions = {}): Promise<readonly ResourceTemplate[]> {
    return this.#list('resources/templates/list', 'resourceTemplates', options);
  }

  async readResource(uri: string, options: CallOptions = {}): Promise<ResourceResult> {
    return (await this.#ask('resources/read', { uri }, options)) as unknown as ResourceResult;
  }

  async listPrompts(options: CallOptions = {}): Promise<readonly Prompt[]> {
    return this.#list('prompts/list', 'prompts', options);
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>> = {}, options: CallOptions = {}): Promise<PromptResult> {
    return (await this.#ask('prompts/get', { name, arguments: args }, options)) as unknown as PromptResult;
  }

  /** Values for an argument of a prompt, or a variable of a template. */
  async complete(question: CompletionQuestion, options: CallOptions = {}): Promise<CompletionResult> {
    const { prompt, template, argument, value, arguments: settled } = question;
    const ref = prompt === undefined ? { type: 'ref/resource', uri: template } : { type: 'ref/prompt', name: prompt };
    const context = settled === undefined ? {} : { context: { arguments: settled } };
    const result = await this.#ask('completion/complete', { ref, argument: { name: argument, value }, ...context }, options);
    return (isObject(result.completion) ? result.completion : { values: [] }) as unknown as CompletionResult;
  }

  /**
   * Changes of lists and resources as the server reports them: `subscriptions/listen` in the modern era, unasked notifications and
   * `resources/subscribe` in a legacy one. Resolves when the server has agreed.
   */
  async listen(wishes: SubscriptionFilter, options: CallOptions = {}): Promise<Subscription> {
    const subscription = new Subscription(this.#requests, wishes, () => this.#subscriptions.delete(subscription));
    this.#subscriptions.add(subscription);
    await subscription.open(options);
    return subscription;
  }

  /** Any other request, e.g. of an extension: the members of its result. */
  async request(method: string, params: JsonObject = {}, options: CallOptions = {}): Promise<JsonObject> {
    return this.#ask(method, params, options);
  }

  /**
   * Ends subscriptions and the session. Over HTTP calls under way may finish, each within its own timeout; over one line they are given
   * up. Then the end takes at most `start_timeout_ms`. Once `signal` aborts, calls are given up too and it takes at most a second.
   */
  async close({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.end();
    await this.#link.close(this.#parts.settled.start_timeout_ms, signal);
    this.#closing.abort();
  }

  #ask(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#requests.ask(method, params, this.#requests.bound(options));
  }

  #list<T>(method: string, member: string, options: CallOptions): Promise<readonly T[]> {
    const { max_pages, max_items } = this.#parts.settled;
    const bound = this.#requests.bound(options);
    return collect<T>((params) => this.#requests.ask(method, params, bound), { method, member, max_pages, max_items });
  }

  /** A request of the server: each is answered, in every era and before one was agreed on. Returns what a callback's answer waits for. */
  #asked(id: unknown, method: string, params: JsonObject): Promise<unknown> | undefined {
    const { callbacks, clock, log, settled } = this.#parts;
    const reply = (members: JsonObject): Promise<void> =>
      this.#requests
        .reply({ jsonrpc: '2.0', id, ...members })
        .catch((error: Error) => log.warn({ method, error: error.message }, 'an answer could not be sent'));
    const modern = this.#requests.era === 'modern';
    if (modern) log.warn({ method }, 'a modern server sent a request, which it must not');
    if (method === 'ping') return void reply({ result: {} });
    if (modern || !canAnswer(callbacks, method))
      return void reply({ error: { code: -32601, message: `The client has no ${method.slice(0, 64)}.` } });
    const bound = { clock, timeout_ms: settled.timeout_max_ms, signal: this.#closing.signal };
    return bounded(`the callback for ${method}`, bound, (signal) => answerQuestion(callbacks, method, params, signal)).then(
      (result) => reply({ result }),
      (error: unknown) => {
        log.warn({ method, error: error instanceof Error ? error.message : String(error) }, 'a callback failed');
        return reply({ error: { code: -32603, message: 'The client could not answer.' } });
      },
    );
  }

  #notified(method: string, params: JsonObject): void {
    if (method === 'notifications/message') this.#parts.onLog?.(params as unknown as LogMessage);
    else for (const subscription of this.#subscriptions) subscription.notified(method, params);
  }
}
