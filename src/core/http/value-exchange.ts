import type { HttpResponse, HttpStream } from '../../contract/http.js';
import type { AnswerWriter, Exchange, HeaderList, MessageWriter } from '../../contract/runtime.js';
import type { EndReason } from '../../contract/telemetry.js';
import { GatewayError } from '../../errors/error.js';
import { errorText } from '../../wire/rpc.js';
import { encodeSse } from '../../wire/sse.js';
import type { CallDeadline } from '../run/call-deadline.js';
import type { PreparedCall } from './admit.js';
import { emptyResponse, errorResponse, jsonResponse, toFields } from './response.js';
import { ValueStream } from './value-stream.js';

/** The client's half of one call, as values: a response, or a stream whose chunks somebody pulls. It ends once. */
export class ValueExchange implements Exchange {
  readonly accepts_events: boolean;
  /** Resolves with the head of the answer. For a client that disconnected it is a 503, which is never sent. */
  readonly answer: Promise<HttpResponse | HttpStream>;
  readonly #prepared: PreparedCall;
  readonly #max_bytes: number;
  readonly #deadline: CallDeadline;
  readonly #ended: () => void;
  #resolve: (answer: HttpResponse | HttpStream) => void = () => undefined;
  #release: (() => void) | undefined;
  #stream: ValueStream | undefined;
  #answered = false;
  #over = false;

  /** The creator of `deadline` watches it. `ended` is called once, at the end of the answer. */
  constructor(prepared: PreparedCall, max_bytes: number, deadline: CallDeadline, ended: () => void = () => undefined) {
    this.#prepared = prepared;
    this.#max_bytes = max_bytes;
    this.#deadline = deadline;
    this.#ended = ended;
    this.accepts_events = prepared.accepts_events;
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Leaves when the signal aborts, as long as the answer is not over. */
  leaveWith(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    if (signal.aborted) return this.abandon('client');
    const left = () => this.abandon('client');
    signal.addEventListener('abort', left, { once: true });
    this.#release = () => signal.removeEventListener('abort', left);
  }

  get ended(): boolean {
    return this.#over;
  }

  upstreamStarted(): void {}

  upstreamResponded(): void {}

  progressed(): void {
    this.#deadline.progressed();
  }

  waitsFor(detail: string | undefined): void {
    this.#deadline.waitsFor(detail);
  }

  inputRequested(): void {
    this.#deadline.inputRequested();
  }

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#deadline.onCancel(cancel);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array): void {
    if (!this.#take()) return;
    if (this.#prepared.accepts_json || status !== 200) this.#resolve(jsonResponse(status, body, this.#request_id, toFields(headers)));
    else this.#open(headers).push(encodeSse(body));
    this.#end();
  }

  stream(): AnswerWriter {
    throw new TypeError('a server in process answers whole, or by events');
  }

  events(headers: HeaderList): MessageWriter | undefined {
    if (!this.#take()) return undefined;
    const stream = this.#open(headers);
    return {
      write: (message, fields) => stream.push(encodeSse(message, fields)),
      onDrain: (resume) => stream.onDrain(resume),
      end: () => this.#end(),
    };
  }

  accept(status = 202, headers: HeaderList = []): void {
    if (!this.#take()) return;
    this.#resolve(emptyResponse(status, this.#request_id, toFields(headers)));
    this.#end();
  }

  fail(error: GatewayError): void {
    if (this.#over) return;
    if (this.#stream === undefined) this.#resolve(errorResponse(error, this.#id, this.#request_id));
    else this.#stream.push(encodeSse(errorText(error, this.#id, this.#request_id)));
    this.#end();
  }

  /** The id of a client's response is one that the server chose: no error has it. */
  get #id(): string | undefined {
    const { kind, id } = this.#prepared.call;
    return kind === 'request' ? id : undefined;
  }

  get #request_id(): string {
    return this.#prepared.call.head.id;
  }

  /** False: it was answered already. */
  #take(): boolean {
    if (this.#over || this.#answered) return false;
    this.#answered = true;
    return true;
  }

  #open(headers: HeaderList): ValueStream {
    const stream = new ValueStream(this.#max_bytes, (reason) => this.abandon(reason));
    this.#stream = stream;
    const fields = { ...toFields(headers), ...EVENT_FIELDS, 'x-request-id': this.#request_id };
    this.#resolve({ kind: 'stream', status: 200, headers: fields, chunks: stream });
    return stream;
  }

  /** The reader of the answer is gone: the call is cancelled. */
  protected abandon(reason: EndReason): void {
    if (this.#over) return;
    this.#end(reason);
    this.#resolve(errorResponse(new GatewayError('DRAINING'), this.#id, this.#request_id));
  }

  #end(stopped?: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
    this.#release?.();
    this.#stream?.finish();
    this.#deadline.end(stopped);
  }
}

const EVENT_FIELDS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
