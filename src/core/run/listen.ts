import type { Change, Wanted } from '../../contract/changes.js';
import type { AnswerWriter, EndReason, Exchange } from '../../contract/runtime.js';
import { CODES } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import { faultReply } from '../call/reply.js';
import type { CoreEnvironment, CoreRequest } from '../call/request.js';
import type { ServerRuntime } from '../define/server-runtime.js';

/**
 * Opens a `subscriptions/listen` stream: the acknowledgement first, naming only what will come; then each change, the next one
 * pulled from the source once the reader has taken the one before. What nothing was promised to is completed at once.
 */
export function openSubscription(
  server: ServerRuntime,
  request: CoreRequest,
  wanted: Wanted | undefined,
  exchange: Exchange,
  env: CoreEnvironment,
): void {
  if (!exchange.accepts_events) {
    return exchange.fail(new GatewayError('NOT_ACCEPTABLE', { detail: 'subscriptions/listen answers with an event stream.' }));
  }
  const writer = exchange.events([]);
  if (writer === undefined) return;
  // The request, with its params, must not stay in memory as long as the stream.
  const { id, identity } = request;
  const tag = `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`;
  const free = send(
    writer,
    `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":${filterOf(wanted)},${tag}}}`,
  );
  const complete = completion(server, id);
  const source = server.definition.changes;
  if (wanted === undefined || source === undefined) {
    send(writer, complete);
    return writer.end('source', 'ok');
  }
  const stop = new AbortController();
  const bare = { ...request, params: {}, headers: undefined };
  const failed = faultReply(bare, { code: 'RUNTIME_FAILED' });
  const error = `{"jsonrpc":"2.0","id":${id},"error":${failed.json}}`;
  const subscription = new Subscription(writer, wanted, tag, complete, stop, (cause) => {
    env.crashed(bare, cause);
    return error;
  });
  exchange.onCancel((reason) => subscription.stop(reason));
  subscription.run(free, () => source.open(wanted, { identity, signal: stop.signal }));
}

/** One open stream. It ends once, by its source, its reader or the gateway, and closes the source then. */
class Subscription {
  readonly #writer: AnswerWriter;
  readonly #wanted: Wanted;
  readonly #tag: string;
  readonly #complete: string;
  readonly #stop: AbortController;
  /** Tells the log, and makes the error response. */
  readonly #crashed: (error: unknown) => string;
  #source: AsyncIterator<Change> | undefined;
  #resume: (() => void) | undefined;
  #over = false;

  constructor(
    writer: AnswerWriter,
    wanted: Wanted,
    tag: string,
    complete: string,
    stop: AbortController,
    crashed: (error: unknown) => string,
  ) {
    this.#writer = writer;
    this.#wanted = wanted;
    this.#tag = tag;
    this.#complete = complete;
    this.#stop = stop;
    this.#crashed = crashed;
    writer.onDrain(() => {
      const resume = this.#resume;
      this.#resume = undefined;
      resume?.();
    });
  }

  /** `free`: the reader has taken the acknowledgement. */
  run(free: boolean, open: () => AsyncIterable<Change>): void {
    this.#pump(free, open).then(
      () => this.#end('source', this.#complete),
      (error: unknown) => {
        if (this.#over) return;
        this.#end('error', this.#crashed(error));
      },
    );
  }

  /** The stream ends, and not by its source. A drain completes it, since the client is still there. */
  stop(reason: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#resume?.();
    this.#stop.abort(reason);
    // A source that waits is woken by the signal; its own end is its own matter.
    this.#source?.return?.().then(undefined, () => undefined);
    if (reason !== 'drain') return;
    send(this.#writer, this.#complete);
    this.#writer.end('drain', 'ok');
  }

  async #pump(free: boolean, open: () => AsyncIterable<Change>): Promise<void> {
    this.#source = open()[Symbol.asyncIterator]();
    if (!free) await this.#drained();
    if (this.#over) return;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done === true || this.#over) return;
      const json = this.#encode(value);
      if (json !== undefined && !send(this.#writer, json)) await this.#drained();
      if (this.#over) return;
    }
  }

  #drained(): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #end(reason: 'source' | 'error', last: string): void {
    if (this.#over) return;
    this.#over = true;
    send(this.#writer, last);
    if (reason === 'source') this.#writer.end('source', 'ok');
    else this.#writer.end('error', 'rpc_error', CODES.RUNTIME_FAILED.rpc);
  }

  /** Undefined for a change that was not acknowledged. */
  #encode(change: Change): string | undefined {
    const wanted = this.#wanted;
    if (change.kind === 'resource') {
      if (!wanted.uris.has(change.uri)) return undefined;
      return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":${JSON.stringify(change.uri)},${this.#tag}}}`;
    }
    return wanted[change.kind]
      ? `{"jsonrpc":"2.0","method":"notifications/${change.kind}/list_changed","params":{${this.#tag}}}`
      : undefined;
  }
}

function send(writer: AnswerWriter, json: string): boolean {
  return writer.write(Buffer.from(`event: message\ndata: ${json}\n\n`));
}

/** The successful response that ends a subscription (MCP 2026-07-28 Subscriptions, "Graceful Closure"). */
function completion({ info }: ServerRuntime, id: string): string {
  const meta = `"io.modelcontextprotocol/subscriptionId":${id},"io.modelcontextprotocol/serverInfo":${info}`;
  return `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","_meta":{${meta}}}}`;
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

/** The successful response that ends a subscription early (MCP 2026-07-28 Subscriptions, "Graceful Closure"). `id` is raw JSON text. */
export function listenEnd(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}}`;
}
