import type { Clock, Timer } from '../../contract/clock.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatheredBytes, withoutBom } from '../../wire/bytes.js';
import { isVisible } from '../../wire/field.js';
import { type SseEvent, SseParser } from '../../wire/sse.js';
import { judgeAnswer, spellsId, type AnswerVerdict as Verdict, withId } from '../../wire/summary.js';
import type { UpstreamHead } from '../answer/answer.js';
import { isLegacyAnswer } from '../era/verdict.js';

/** Sends one HTTP request to the server in the caller's turn. `fields`: flat name, value list, beside those that every request has. */
export interface HttpSender {
  /** Returns the way to end the exchange early; its listener hears nothing more then, and nothing before. `stream`: a GET that stays open, and takes no place from the caller's calls. */
  send(
    method: 'post' | 'get' | 'stream' | 'delete',
    fields: readonly string[],
    body: Uint8Array | undefined,
    listener: HttpListener,
  ): () => void;
}

/** Hears one exchange: `head`, any number of `data`, then `end` or `failed`; `failed` may come at any point instead. */
export interface HttpListener {
  head(head: UpstreamHead): void;
  data(chunk: Buffer): void;
  end(): void;
  failed(code: ErrorCode): void;
}

export interface HttpPipeOptions {
  readonly sender: HttpSender;
  readonly clock: Clock;
  /** Most bytes of one message. More end the request with `UPSTREAM_BROKEN`. */
  readonly max_message_bytes: number;
  /** Fields of every request, such as who calls. */
  readonly fields: readonly string[];
  /** A modern request was answered as a modern server does not. Absent: requests are not modern, or nobody wants to know. */
  readonly doubted?: (() => void) | undefined;
}

/** What a request needs of its pipe. */
export interface PostHost {
  /** `new`: nothing but the handshake was answered in it. */
  readonly session: 'none' | 'new' | 'used';
  fields(): readonly string[];
  opened(session: string | undefined, line: Uint8Array): void;
  /** `about`: the request in whose exchange it came. */
  message(line: Uint8Array, about: string): void;
  /** The request is over; `code`: it was not answered. */
  done(id: string, code: ErrorCode | undefined): void;
}

/** One request: its POST, and the GETs that resume its stream. */
export class HttpPost implements HttpListener {
  readonly #id: string;
  readonly #opens: boolean;
  readonly #host: PostHost;
  readonly #options: HttpPipeOptions;
  #head: UpstreamHead | undefined;
  #body = new GatheredBytes();
  #parser: SseParser | undefined;
  #end: () => void = ignore;
  #wait: Timer | undefined;
  #last_id: string | undefined;
  #retry_ms = RETRY_MS;
  #resumed = 0;
  #over = false;

  constructor(id: string, opens: boolean, host: PostHost, options: HttpPipeOptions) {
    this.#id = id;
    this.#opens = opens;
    this.#host = host;
    this.#options = options;
  }

  start(method: 'post' | 'get', fields: readonly string[], body: Uint8Array | undefined): void {
    this.#head = undefined;
    this.#parser = undefined;
    this.#end = this.#options.sender.send(method, fields, body, this);
  }

  stop(): void {
    this.#over = true;
    this.#wait?.cancel();
    this.#end();
  }

