import type { Ask } from '../../contract/handler.js';
import type { Exchange, HeaderList, MessageWriter } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import type { CancelToken, Executor } from '../../executor/executor.js';
import { errorResponseText, resultText } from '../../wire/rpc.js';
import { CallContext, type CallHost } from '../call/context.js';
import { faultReply, type Job, type Reply } from '../call/reply.js';
import type { CoreRequest, InputRound } from '../call/request.js';
import type { PendingInput, Questions } from './questions.js';

export const JSON_HEADERS: HeaderList = ['content-type', 'application/json'];

export interface RunParts {
  /** The executor's scope for requests whose cancellation is their own. */
  readonly scope: string;
  readonly executor: Executor;
  readonly questions: Questions;
  readonly rejected: ((reason: string) => void) | undefined;
}

/** One call of a handler: from the queue of the executor to the end of the answer. It owns the stream of the answer, if there is one. */
export class RunningCall implements CallHost {
  readonly #parts: RunParts;
  readonly #request: CoreRequest;
  readonly #job: Job;
  readonly #exchange: Exchange;
  #token: CancelToken | undefined;
  #asked: PendingInput | undefined;
  #stopped = false;
  #writer: MessageWriter | undefined;
  #slow = false;
  #latest: string | undefined;

  constructor(parts: RunParts, request: CoreRequest, job: Job, exchange: Exchange) {
    this.#parts = parts;
    this.#request = request;
    this.#job = job;
    this.#exchange = exchange;
  }

  start(): void {
    this.#exchange.onCancel(() => this.#stop());
    this.#exchange.upstreamStarted();
    this.#submit(this.#job.round);
  }

  /** The caller no longer waits: the exchange has ended and the client has its reason. */
  #stop(): void {
    this.#stopped = true;
    this.#asked?.abandon();
    this.#parts.executor.cancel(this.#parts.scope, this.#request.request_id);
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

  #submit(round: InputRound | undefined): void {
    const { caller, request_id } = this.#request;
    this.#parts.executor
      .submit((token) => this.#work(token, round), { scope: this.#parts.scope, id: request_id, fairness_key: caller })
      .then(
        (reply) => this.#replied(reply),
        (fault: { readonly code?: unknown }) => this.#refused(fault),
      );
  }

  #work(token: CancelToken, round: InputRound | undefined): Reply | Promise<Reply> {
    this.#token = token;
    return this.#job.run(new CallContext(this.#request, this, round));
  }

  #replied(reply: Reply): void {
    if (this.#stopped) return;
    if (reply.kind === 'ask') return this.#ask(reply.ask);
    this.#exchange.upstreamResponded();
    sendReply(this.#exchange, this.#writer, this.#request.id, reply);
  }

  #refused(fault: { readonly code?: unknown }): void {
    this.#parts.rejected?.(String(fault.code ?? 'failed').toLowerCase());
    if (this.#stopped) return;
    if (fault.code === 'OVERLOADED') return this.#overloaded();
    this.#exchange.fail(new GatewayError(FAULTS[String(fault.code)] ?? 'RUNTIME_FAILED'));
  }

  /** A legacy client is asked by requests on this call's own stream; then the handler runs again. */
  #ask(ask: Ask): void {
    if (!this.#exchange.accepts_events) {
      const detail = 'The client takes no event stream, so it cannot be asked.';
      return this.#exchange.fail(new GatewayError('MISSING_CAPABILITY', { detail }));
    }
    const { identity } = this.#request;
    const questions = Object.entries(ask.requests ?? {}).map(([key, { method, ...rest }]) => {
      const { params } = rest as { readonly params?: object };
      return { key, method, params: params === undefined ? undefined : JSON.stringify(params) };
    });
    const asked = this.#parts.questions.ask(questions, {
      identity,
      send: (json) => this.#event(json),
      questioned: () => this.#exchange.inputRequested(),
    });
    if (asked === undefined) return this.#overloaded();
    this.#asked = asked;
    asked.answers.then(
      (answers) => {
        this.#asked = undefined;
        if (this.#stopped) return;
        if (answers.kind === 'refused') {
          const detail = 'The client answered a question of the server with an error.';
          return this.#replied(faultReply(this.#request, { code: 'MISSING_CAPABILITY', detail }));
        }
        const responses = Object.fromEntries(
          [...answers.responses].map(([key, json]) => [key, JSON.parse(json) as Readonly<Record<string, unknown>>]),
        );
        this.#submit({ responses, state: ask.state });
      },
      () => undefined,
    );
  }

  #overloaded(): void {
    this.#exchange.fail(new GatewayError('OVERLOADED'));
  }

  #event(json: string): void {
    if (!this.#exchange.accepts_events || this.#exchange.ended) return;
    if (this.#writer === undefined) {
      this.#writer = this.#exchange.events([]);
      this.#writer?.onDrain(() => this.#resume());
    }
    this.#slow = this.#writer?.write(json) === false;
  }

  #resume(): void {
    this.#slow = false;
    const latest = this.#latest;
    this.#latest = undefined;
    if (latest !== undefined && !this.#exchange.ended) this.#event(latest);
  }
}

/** The answer to the client when the executor abandoned a call and the exchange did not know. */
const FAULTS: Readonly<Record<string, ErrorCode>> = { CANCELLED: 'DRAINING', SHUTDOWN: 'DRAINING', DEADLINE: 'DEADLINE' };

/** Sends an answer whole: as JSON, or as the last event of the stream that had begun. `id` is raw JSON text. */
export function sendReply(
  exchange: Exchange,
  writer: MessageWriter | undefined,
  id: string,
  reply: Exclude<Reply, { readonly kind: 'ask' }>,
  headers: HeaderList = JSON_HEADERS,
): void {
  const json = reply.kind === 'result' ? resultText(id, reply.json) : errorResponseText(id, reply.json);
  const outcome = reply.kind === 'result' ? reply.outcome : 'rpc_error';
  const rpc = reply.kind === 'error' ? reply.rpc : undefined;
  if (writer === undefined) {
    exchange.respond(reply.kind === 'error' ? reply.status : 200, headers, Buffer.from(json), outcome, rpc);
    return;
  }
  writer.write(json);
  writer.end('source', outcome, rpc);
}
