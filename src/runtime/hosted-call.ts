import type { Ask } from '../contract/handler.js';
import type { AnswerWriter, Exchange } from '../contract/runtime.js';
import { CallContext, type CallHost } from '../core/call/context.js';
import type { CoreRequest, Job, Reply } from '../core/call/request.js';
import type { Round } from '../core/call/rounds.js';
import { GatewayError } from '../errors/error.js';
import type { Asked, Questions } from './hosted-questions.js';
import { sendReply } from './hosted-reply.js';

/** What the executor gives to running work. */
export interface CancelToken {
  /** Made when it is first looked at. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
}

/** Where calls run: bounded, cancelled by scope and id. Rejects with a fault whose `code` is `OVERLOADED`, `DEADLINE` or `CANCELLED`. */
export interface CallExecutor {
  submit<T>(
    work: (token: CancelToken) => Promise<T> | T,
    options: { readonly scope: string; readonly id: string; readonly share: string },
  ): Promise<T>;
  cancel(scope: string, id: string): boolean;
  readonly load: { readonly running: number; readonly queued: number };
  drain(deadline_ms: number): Promise<unknown>;
}

export interface HostedParts {
  /** Config name of the runtime; the executor's scope. */
  readonly name: string;
  readonly executor: CallExecutor;
  readonly questions: Questions;
  readonly rejected: ((reason: string) => void) | undefined;
}

/** One call of a handler: from the queue of the executor to the end of the answer. It owns the stream of the answer, if there is one. */
export class HostedCall implements CallHost {
  readonly #parts: HostedParts;
  readonly #request: CoreRequest;
  readonly #job: Job;
  readonly #exchange: Exchange;
  #token: CancelToken | undefined;
  #asked: Asked | undefined;
  #stopped = false;
  #writer: AnswerWriter | undefined;
  #slow = false;
  #latest: string | undefined;

  constructor(parts: HostedParts, request: CoreRequest, job: Job, exchange: Exchange) {
    this.#parts = parts;
    this.#request = request;
    this.#job = job;
    this.#exchange = exchange;
  }

  start(): void {
    this.#exchange.onCancel(() => this.#stop());
    this.#exchange.handedOver();
    this.#submit(this.#job.round);
  }

  /** Nobody waits for the answer any more: whoever ended the exchange has told the client why. */
  #stop(): void {
    this.#stopped = true;
    this.#asked?.abandon();
    this.#parts.executor.cancel(this.#parts.name, this.#request.request_id);
  }

  get signal(): AbortSignal {
    return (this.#token as CancelToken).signal;
  }

  get cancelled(): boolean {
    return this.#token?.cancelled ?? false;
  }

  progressed(): void {
    this.#exchange.progressed();
  }

  notify(json: string): void {
    if (!this.#slow) this.#event(json);
  }

  progress(json: string): void {
    if (this.#slow) this.#latest = json;
    else this.#event(json);
  }

  #submit(round: Round | undefined): void {
    const { identity, request_id } = this.#request;
    const share = identity === undefined ? '' : `${identity.issuer}\n${identity.principal}`;
    this.#parts.executor
      .submit((token) => this.#work(token, round), { scope: this.#parts.name, id: request_id, share })
      .then(
        (reply) => this.#replied(reply),
        (fault: { readonly code?: unknown }) => this.#refused(fault),
      );
  }

  #work(token: CancelToken, round: Round | undefined): Reply | Promise<Reply> {
    this.#token = token;
    return this.#job.run(new CallContext(this.#request, this, round));
  }

  #replied(reply: Reply): void {
    if (this.#stopped) return;
    if (reply.kind === 'ask') return this.#ask(reply.ask);
    this.#exchange.handedBack();
    sendReply(this.#exchange, this.#writer, this.#request.id, reply);
  }

  #refused(fault: { readonly code?: unknown }): void {
    this.#parts.rejected?.(String(fault.code ?? 'failed').toLowerCase());
    if (this.#stopped) return;
    if (fault.code === 'OVERLOADED') return this.#overloaded();
    this.#exchange.fail(
      new GatewayError(fault.code === 'CANCELLED' ? 'DRAINING' : fault.code === 'DEADLINE' ? 'DEADLINE' : 'RUNTIME_FAILED'),
    );
  }

  /** A legacy client is asked by requests on this call's own stream; then the handler runs anew. */
  #ask(ask: Ask): void {
    if (!this.#exchange.accepts_events) {
      const detail = 'The client takes no event stream, so it cannot be asked.';
      return this.#exchange.fail(new GatewayError('MISSING_CAPABILITY', { detail }));
    }
    const { identity } = this.#request;
    const asked = this.#parts.questions.ask(ask, { identity, send: (json) => this.#event(json), progressed: () => this.progressed() });
    if (asked === undefined) return this.#overloaded();
    this.#asked = asked;
    asked.answers.then(
      (answers) => {
        this.#asked = undefined;
        if (this.#stopped) return;
        if (answers.kind === 'refused') this.#replied(answers.reply(this.#request));
        else this.#submit({ responses: answers.responses, state: ask.state });
      },
      () => undefined,
    );
  }

  #overloaded(): void {
    this.#exchange.fail(new GatewayError('OVERLOADED', { headers: { 'retry-after': '1' } }));
  }

  #event(json: string): void {
    if (!this.#exchange.accepts_events || this.#exchange.ended) return;
    if (this.#writer === undefined) {
      this.#writer = this.#exchange.events([]);
      this.#writer?.onDrain(() => this.#resume());
    }
    this.#slow = this.#writer?.write(Buffer.from(`event: message\ndata: ${json}\n\n`)) === false;
  }

  #resume(): void {
    this.#slow = false;
    const latest = this.#latest;
    this.#latest = undefined;
    if (latest !== undefined && !this.#exchange.ended) this.#event(latest);
  }
}
