import type { Change, Wanted } from '../../contract/changes.js';
import type { Exchange, MessageWriter } from '../../contract/runtime.js';
import type { EndReason } from '../../contract/telemetry.js';
import { GatewayError } from '../../errors/error.js';
import { errorText, notificationText, resultText, SERVER_INFO_KEY, SUBSCRIPTION_KEY } from '../../wire/rpc.js';
import type { CoreEnvironment, CoreRequest } from '../call/request.js';
import type { ServerRuntime } from '../define/server-runtime.js';

/** Opens a `subscriptions/listen` stream on a server in this process. */
export function openSubscription(
  server: ServerRuntime,
  request: CoreRequest,
  wanted: Wanted | undefined,
  exchange: Exchange,
  env: CoreEnvironment,
): void {
  // The request, with its params, must not stay in memory as long as the stream.
  const { id, request_id, identity } = request;
  const subscription = Subscription.open(exchange, { id, request_id, server_info: server.info });
  const source = server.definition.changes;
  if (wanted === undefined || source === undefined) return subscription?.start(undefined);
  const bare = { ...request, params: {}, headers: undefined };
  subscription?.start(wanted, {
    open: (signal) => source.open(wanted, { identity, signal }),
    crashed: (cause) => env.crashed(bare, cause),
  });
}

export interface SubscriptionOptions {
  /** Raw JSON text of the request's id, which is the subscription's too. */
  readonly id: string;
  /** The id of the request in logs. */
  readonly request_id: string;
  /** `serverInfo` of the server that the subscription is on, JSON text. */
  readonly server_info: string;
}

/** Where the changes of one subscription come from. */
export interface SubscriptionSource {
  /** Called once. `signal` aborts as `ChangeSource.open` says. */
  open(signal: AbortSignal): AsyncIterable<Change>;
  /** Gets what the source threw; the client is sent `RUNTIME_FAILED`. */
  crashed(error: unknown): void;
}

/**
 * One `subscriptions/listen` stream, on a server of any kind (MCP 2026-07-28, Subscriptions): the acknowledgement first, naming only
 * what will come; then each change with the subscription's id, the next one pulled from the source once the reader has taken the one
 * before. It ends once: by its source or a drain with the completion, by a fault with an error, by its reader with nothing.
 */
export class Subscription {
  readonly #writer: MessageWriter;
  readonly #options: SubscriptionOptions;
  readonly #stop = new AbortController();
  #wanted: Wanted | undefined;
  #source: AsyncIterator<Change> | undefined;
  #resume: (() => void) | undefined;
  #over = false;

  private constructor(writer: MessageWriter, options: SubscriptionOptions) {
    this.#writer = writer;
    this.#options = options;
    writer.onDrain(() => {
      const resume = this.#resume;
      this.#resume = undefined;
      resume?.();
    });
  }

  /** Opens the stream; the acknowledgement is sent by `start`. Undefined: refused, and the client was told. */
  static open(exchange: Exchange, options: SubscriptionOptions): Subscription | undefined {
    if (!exchange.accepts_events) {
      exchange.fail(new GatewayError('NOT_ACCEPTABLE', { detail: 'subscriptions/listen answers with an event stream.' }));
      return undefined;
    }
    const writer = exchange.events([]);
    if (writer === undefined) return undefined;
    const subscription = new Subscription(writer, options);
    exchange.onCancel((reason) => subscription.stop(reason));
    return subscription;
  }

  /** Aborts when the subscription ends before its source does; the reason is the `EndReason`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Acknowledges `wanted` and relays the changes of `source`. Without either the subscription is completed at once. */
  start(wanted: Wanted | undefined, source?: SubscriptionSource): void {
    if (this.#over) return;
    this.#wanted = wanted;
    const free = this.#send(
      notificationText('notifications/subscriptions/acknowledged', `{"notifications":${filterOf(wanted)},${this.#tag}}`),
    );
    if (wanted === undefined || source === undefined) return this.#complete('source');
    this.#pump(free, source).then(
      () => this.#complete('source'),
      (error: unknown) => {
        if (this.#over) return;
        source.crashed(error);
        this.#fail(new GatewayError('RUNTIME_FAILED'), 'rpc_error');
      },
    );
  }

  /** The stream ends, and not by its source. A drain completes it, since the client is still there. */
  stop(reason: EndReason): void {
    if (this.#over) return;
    if (reason === 'drain') this.#complete('drain');
    this.#leaveSource(reason);
  }

  /** The server behind the source is gone: the client is sent the error, and may listen again. */
  lost(error: GatewayError): void {
    if (this.#over) return;
    this.#fail(error, 'upstream_error');
    this.#leaveSource('error');
  }

  async #pump(free: boolean, source: SubscriptionSource): Promise<void> {
    this.#source = source.open(this.#stop.signal)[Symbol.asyncIterator]();
    if (!free) await this.#drained();
    if (this.#over) return;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done === true || this.#over) return;
      const json = this.#encode(value);
      if (json !== undefined && !this.#send(json)) await this.#drained();
      if (this.#over) return;
    }
  }

  #drained(): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #leaveSource(reason: EndReason): void {
    this.#over = true;
    this.#resume?.();
    this.#stop.abort(reason);
    // A source that waits is woken by the signal; its own end is its own matter.
    this.#source?.return?.().then(undefined, () => undefined);
  }

  #complete(reason: 'source' | 'drain'): void {
    if (this.#over) return;
    this.#over = true;
    this.#send(completionText(this.#options.id, this.#options.server_info));
    this.#writer.end(reason, 'ok');
  }

  #fail(error: GatewayError, outcome: 'rpc_error' | 'upstream_error'): void {
    this.#over = true;
    this.#send(errorText(error, this.#options.id, this.#options.request_id));
    this.#writer.end('error', outcome, error.rpc);
  }

  /** Undefined for a change that was not acknowledged. */
  #encode(change: Change): string | undefined {
    const wanted = this.#wanted;
    if (change.kind === 'resource') {
      if (wanted?.uris.has(change.uri) !== true) return undefined;
      return notificationText('notifications/resources/updated', `{"uri":${JSON.stringify(change.uri)},${this.#tag}}`);
    }
    return wanted?.[change.kind] === true ? notificationText(`notifications/${change.kind}/list_changed`, `{${this.#tag}}`) : undefined;
  }

  get #tag(): string {
    return `"_meta":{"${SUBSCRIPTION_KEY}":${this.#options.id}}`;
  }

  #send(json: string): boolean {
    return this.#writer.write(json);
  }
}

function filterOf(wanted: Wanted | undefined): string {
  if (wanted === undefined) return '{}';
  return JSON.stringify({
    ...(wanted.tools ? { toolsListChanged: true } : {}),
    ...(wanted.prompts ? { promptsListChanged: true } : {}),
    ...(wanted.resources ? { resourcesListChanged: true } : {}),
    ...(wanted.uris.size > 0 ? { resourceSubscriptions: [...wanted.uris] } : {}),
  });
}

/**
 * The successful response that ends a subscription (MCP 2026-07-28 Subscriptions, "Graceful Closure"). `id` is raw JSON text;
 * `server_info` is JSON text and is left out where the server has not said it.
 */
export function completionText(id: string, server_info?: string): string {
  const info = server_info === undefined ? '' : `,"${SERVER_INFO_KEY}":${server_info}`;
  return resultText(id, `{"resultType":"complete","_meta":{"${SUBSCRIPTION_KEY}":${id}${info}}}`);
}