  head(head: UpstreamHead): void {
    this.#head = head;
    const { status, media, encoded } = head;
    if (status === 401 || status === 403 || status === 407) this.#fail('UPSTREAM_REFUSED');
    else if (status >= 500 || status === 408 || status === 429 || (status >= 300 && status < 400)) this.#fail('UPSTREAM_BROKEN');
    else if (this.#resumed > 0 && (status >= 400 || media !== 'events')) this.#fail('UPSTREAM_BROKEN');
    else if (encoded || !isSession(head.session)) this.#fail('UPSTREAM_BROKEN');
    else if (status >= 400) {
      if (media !== 'json') {
        this.#judge(undefined, undefined);
        this.#fail(this.#missing(undefined));
      }
    } else if (media === 'events') {
      this.#parser = new SseParser({
        max_event_bytes: this.#options.max_message_bytes,
        onEvent: (event) => this.#event(event),
        onTooLarge: () => this.#fail('UPSTREAM_BROKEN'),
      });
    } else if (media !== 'json') this.#fail('UPSTREAM_ANSWER');
  }

  data(chunk: Buffer): void {
    if (this.#over) return;
    if (this.#parser !== undefined) return this.#parser.push(chunk);
    this.#body.append(chunk);
    if (this.#body.length > this.#options.max_message_bytes) this.#fail('UPSTREAM_BROKEN');
  }

  end(): void {
    if (this.#over) return void this.#wait?.cancel();
    if (this.#parser !== undefined) return this.#resume();
    const body = withoutBom(this.#body.take());
    const verdict = judgeAnswer(body);
    const status = this.#head?.status ?? 0;
    const answer = verdict.complete && verdict.kind === 'response' ? this.#own(body, verdict, true) : undefined;
    if (answer === undefined || verdict.outcome === 'rpc_error') this.#judge(verdict.rpc_code, answer);
    if (status >= 400 && (answer === undefined || verdict.outcome !== 'rpc_error')) return this.#fail(this.#missing(undefined));
    if (answer === undefined) return this.#fail('UPSTREAM_ANSWER');
    if (status >= 400 && this.#missing(verdict.rpc_code) === 'SESSION_NOT_FOUND') return this.#fail('SESSION_NOT_FOUND');
    this.#answered(answer);
  }

  failed(code: ErrorCode): void {
    if (this.#over) return;
    if (this.#last_id === undefined) this.#fail(code);
    else this.#resume();
  }

  #judge(rpc_code: number | undefined, answer: Uint8Array | undefined): void {
    if (isLegacyAnswer(this.#head?.status ?? 0, rpc_code, answer)) this.#options.doubted?.();
  }

  /**
   * What a 4xx means: the session is gone for a 404, and for a 400 of servers that answer it instead, if the session has worked before. A
   * JSON-RPC error that says something else is an answer.
   */
  #missing(rpc_code: number | undefined): ErrorCode {
    const status = this.#head?.status;
    const gone = rpc_code === undefined || rpc_code === -32000 || rpc_code === -32001;
    const { session } = this.#host;
    const lost = gone && !this.#opens && ((status === 404 && session !== 'none') || (status === 400 && session === 'used'));
    if (lost) return 'SESSION_NOT_FOUND';
    return status !== undefined && NOT_MCP.has(status) ? 'UPSTREAM_ANSWER' : 'UPSTREAM_BROKEN';
  }

  #event({ data, id, retry }: SseEvent): void {
    if (this.#over) return;
    if (retry !== undefined) this.#retry_ms = Math.min(retry, MAX_RETRY_MS);
    if (id !== undefined) this.#last_id = id === '' ? undefined : id;
    if (data.length === 0) return;
    const line = withoutBom(Uint8Array.from(data));
    const verdict = judgeAnswer(line);
    const answer = verdict.complete && verdict.kind === 'response' ? this.#own(line, verdict, false) : undefined;
    if (answer !== undefined) this.#answered(answer);
    else this.#host.message(line, this.#id);
  }

  #own(line: Uint8Array, { id, id_from, id_to, outcome }: Verdict, alone: boolean): Uint8Array | undefined {
    if (id === this.#id) return line;
    const ours = spellsId(id, this.#id) || (outcome === 'rpc_error' && (alone || id === undefined));
    return ours ? withId(line, id_from, id_to, this.#id) : undefined;
  }

  #answered(line: Uint8Array): void {
    this.#over = true;
    // A body that ends by itself leaves its connection usable.
    if (this.#parser !== undefined) this.#wait = this.#options.clock.timer(LINGER_MS, () => this.#end());
    this.#host.done(this.#id, undefined);
    if (this.#opens) this.#host.opened(this.#head?.session, line);
    this.#host.message(line, this.#id);
  }

  #resume(): void {
    const last_id = this.#last_id;
    if (last_id === undefined || this.#resumed >= MAX_RESUMES) return this.#fail('UPSTREAM_BROKEN');
    this.#resumed += 1;
    this.#wait = this.#options.clock.timer(this.#retry_ms, () => {
      if (!this.#over) this.start('get', [...this.#host.fields(), 'last-event-id', last_id], undefined);
    });
  }

  #fail(code: ErrorCode): void {
    if (this.#over) return;
    this.stop();
    this.#host.done(this.#id, code);
  }
}

/** A session id as MCP wants it: visible ASCII. */
const isSession = (session: string | undefined): boolean => session === undefined || isVisible(session, 4096);

function ignore(): void {}

/** Statuses by which a server says that what it was sent is nothing that it knows. */
const NOT_MCP: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 422]);
const LINGER_MS = 250;
const MAX_RESUMES = 5;

/** Until a stream is opened again, unless the server says otherwise; at most `MAX_RETRY_MS`. */
export const RETRY_MS = 1_000;
export const MAX_RETRY_MS = 30_000;
