import type { Clock, Timer } from '../../contract/clock.js';
import type { Ask, InputResponses } from '../../contract/handler.js';
import type { Exchange } from '../../contract/runtime.js';
import type { TaskChange, TaskRecord, TaskStore } from '../../contract/tasks.js';
import { CODES, type ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import type { CancelToken, Executor } from '../../executor/executor.js';
import { errorObject } from '../../wire/rpc.js';
import { CallContext, type CallHost } from '../call/context.js';
import type { Reply, TaskJob, TaskRules } from '../call/reply.js';
import type { CoreRequest, InputRound } from '../call/request.js';
import { sendReply } from '../run/call.js';
import { taskMembers } from './task-text.js';

/** What one run needs of the tasks that it may become one of. */
export interface TaskRunDeps {
  readonly clock: Clock;
  readonly executor: Executor;
  /** The executor's scope. */
  readonly scope: string;
  readonly max_result_bytes: number;
  /** Asks the store; rejects when it does. */
  store<T>(request: CoreRequest, ask: (store: TaskStore) => T | PromiseLike<T>): Promise<T>;
  newTask(request: CoreRequest, rules: TaskRules, change: TaskChange): TaskRecord;
  began(id: string, run: TaskRun): void;
  ended(id: string): void;
}

/**
 * One call of a tool that may become a task. For `immediate_ms` it is a call like any other; a tool that has not answered then goes on without its
 * client, and the client gets the task.
 */
export class TaskRun implements CallHost {
  readonly #deps: TaskRunDeps;
  readonly #request: CoreRequest;
  readonly #job: TaskJob;
  /** Undefined once the client has its answer. */
  #exchange: Exchange | undefined;
  #token: CancelToken | undefined;
  #timer: Timer | undefined;
  #task: TaskRecord | undefined;
  /** Changes are made one after the other. */
  #changes: Promise<void> = Promise.resolve();
  #asked:
    | { readonly ask: Ask; readonly prefix: string; readonly left: Set<string>; readonly responses: Record<string, InputResponses[string]> }
    | undefined;
  #rounds = 0;
  /** How far the tool is, in its own words. */
  #message: string | undefined;
  #over = false;

  constructor(deps: TaskRunDeps, request: CoreRequest, job: TaskJob, exchange: Exchange) {
    this.#deps = deps;
    this.#request = request;
    this.#job = job;
    this.#exchange = exchange;
  }

  start(): void {
    const { immediate_ms } = this.#job.task;
    this.#exchange?.onCancel(() => this.cancel());
    this.#exchange?.upstreamStarted();
    if (immediate_ms === 0) this.#become({ status: 'working' });
    else this.#timer = this.#deps.clock.timer(immediate_ms, () => this.#become({ status: 'working' }));
    this.#submit(this.#job.round);
  }

  get signal(): AbortSignal {
    return (this.#token as CancelToken).signal;
  }

  get cancelled(): boolean {
    return this.#token?.cancelled ?? false;
  }

  progressed(): void {}

  notify(): void {}

  progress(json: string): void {
    const { progress, total, message } = (JSON.parse(json) as { readonly params: { progress: number; total?: number; message?: string } })
      .params;
    const done = total === undefined ? `${progress}` : `${progress}/${total}`;
    this.#message = message === undefined ? done : `${done} ${message}`;
    if (this.#task !== undefined) this.#change({ message: this.#message });
  }

  /** The client has cancelled it, its time is over, or its call has no client any more. */
  cancel(): void {
    if (this.#over) return;
    this.#stop();
    this.#change({ status: 'cancelled', requests: undefined });
    this.#deps.executor.cancel(this.#deps.scope, this.#request.request_id);
  }

  /** Takes the client's answers to what the task asks; keys that nobody asked for are ignored. */
  answer(given: InputResponses): void {
    const asked = this.#asked;
    if (asked === undefined || this.#over) return;
    for (const key of Object.keys(given)) {
      if (!asked.left.delete(key)) continue;
      Object.defineProperty(asked.responses, key.slice(asked.prefix.length), { value: given[key], enumerable: true });
    }
    if (asked.left.size > 0) return this.#change({ requests: requestsOf(asked.ask, asked.prefix, asked.left) });
    this.#asked = undefined;
    this.#change({ status: 'working', requests: undefined });
    this.#submit({ responses: asked.responses, state: asked.ask.state });
  }

  /** The last change has been stored. */
  get settled(): Promise<void> {
    return this.#changes;
  }

  #submit(round: InputRound | undefined): void {
    const { caller, request_id } = this.#request;
    this.#deps.executor
      .submit((token) => this.#work(token, round), { scope: this.#deps.scope, id: request_id, fairness_key: caller })
      .then(
        (reply) => this.#replied(reply),
        (fault: { readonly code?: unknown }) => this.#refused(fault.code === 'OVERLOADED' ? 'OVERLOADED' : 'DRAINING'),
      );
  }

  #work(token: CancelToken, round: InputRound | undefined): Reply | Promise<Reply> {
    this.#token = token;
    return this.#job.run(new CallContext(this.#job.request, this, round));
  }

  #replied(reply: Reply): void {
    if (this.#over) return;
    if (reply.kind === 'ask') return this.#ask(reply.ask);
    if (this.#answers(reply)) return;
    this.#stop();
    if (reply.kind === 'error') return this.#change({ status: 'failed', error: reply.json });
    const large = Buffer.byteLength(reply.json) > this.#deps.max_result_bytes;
    this.#change(
      large
        ? { status: 'failed', error: failure('RUNTIME_FAILED', 'The result is too large.') }
        : { status: 'completed', result: reply.json },
    );
  }

  /** True: the call was answered by itself, before it became a task. */
  #answers(reply: Exclude<Reply, { readonly kind: 'ask' }>): boolean {
    const exchange = this.#exchange;
    if (exchange === undefined || this.#task !== undefined) return false;
    this.#stop();
    this.#exchange = undefined;
    exchange.upstreamResponded();
    sendReply(exchange, undefined, this.#request.id, reply);
    return true;
  }

  #ask(ask: Ask): void {
    if (this.#job.task.asks === 'before') {
      const reply = this.#job.asked(ask);
      if (reply.kind !== 'ask' && this.#answers(reply)) return;
      this.#stop();
      return this.#change({ status: 'failed', error: failure('RUNTIME_FAILED', 'The tool asked its client after it had become a task.') });
    }
    this.#rounds += 1;
    const prefix = `${this.#rounds}.`;
    const keys = Object.keys(ask.requests ?? {}).map((key) => `${prefix}${key}`);
    this.#asked = { ask, prefix, left: new Set(keys), responses: {} };
    const change: TaskChange = { status: 'input_required', requests: requestsOf(ask, prefix, this.#asked.left) };
    if (keys.length === 0) this.answer({});
    else if (this.#task === undefined) this.#become(change);
    else this.#change(change);
  }

  #refused(code: ErrorCode): void {
    if (this.#over) return;
    const exchange = this.#exchange;
    this.#stop();
    if (this.#task !== undefined) return this.#change({ status: 'failed', error: failure(code) });
    this.#exchange = undefined;
    exchange?.fail(new GatewayError(code));
  }

  /** The call becomes a task: its client gets it once the store has it. */
  #become(change: TaskChange): void {
    const exchange = this.#exchange;
    if (exchange === undefined || exchange.ended || this.#task !== undefined || this.#over) return;
    this.#timer?.cancel();
    const task = this.#deps.newTask(this.#request, this.#job.task, { ...change, message: this.#message });
    this.#task = task;
    this.#changes = this.#deps
      .store(this.#request, async (store) => {
        if (!(await store.create(task))) throw new GatewayError('OVERLOADED');
      })
      .then(
        () => {
          this.#exchange = undefined;
          if (!this.#over) {
            this.#deps.began(task.id, this);
            this.#timer = this.#deps.clock.timer(task.ttl_ms, () => this.cancel());
          }
          exchange.upstreamResponded();
          const json = `{"resultType":"task",${taskMembers(task)}}`;
          sendReply(exchange, undefined, this.#request.id, { kind: 'result', json, outcome: 'ok' });
        },
        (error: unknown) => {
          this.#exchange = undefined;
          this.#stop();
          this.#deps.executor.cancel(this.#deps.scope, this.#request.request_id);
          exchange.fail(error instanceof GatewayError ? error : new GatewayError('RUNTIME_FAILED'));
        },
      );
  }

  /** Stores a change after those before it. */
  #change(change: TaskChange): void {
    this.#changes = this.#changes.then(async () => {
      const task = this.#task;
      if (task === undefined) return;
      const changed = await this.#deps
        .store(this.#request, (store) => store.update(task.id, task.version, { ...change, updated_at_ms: this.#deps.clock.now_ms() }))
        .catch(() => undefined);
      this.#task = changed ?? task;
      if (changed === undefined) this.#lost();
    });
  }

  /** The store has forgotten it. */
  #lost(): void {
    this.#stop();
    this.#deps.executor.cancel(this.#deps.scope, this.#request.request_id);
  }

  #stop(): void {
    this.#over = true;
    this.#asked = undefined;
    this.#timer?.cancel();
    if (this.#task !== undefined) this.#deps.ended(this.#task.id);
  }
}

function requestsOf(ask: Ask, prefix: string, keys: ReadonlySet<string>): TaskRecord['requests'] {
  const named = Object.entries(ask.requests ?? {}).map(([key, request]) => [`${prefix}${key}`, request] as const);
  return Object.fromEntries(named.filter(([key]) => keys.has(key)));
}

function failure(code: ErrorCode, detail?: string): string {
  const { rpc, message } = CODES[code];
  return errorObject(rpc, detail === undefined ? message : `${message} ${detail}`, { code });
}
