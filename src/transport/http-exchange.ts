import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../contract/clock.js';
import type { TransportFault, TransportOutcome } from '../contract/transport.js';
import { GatheredBytes, withoutBom } from '../wire/bytes.js';
import { essenceOf, listedIn } from '../wire/field.js';
import { SseParser } from '../wire/sse.js';
import { judgeAnswer, spellsId } from '../wire/summary.js';
import { broken, refused, rpcError } from './http-faults.js';
import { DONE } from './outcomes.js';

/** What comes to the client as one message. */
export interface HttpRaw {
  /** Of the answer that carries it; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface HttpExchangeParts {
  readonly origin: string;
  readonly clock: Clock;
  /** Raw JSON of the id that has to be answered; undefined when nothing has. */
  readonly id: string | undefined;
  /** Of a whole answer, and of one event of an endless one. */
  readonly max_response_bytes: number;
  /** The stream has no natural end: only its events are bounded. */
  readonly endless: boolean;
  receive(raw: HttpRaw): void;
  /** The answer is an event stream. */
  streaming(): void;
  /** The exchange is over. `reusable`: the connection is as good as new. Told once, after `done` is settled or with it. */
  over(reusable: boolean): void;
}

/** One HTTP request and its answer, whole or as events. undici calls the `on…` methods. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<TransportOutcome<void>>;
  /** The last event id of the stream, and how long the client should wait before it resumes. */
  last_event_id: string | undefined;
  retry_ms: number | undefined;
  readonly #parts: HttpExchangeParts;
  #settle: (outcome: TransportOutcome<void>) => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #sse: SseParser | undefined;
  readonly #body = new GatheredBytes();
  #bytes = 0;
  #answered = false;
  #stopped: TransportFault | undefined;
  #linger: Timer | undefined;
  #over = false;

  constructor(parts: HttpExchangeParts) {
    this.#parts = parts;
    this.done = new Promise((resolve) => (this.#settle = resolve));
  }

  /** True once nothing of it is under way; a request that was not sent by then must not be. */
  get over(): boolean {
    return this.#over;
  }

  /** True once the head of the answer has come. */
  get began(): boolean {
    return this.#status !== 0;
  }

  /** Ends it, also before it is sent or connected: the connection is closed, and the outcome is this fault. */
  stop(fault: TransportFault): void {
    if (this.#over || this.#stopped !== undefined) return;
    this.#stopped = fault;
    this.#settle({ ok: false, fault });
    if (this.#controller === undefined) this.#leave(false);
    else this.#controller.abort(STOPPED);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped !== undefined) controller.abort(STOPPED);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerFields): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = toRecord(headers);
    const { max_response_bytes, endless } = this.#parts;
    if (this.#succeeded && essenceOf(this.#headers['content-type'] ?? '') === 'text/event-stream') {
      this.#parts.streaming();
      this.#sse = new SseParser({
        max_event_bytes: max_response_bytes,
        onEvent: ({ data, has_data, event, id, retry }) => {
          if (id !== undefined) this.last_event_id = id;
          if (retry !== undefined) this.retry_ms = retry;
          // A priming event has an id and empty data.
          if (has_data && data.length > 0 && (event === undefined || event === 'message')) this.#receive(withoutBom(data));
        },
        onTooLarge: () => this.stop(this.#tooLarge('an event of the answer', ' or 4096 lines')),
      });
    } else if (!endless && Number(this.#headers['content-length'] ?? 0) > max_response_bytes) this.stop(this.#tooLarge());
    if (this.#stopped === undefined) this.#judgeHead();
  }

  /** What the head settles: a message that needs no answer is accepted with it, and a refusal waits little for its words. */
  #judgeHead(): void {
    const { id, endless, clock } = this.#parts;
    if (!this.#succeeded) {
      this.#linger = clock.timer(REFUSAL_MS, () => {
        this.#settle(this.#outcome());
        this.#controller?.abort(STOPPED);
      });
    } else if (id === undefined && !endless) this.#accept();
  }

  /** The outcome is settled; the rest of the answer is read for a moment, then the connection is closed. */
  #accept(): void {
    this.#answered = true;
    this.#settle(DONE);
    this.#linger ??= this.#parts.clock.timer(LINGER_MS, () => this.#controller?.abort(STOPPED));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stopped !== undefined) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#parts.max_response_bytes && !(this.#parts.endless && this.#sse !== undefined)) this.stop(this.#tooLarge());
    else if (this.#sse === undefined) this.#body.append(chunk);
    else this.#sse.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#stopped === undefined) this.#settle(this.#outcome());
    this.#leave(this.#stopped === undefined && this.#sse === undefined && isFramed(this.#headers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // A stream may be cut once its answer has come.
    if (this.#stopped === undefined && !this.#answered) {
      this.#settle({ ok: false, fault: broken(error, this.#parts.origin, this.began) });
    }
    this.#leave(false);
  }

  get #succeeded(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  #outcome(): TransportOutcome<void> {
    if (!this.#succeeded) return { ok: false, fault: refused({ status: this.#status, headers: this.#headers, body: this.#whole() }) };
    const { id } = this.#parts;
    if (this.#sse === undefined && id !== undefined) {
      const type = this.#headers['content-type'];
      if (essenceOf(type ?? '') !== 'application/json') return { ok: false, fault: this.#noMessage(type) };
      const body = this.#whole();
      const rpc = isAnswer(body, id) ? undefined : rpcError(body.toString('utf8'));
      if (rpc !== undefined)
        return {
          ok: false,
          fault: { code: 'BROKEN', message: `the server answered an error without the request's id: ${rpc.message}`, rpc },
        };
      this.#receive(body);
    }
    if (id === undefined || this.#answered) return DONE;
    return {
      ok: false,
      fault: { code: this.#sse === undefined ? 'BROKEN' : 'ENDED', message: 'the answer ended without a response to the request' },
    };
  }

  #receive(body: Uint8Array): void {
    if (this.#stopped !== undefined) return;
    const { id } = this.#parts;
    // An array is a batch of 2025-03-26: each caller finds its answer in it.
    if (id !== undefined && !this.#answered && (body[0] === OPEN_ARRAY || isAnswer(body, id))) this.#accept();
    this.#parts.receive({ headers: this.#headers, body });
  }

  #leave(reusable: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#linger?.cancel();
    this.#body.clear();
    this.#parts.over(reusable);
  }

  #noMessage(type: string | undefined): TransportFault {
    const what =
      this.#bytes === 0
        ? `${this.#status} and nothing else`
        : `${this.#status} with ${type === undefined ? 'no content type' : `content type ${JSON.stringify(type)}`}`;
    return { code: 'BROKEN', message: `the server answered ${what}, neither JSON nor an event stream: is this an MCP endpoint?` };
  }

  /** The body, which may begin with a byte order mark (RFC 8259 section 8.1). */
  #whole(): Buffer {
    const { buffer, byteOffset, byteLength } = withoutBom(this.#body.take());
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  #tooLarge(what = 'the answer', more = ''): TransportFault {
    return { code: 'TOO_LARGE', message: `${what} has more than max_response_bytes (${this.#parts.max_response_bytes})${more}` };
  }
}

const STOPPED = new Error('stopped');
const OPEN_ARRAY = 0x5b;
/** After what was awaited the answer should end; a server that leaves it open is not waited for. */
const LINGER_MS = 1000;
/** From the head of a refusal to the end of its body. */
const REFUSAL_MS = 2000;

function isAnswer(body: Uint8Array, id: string): boolean {
  const answer = judgeAnswer(body);
  return answer.kind === 'response' && spellsId(answer.id, id);
}

/** A body of declared length, on a connection that the server keeps. */
function isFramed(headers: Readonly<Record<string, string>>): boolean {
  if (headers['transfer-encoding'] !== undefined || !/^\d+$/.test(headers['content-length'] ?? '')) return false;
  return !listedIn(headers.connection ?? '').includes('close');
}

/** As undici tells the fields of an answer: lower-case names, a list of what came more than once. */
type AnswerFields = Readonly<Record<string, string | readonly string[] | undefined>>;

function toRecord(headers: AnswerFields): Readonly<Record<string, string>> {
  const record: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) record[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return record;
}
