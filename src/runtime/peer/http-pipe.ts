import type { Timer } from '../../contract/clock.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Pipe } from '../../transport/process-handle.js';
import { withoutBom } from '../../wire/bytes.js';
import { memberAt } from '../../wire/edit.js';
import { SseParser } from '../../wire/sse.js';
import { judgeAnswer } from '../../wire/summary.js';
import { toRaw } from '../../wire/text.js';
import type { UpstreamHead } from '../answer/answer.js';
import { type HttpListener, type HttpPipeOptions, HttpPost, MAX_RETRY_MS, type PostHost, RETRY_MS } from './http-post.js';

/**
 * An MCP server over Streamable HTTP as a `Pipe`: each message is a POST, the answer to a request comes as JSON or as events of that POST.
 * The session id and revision of the `initialize` that went through it are sent with everything after it. A stream that is cut after an event id
 * is resumed with `Last-Event-ID`. A request whose exchange fails is told by `onFailed`, exactly once and instead of an answer: with
 * `SESSION_NOT_FOUND` when the server no longer knows the session, so that nothing ran; `UPSTREAM_ANSWER` when it answered with something
 * that is not MCP.
 */
export class HttpPipe implements Pipe {
  onMessage: Pipe['onMessage'] = ignore;
  onTooLong: Pipe['onTooLong'] = ignore;
  onClose: Pipe['onClose'] = ignore;
  onFailed: (id: string, code: ErrorCode) => void = ignore;
  readonly #options: HttpPipeOptions;
  readonly #posts = new Map<string, HttpPost>();
  readonly #host = this.#toHost();
  /** Fields that name the session, and the revision that it was opened with. */
  #session: readonly string[] = [];
  #served = false;
  #stream: Stream | undefined;
  #closed = false;

  constructor(options: HttpPipeOptions) {
    this.#options = options;
  }

  send(line: Uint8Array, fields: readonly string[] = []): boolean {
    if (this.#closed) return false;
    const { kind, id, method } = judgeAnswer(line);
    if (kind !== 'request' || id === undefined) {
      this.#options.sender.send('post', this.#fields(fields), line, IGNORING);
      return true;
    }
    const post = new HttpPost(id, method === 'initialize', this.#host, this.#options);
    this.#posts.set(id, post);
    post.start('post', this.#fields(fields), line);
    return true;
  }

  forget(id: string): void {
    this.#posts.get(id)?.stop();
    this.#posts.delete(id);
  }

  /** Opens the GET stream, which carries what belongs to no request; a server without one is silently left alone. Calling it twice does nothing. */
  listen(): void {
    if (this.#closed) return;
    this.#stream ??= new Stream(
      this.#options,
      () => this.#fields([]),
      (line) => this.onMessage(line),
    );
  }

  /** Ends every exchange; the server is told that the session is over, for at most 2 s. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stream?.stop();
    for (const post of this.#posts.values()) post.stop();
    this.#posts.clear();
    if (this.#session[0] !== 'mcp-session-id') return;
    const stop = this.#options.sender.send('delete', this.#fields([]), undefined, IGNORING);
    this.#options.clock.timer(DELETE_MS, stop);
  }

  #fields(own: readonly string[]): readonly string[] {
    return [...this.#session, ...this.#options.fields, ...own];
  }

  #toHost(): PostHost {
    const state = (): PostHost['session'] => (this.#session[0] !== 'mcp-session-id' ? 'none' : this.#served ? 'used' : 'new');
    return {
      get session() {
        return state();
      },
      fields: () => this.#fields([]),
      opened: (session, line) => this.#opened(session, line),
      message: (line, about) => this.onMessage(line, about),
      done: (id, code) => {
        this.#posts.delete(id);
        if (code === undefined) this.#served ||= this.#session.length > 0;
        else this.onFailed(id, code);
      },
    };
  }

  #opened(session: string | undefined, line: Uint8Array): void {
    const revision = memberAt(line, 'result', 'protocolVersion');
    const said = revision === undefined ? undefined : /^"([0-9-]{10})"$/.exec(toRaw(line, revision.value, revision.to))?.[1];
    const revised = said === undefined ? [] : ['mcp-protocol-version', said];
    this.#session = session === undefined ? revised : ['mcp-session-id', session, ...revised];
  }
}

/** The GET stream of a session, opened again for as long as the pipe lives. */
class Stream implements HttpListener {
  readonly #options: HttpPipeOptions;
  readonly #fields: () => readonly string[];
  readonly #parser: () => SseParser;
  #events: SseParser | undefined;
  #end: () => void = ignore;
  #wait: Timer | undefined;
  #last_id: string | undefined;
  #retry_ms = RETRY_MS;
  #over = false;

  constructor(options: HttpPipeOptions, fields: () => readonly string[], message: (line: Uint8Array) => void) {
    this.#options = options;
    this.#fields = fields;
    this.#parser = () =>
      new SseParser({
        max_event_bytes: options.max_message_bytes,
        onEvent: ({ data, id, retry }) => {
          this.#last_id = id ?? this.#last_id;
          if (retry !== undefined) this.#retry_ms = Math.max(RETRY_MS, Math.min(retry, MAX_RETRY_MS));
          if (data.length > 0 && !this.#over) message(withoutBom(Uint8Array.from(data)));
        },
        onTooLarge: () => this.stop(),
      });
    this.#open();
  }

  stop(): void {
    this.#over = true;
    this.#wait?.cancel();
    this.#end();
  }

  head({ status, media }: UpstreamHead): void {
    if (status === 200 && media === 'events') this.#events = this.#parser();
    else this.stop();
  }

  data(chunk: Buffer): void {
    if (!this.#over) this.#events?.push(chunk);
  }

  end(): void {
    this.#again();
  }

  failed(): void {
    this.#again();
  }

  #open(): void {
    const resumed = this.#last_id === undefined || this.#last_id === '' ? [] : ['last-event-id', this.#last_id];
    this.#end = this.#options.sender.send('stream', [...this.#fields(), ...resumed], undefined, this);
  }

  #again(): void {
    if (this.#over) return;
    this.#wait = this.#options.clock.timer(this.#retry_ms, () => this.#open());
    this.#retry_ms = Math.min(2 * this.#retry_ms, MAX_RETRY_MS);
  }
}

function ignore(): void {}

const IGNORING: HttpListener = { head: ignore, data: ignore, end: ignore, failed: ignore };
const DELETE_MS = 2_000;
