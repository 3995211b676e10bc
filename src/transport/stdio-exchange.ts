import type { Clock } from '../contract/clock.js';
import type { AnswerWriter, Call, Exchange, HeaderList, MessageWriter } from '../contract/runtime.js';
import type { EndReason } from '../contract/telemetry.js';
import { CallDeadline, type CallTimes } from '../core/run/call-deadline.js';
import { GatewayError } from '../errors/error.js';
import { errorText } from '../wire/rpc.js';

/** What an exchange needs of the connection that it is a part of. */
export interface StdioLine extends CallTimes {
  readonly clock: Clock;
  /** True when no more input comes. */
  closing(): boolean;
  /** Sends one message, JSON text. False: the reader is behind. */
  write(json: string): boolean;
  /** The exchange is over: told once. */
  over(exchange: StdioExchange): void;
}

/** The client's half of one request on a line that many share. It ends once; nothing is said about it after that. */
export class StdioExchange implements Exchange {
  readonly accepts_events = true;
  readonly #line: StdioLine;
  readonly #id: string | undefined;
  readonly #request_id: string;
  readonly #deadline: CallDeadline;
  /** True for `subscriptions/listen`, which ends by its source, its client or the end of the line. */
  readonly listens: boolean;
  #resume: (() => void) | undefined;
  #asks = false;
  #over = false;

  constructor(call: Call, line: StdioLine) {
    this.#line = line;
    this.#id = call.kind === 'request' ? call.id : undefined;
    this.#request_id = call.head.id;
    this.listens = call.method === 'subscriptions/listen';
    this.#deadline = new CallDeadline(line.clock, line);
  }

  get ended(): boolean {
    return this.#over;
  }

  /** Whether a cancellation that names this id, parsed, means this request. */
  isOf(id: unknown): boolean {
    return this.#id !== undefined && JSON.parse(this.#id) === id;
  }

  upstreamStarted(): void {
    if (!this.listens) this.#deadline.watch(() => this.#stop('deadline', () => this.fail(this.#deadline.error)));
  }

  upstreamResponded(): void {}

  waitsFor(detail: string | undefined): void {
    this.#deadline.waitsFor(detail);
  }

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#deadline.onCancel(cancel);
  }

  progressed(): void {
    this.#deadline.progressed();
  }

  inputRequested(): void {
    this.#asks = true;
    this.#deadline.inputRequested();
    if (this.#line.closing()) queueMicrotask(() => this.inputEnded());
  }

  respond(_status: number, _headers: HeaderList, body: Uint8Array): void {
    this.#last(toText(body));
  }

  stream(): AnswerWriter {
    throw new TypeError('a server in process answers whole, or by events');
  }

  events(): MessageWriter | undefined {
    if (this.#over) return undefined;
    return {
      write: (message) => !this.#over && this.#line.write(toText(message)),
      onDrain: (resume) => {
        this.#resume = resume;
      },
      end: () => this.#end(),
    };
  }

  accept(): void {
    this.#end();
  }

  fail(error: GatewayError): void {
    this.#last(errorText(error, this.#id, this.#request_id));
  }

  /** The reader has caught up. */
  resume(): void {
    this.#resume?.();
  }

  /** The client does not want the answer any more, or cannot get it. */
  leave(reason: EndReason): void {
    this.#end(reason);
  }

  /** No more input comes: a subscription is completed, and a request that waits for an answer of the client is given up. */
  inputEnded(): void {
    if (this.listens) this.#stop('drain', () => this.#end());
    else if (this.#asks) this.#stop('client', () => this.fail(new GatewayError('DRAINING')));
  }

  #stop(reason: EndReason, tell: () => void): void {
    this.#deadline.stop(reason);
    tell();
  }

  #last(json: string): void {
    if (this.#over) return;
    this.#line.write(json);
    this.#end();
  }

  #end(stopped?: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#resume = undefined;
    this.#line.over(this);
    this.#deadline.end(stopped);
  }
}

function toText(message: Uint8Array | string): string {
  if (typeof message === 'string') return message;
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString('utf8');
}
