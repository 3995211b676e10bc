import type { Clock, Timer } from '../../contract/clock.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Pipe, PipeEnd } from '../../transport/process-handle.js';
import { withoutBom } from '../../wire/bytes.js';
import { isVisible } from '../../wire/field.js';
import { type SseEvent, SseParser } from '../../wire/sse.js';
import { judgeAnswer } from '../../wire/summary.js';
import type { UpstreamHead } from '../answer/answer.js';
import type { HttpListener, HttpSender } from './http-post.js';
import { SsePost } from './sse-post.js';

export interface SsePipeOptions {
  /** Of the event stream; the `endpoint` must have its origin. */
  readonly url: URL;
  /** Sends the GET of the event stream. */
  readonly stream: HttpSender;
  /** Sends POSTs to another target (path and query) of the same origin. */
  senderTo(target: string): HttpSender;
  readonly clock: Clock;
  /** Most bytes of one message. More end the session. */
  readonly max_message_bytes: number;
  /** Fields of the GET, and of messages that bring none. */
  readonly fields: readonly string[];
  /** The session could not be opened, for the log; without an address or a value. */
  refused(why: string): void;
}

/**
 * An MCP server over HTTP+SSE (MCP 2024-11-05, "HTTP with SSE") as a `Pipe`: a GET opens an event stream, whose `endpoint` event names where messages are POSTed; what the
 * server says comes on that stream. The stream is the session: when it ends the pipe closes, and nothing is resumed. Messages wait for the endpoint (10 s at most), and behind a
 * notification until its POST is answered, so that `initialized` comes before what follows it. A message that the server cannot have begun is told by `onFailed` as
 * `SESSION_NOT_FOUND` once the session had been in use.
 */
export class SsePipe implements Pipe {
  onMessage: Pipe['onMessage'] = ignore;
  onTooLong: Pipe['onTooLong'] = ignore;
  onClose: (end: PipeEnd) => void = ignore;
  onFailed: (id: string, code: ErrorCode) => void = ignore;
  readonly #options: SsePipeOptions;
  readonly #posts = new Set<SsePost>();
  #waiting: Message[] = [];
  #waiting_bytes = 0;
  #stream: Stream | undefined;
  #endpoint: HttpSender | undefined;
  /** Its POST is not answered yet: what follows waits. */
  #notice: SsePost | undefined;
  #served = false;
  #closed = false;

  constructor(options: SsePipeOptions) {
    this.#options = options;
  }

  send(line: Uint8Array, fields: readonly string[] = []): boolean {
    if (this.#closed) return false;
    if (this.#waiting.length > 0 && this.#waiting_bytes + line.length > MAX_WAITING_BYTES) return false;
    if (this.#waiting.length >= MAX_WAITING) return false;
    const { kind, id } = judgeAnswer(line);
    this.#waiting.push({ line, fields, kind, id: kind === 'request' ? id : undefined });
    this.#waiting_bytes += line.length;
    if (this.#stream === undefined) this.#open();
    else this.#flush();
    return true;
  }

  forget(id: string): void {
    this.#waiting = this.#waiting.filter((message) => message.id !== id || !this.#took(message));
    for (const post of this.#posts) if (post.id === id) post.stop();
  }

  /** Ends every exchange; the end of its stream tells the server that the session is over. */
  close(): void {
    this.#closed = true;
    this.#stream?.stop();
    for (const post of this.#posts) post.stop();
    this.#waiting = [];
  }

  #open(): void {
    this.#stream = new Stream(this.#options, {
      endpoint: (text) => this.#opened(text),
      message: (line) => this.#message(line),
      lost: (code, why) => {
        if (this.#endpoint === undefined) this.#options.refused(why);
        this.#lost(code);
      },
    });
    this.#stream.start();
  }

  #opened(text: string): void {
    const { url } = this.#options;
    const endpoint = isVisible(text, MAX_ENDPOINT) && URL.canParse(text, url.href) ? new URL(text, url) : undefined;
    const ours = endpoint?.origin === url.origin && endpoint.username === '' && endpoint.password === '';
    if (endpoint === undefined || !ours) {
      this.#options.refused(endpoint === undefined ? 'its endpoint event holds no usable URL' : 'its endpoint has another origin');
      return this.#lost('UPSTREAM_BROKEN');
    }
    this.#endpoint = this.#options.senderTo(endpoint.pathname + endpoint.search);
    this.#flush();
  }

  #message(line: Uint8Array): void {
    if (this.#posts.size > 0) {
      const { kind, id } = judgeAnswer(line);
      if (kind === 'response') for (const post of this.#posts) if (post.id === id) post.linger();
    }
    this.onMessage(line);
  }

  #flush(): void {
    const endpoint = this.#endpoint;
    while (!this.#closed && endpoint !== undefined && this.#notice === undefined) {
      const message = this.#waiting.shift();
      if (message === undefined) return;
      this.#took(message);
      this.#post(endpoint, message);
    }
  }

  #post(endpoint: HttpSender, { line, fields, kind, id }: Message): void {
    const post: SsePost = new SsePost(id, this.#options.clock, {
      accepted: () => {
        this.#served = true;
        this.#passed(post);
      },
      failed: (code) => {
        const gone = code === 'SESSION_NOT_FOUND';
        const told = gone && !this.#served ? 'UPSTREAM_BROKEN' : code;
        if (id !== undefined) this.onFailed(id, told);
        if (gone) this.#lost(told);
      },
      over: () => {
        this.#posts.delete(post);
        this.#passed(post);
      },
    });
    this.#posts.add(post);
    if (kind === 'notification') this.#notice = post;
    post.start(endpoint, fields.length > 0 ? fields : this.#options.fields, line);
  }

  #passed(post: SsePost): void {
    if (this.#notice !== post) return;
    this.#notice = undefined;
    this.#flush();
  }

  /** Takes a message out of the count of what waits. */
  #took({ line }: Message): true {
    this.#waiting_bytes -= line.length;
    return true;
  }

