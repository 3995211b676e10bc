import type { AnswerWriter, EndReason } from '../../contract/runtime.js';
import type { ListenFilter } from '../../core/call/listen.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import { SUBSCRIPTION_KEY } from './incoming.js';
import type { Waiting } from './peer.js';

/** A notice for subscriptions: one of the lists changed, or one resource was updated. */
export type Notice = { readonly kind: 'tools' | 'prompts' | 'resources' } | { readonly kind: 'updated'; readonly uri: string };

/**
 * One modern `subscriptions/listen` stream on a legacy server (MCP 2026-07-28, Subscriptions): the acknowledgement first, then what
 * was promised, each message with the subscription's id. A reader that is behind gets each kind and each URI once. The server's
 * end ends the stream with an error: the client listens anew.
 */
export class Listener implements Waiting {
  readonly #writer: AnswerWriter;
  /** Raw JSON text. */
  readonly #id: string;
  readonly #request_id: string;
  /** JSON text. */
  readonly #server_info: string;
  readonly #behind = new Map<string, string>();
  #filter: ListenFilter | undefined;
  #uris: ReadonlySet<string> = new Set();
  #slow = false;
  #over = false;

  constructor(writer: AnswerWriter, id: string, request_id: string, server_info: string) {
    this.#writer = writer;
    this.#id = id;
    this.#request_id = request_id;
    this.#server_info = server_info;
    writer.onDrain(() => this.#flush());
  }

  /** Promises what the filter names. Nothing: the stream is completed at once. */
  acknowledge(filter: ListenFilter): void {
    if (this.#over) return;
    this.#filter = filter;
    this.#uris = new Set(filter.uris);
    const promised = {
      ...(filter.tools ? { toolsListChanged: true } : {}),
      ...(filter.prompts ? { promptsListChanged: true } : {}),
      ...(filter.resources ? { resourcesListChanged: true } : {}),
      ...(filter.uris.length > 0 ? { resourceSubscriptions: filter.uris } : {}),
    };
    const text = JSON.stringify(promised);
    this.#write(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":${text},${this.#stamp}}}`);
    if (text === '{}') this.complete();
  }

  offer(notice: Notice): void {
    if (this.#over || this.#filter === undefined) return;
    if (notice.kind === 'updated') {
      if (!this.#uris.has(notice.uri)) return;
      const uri = JSON.stringify(notice.uri);
      this.#send(uri, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":${uri},${this.#stamp}}}`);
    } else if (this.#filter[notice.kind])
      this.#send(notice.kind, `{"jsonrpc":"2.0","method":"notifications/${notice.kind}/list_changed","params":{${this.#stamp}}}`);
  }

  /** The successful end, with who answers, as every result (MCP 2026-07-28, Subscriptions, "Graceful Closure"). */
  complete(reason: EndReason = 'source'): void {
    if (this.#over) return;
    this.#over = true;
    const meta = `"${SUBSCRIPTION_KEY}":${this.#id},"io.modelcontextprotocol/serverInfo":${this.#server_info}`;
    this.#write(`{"jsonrpc":"2.0","id":${this.#id},"result":{"resultType":"complete","_meta":{${meta}}}}`);
    this.#writer.end(reason, 'ok');
  }

  /** The client has left. */
  leave(): void {
    this.#over = true;
  }

  answered(): void {}
  noticed(): void {}

  lost(code: ErrorCode): void {
    if (this.#over) return;
    this.#over = true;
    const { rpc, message } = new GatewayError(code);
    const data = JSON.stringify({ code, request_id: this.#request_id });
    this.#write(`{"jsonrpc":"2.0","id":${this.#id},"error":{"code":${rpc},"message":${JSON.stringify(message)},"data":${data}}}`);
    this.#writer.end('error', 'upstream_error', rpc);
  }

  get #stamp(): string {
    return `"_meta":{"${SUBSCRIPTION_KEY}":${this.#id}}`;
  }

  #send(key: string, json: string): void {
    if (this.#slow) this.#behind.set(key, json);
    else this.#write(json);
  }

  #flush(): void {
    this.#slow = false;
    for (const [key, json] of this.#behind) {
      if (this.#slow || this.#over) return;
      this.#behind.delete(key);
      this.#write(json);
    }
  }

  #write(json: string): void {
    this.#slow = !this.#writer.write(Buffer.from(`event: message\ndata: ${json}\n\n`));
  }
}
