import { randomBytes } from 'node:crypto';
import type { Clock } from '../../contract/clock.js';
import type { InputResponses } from '../../contract/handler.js';
import type { Exchange } from '../../contract/runtime.js';
import type { TaskChange, TaskRecord, TaskStore } from '../../contract/tasks.js';
import type { Executor } from '../../executor/executor.js';
import { isObject } from '../call/params.js';
import { faultReply, type Reply, resultOf, type TaskJob, type TaskRules } from '../call/reply.js';
import type { CoreRequest } from '../call/request.js';
import { declaresTasks, tasksMissing } from '../call/tasks-declared.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { sendReply } from '../run/call.js';
import { createMemoryTaskStore, hasEnded } from './memory-store.js';
import { TaskRun, type TaskRunDeps } from './task-run.js';
import { detailMembers, taskMembers } from './task-text.js';

export interface TasksDeps {
  readonly clock: Clock;
  readonly executor: Executor;
  /** The executor's scope. */
  readonly scope: string;
  /** Told what the store threw. */
  failed(request: CoreRequest, error: unknown): void;
}

/** The tasks of one server: those whose tools run here, and every task of the store for its owner. */
export class Tasks {
  readonly #server: ServerRuntime;
  readonly #store: TaskStore;
  readonly #deps: TasksDeps;
  readonly #running = new Map<string, TaskRun>();
  readonly #run_deps: TaskRunDeps;

  constructor(server: ServerRuntime, deps: TasksDeps) {
    const { store, max = 1_000, max_per_caller = 64, max_result_bytes = 1_000_000 } = server.definition.tasks ?? {};
    this.#server = server;
    this.#deps = deps;
    this.#store = store ?? createMemoryTaskStore({ clock: deps.clock, max, max_per_caller });
    this.#run_deps = {
      ...deps,
      max_result_bytes,
      store: (request, ask) => this.#ask(request, ask),
      newTask: (request, rules, change) => newTask(request, rules, change, deps.clock.now_ms()),
      began: (id, run) => void this.#running.set(id, run),
      ended: (id) => void this.#running.delete(id),
    };
  }

  /** Runs a tool that may become a task. */
  start(request: CoreRequest, job: TaskJob, exchange: Exchange): void {
    new TaskRun(this.#run_deps, request, job, exchange).start();
  }

  /** Answers `tasks/get`, `tasks/update` or `tasks/cancel`; false: it is none of them. */
  handle(request: CoreRequest, exchange: Exchange): boolean {
    if (!METHODS.has(request.method) || request.dialect.era !== 'modern') return false;
    if (!declaresTasks(request)) sendReply(exchange, undefined, request.id, tasksMissing(request));
    else
      this.#serve(request).then(
        (reply) => exchange.ended || sendReply(exchange, undefined, request.id, reply),
        () => exchange.ended || sendReply(exchange, undefined, request.id, faultReply(request, { code: 'RUNTIME_FAILED' })),
      );
    return true;
  }

  async #serve(request: CoreRequest): Promise<Exclude<Reply, { readonly kind: 'ask' }>> {
    const { taskId, inputResponses } = request.params;
    const found = typeof taskId === 'string' ? await this.#ask(request, (store) => store.get(taskId)) : undefined;
    if (found === undefined || found.owner !== ownerOf(request))
      return faultReply(request, { code: 'COMPONENT_NOT_FOUND', detail: 'Unknown task.' });
    if (request.method === 'tasks/get') return this.#told(request, `${taskMembers(found)}${detailMembers(found)}`);
    const run = this.#running.get(found.id);
    if (request.method === 'tasks/cancel') {
      run?.cancel();
      if (run === undefined && !hasEnded(found)) await this.#orphan(request, found);
      await run?.settled;
      return this.#told(request, '');
    }
    if (!isObject(inputResponses) || !Object.values(inputResponses).every(isObject))
      return faultReply(request, {
        code: 'INVALID_ARGUMENTS',
        detail: 'params.inputResponses must hold one object for each answered request.',
      });
    run?.answer(inputResponses as InputResponses);
    await run?.settled;
    return this.#told(request, '');
  }

  /** A task that no process here runs: its end is written for whoever does. */
  async #orphan(request: CoreRequest, { id, version }: TaskRecord): Promise<void> {
    await this.#ask(request, (store) =>
      store.update(id, version, { status: 'cancelled', requests: undefined, updated_at_ms: this.#deps.clock.now_ms() }),
    );
  }

  #told(request: CoreRequest, members: string): Exclude<Reply, { readonly kind: 'ask' }> {
    return resultOf(this.#server, request, members) as Exclude<Reply, { readonly kind: 'ask' }>;
  }

  async #ask<T>(request: CoreRequest, ask: (store: TaskStore) => T | PromiseLike<T>): Promise<T> {
    try {
      return await ask(this.#store);
    } catch (error) {
      this.#deps.failed(request, error);
      throw error;
    }
  }
}

function newTask(request: CoreRequest, { ttl_ms, poll_ms }: TaskRules, change: TaskChange, now_ms: number): TaskRecord {
  return {
    id: randomBytes(16).toString('base64url'),
    owner: ownerOf(request),
    tool: request.name ?? '',
    status: 'working',
    message: undefined,
    created_at_ms: now_ms,
    updated_at_ms: now_ms,
    ttl_ms,
    poll_ms,
    requests: undefined,
    result: undefined,
    error: undefined,
    version: 1,
    ...change,
  };
}

/** Empty for a caller whom no gate identified. */
function ownerOf({ identity }: CoreRequest): string {
  return identity === undefined ? '' : JSON.stringify([identity.issuer, identity.principal, identity.client ?? '']);
}

const METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