  #lost(code: ErrorCode): void {
    if (this.#closed) return;
    const unsent = this.#waiting;
    this.close();
    // They were not sent, so another session may have them.
    for (const { id } of unsent) if (id !== undefined) this.onFailed(id, this.#served ? 'SESSION_NOT_FOUND' : code);
    this.onClose('exit');
  }
}

interface Message {
  readonly line: Uint8Array;
  readonly fields: readonly string[];
  readonly kind: ReturnType<typeof judgeAnswer>['kind'];
  /** Of a request. */
  readonly id: string | undefined;
}

interface StreamEvents {
  endpoint(text: string): void;
  message(line: Uint8Array): void;
  /** Called once, last. */
  lost(code: ErrorCode, why: string): void;
}

/** The event stream of one session. */
class Stream implements HttpListener {
  readonly #options: SsePipeOptions;
  readonly #events: StreamEvents;
  readonly #parser: SseParser;
  readonly #late: Timer;
  #named = false;
  #over = false;
  #end: () => void = ignore;

  constructor(options: SsePipeOptions, events: StreamEvents) {
    this.#options = options;
    this.#events = events;
    this.#parser = new SseParser({
      max_event_bytes: options.max_message_bytes,
      onEvent: (event) => this.#event(event),
      onTooLarge: () => this.#lost('UPSTREAM_BROKEN', 'an event is too large'),
    });
    this.#late = options.clock.timer(ENDPOINT_MS, () => this.#lost('UPSTREAM_BROKEN', 'no endpoint event came in time'));
  }

  start(): void {
    this.#end = this.#options.stream.send('stream', this.#options.fields, undefined, this);
  }

  stop(): void {
    this.#over = true;
    this.#late.cancel();
    this.#end();
  }

  head({ status, media, encoded }: UpstreamHead): void {
    if (status === 200 && media === 'events' && !encoded) return;
    const refused = status === 401 || status === 403 || status === 407;
    this.#lost(refused ? 'UPSTREAM_REFUSED' : 'UPSTREAM_BROKEN', `it answered GET with ${status} and no event stream`);
  }

  data(chunk: Buffer): void {
    if (!this.#over) this.#parser.push(chunk);
  }

  end(): void {
    this.#lost('UPSTREAM_ENDED', 'the event stream ended');
  }

  failed(code: ErrorCode): void {
    this.#lost(code, 'the event stream failed');
  }

  #event({ event, data }: SseEvent): void {
    if (this.#over) return;
    if (event === 'endpoint' && !this.#named) {
      this.#named = true;
      this.#late.cancel();
      this.#events.endpoint(Buffer.from(data).toString('latin1'));
    } else if (this.#named && (event === undefined || event === 'message') && data.length > 0)
      this.#events.message(withoutBom(Uint8Array.from(data)));
  }

  #lost(code: ErrorCode, why: string): void {
    if (this.#over) return;
    this.stop();
    this.#events.lost(code, why);
  }
}

function ignore(): void {}

const MAX_ENDPOINT = 2_048;
const ENDPOINT_MS = 10_000;
/** What may wait for the endpoint, or behind a notification. */
const MAX_WAITING = 1_024;
const MAX_WAITING_BYTES = 4_000_000;
