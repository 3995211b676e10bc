import type { InputRequest } from './handler.js';

/** MCP extension io.modelcontextprotocol/tasks, "Task Status". The last three are terminal. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** One task as a store keeps it. */
export interface TaskRecord {
  /** What the client calls it: visible ASCII with 128 random bits. */
  readonly id: string;
  /** Who began it; empty: nobody that a gate has identified. Nobody else can see it. */
  readonly owner: string;
  readonly tool: string;
  readonly status: TaskStatus;
  /** For people, e.g. how far it is. */
  readonly message: string | undefined;
  /** Milliseconds since the epoch. */
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  /** From `created_at_ms` until the task may be forgotten. */
  readonly ttl_ms: number;
  /** How often a client should ask. */
  readonly poll_ms: number;
  /** What the client has to answer, by key, while `input_required`. */
  readonly requests: Readonly<Record<string, InputRequest>> | undefined;
  /** JSON text of the result, once `completed`. */
  readonly result: string | undefined;
  /** JSON text of the error, once `failed`. */
  readonly error: string | undefined;
  /** Grows by one with each change. */
  readonly version: number;
}

/** What may change of a task. A member that is there replaces the old one, `undefined` too. */
export type TaskChange = Partial<Pick<TaskRecord, 'status' | 'message' | 'requests' | 'result' | 'error' | 'updated_at_ms'>>;

/**
 * Keeps tasks (MCP extension io.modelcontextprotocol/tasks). What `create` has taken `get` finds at once, for `ttl_ms` at least. A method that throws
 * or rejects is a failure of the server: the client is told -32603, and the log the reason.
 */
export interface TaskStore {
  /** False: there is no room, and none can be made among tasks that have ended. The client is told `OVERLOADED`. */
  create(task: TaskRecord): boolean | Promise<boolean>;
  get(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined>;
  /** Changes a task that has this version still; `version` then grows by one. Undefined: it has another version, or is gone. */
  update(id: string, version: number, change: TaskChange): TaskRecord | undefined | Promise<TaskRecord | undefined>;
  /** Tells each change of a task from now on. Returns the way to hear no more. */
  watch(id: string, told: (task: TaskRecord) => void): () => void;
}

/**
 * How a tool becomes a task (MCP extension io.modelcontextprotocol/tasks): its handler stays as it is. `context.progress` becomes the task's message, `context.log` is dropped,
 * and `context.signal` aborts when the client cancels the task or its time is over.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { setTimeout as sleep } from 'node:timers/promises';
 * import { createDispatch, defineServer, systemClock } from 'portcullis/server';
 *
 * const report = {
 *   name: 'report',
 *   task: { when: 'declared', ttl_ms: 600_000 },
 *   async run(_input: object, { signal }: { readonly signal: AbortSignal }) {
 *     await sleep(1, undefined, { signal });
 *     return 'The report.';
 *   },
 * } as const;
 * const server = defineServer({ name: 'x', version: '1.0.0', tools: [report] });
 * const { result } = await createDispatch(server, { clock: systemClock })({ method: 'server/discover' });
 * assert.deepEqual(result?.capabilities, { tools: {}, logging: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } });
 * ```
 */
export interface ToolTask {
  /**
   * `declared`: for clients that declare the extension; for others the call waits for its answer. `always`: others are told -32021, but legacy clients, who cannot declare it, wait.
   */
  readonly when: 'declared' | 'always';
  /**
   * When the tool may ask the client. `before`, the default: while the call has not become a task yet, by `input_required`. `within`: the task asks, and `tasks/update` answers.
   */
  readonly asks?: 'before' | 'within';
  /** Milliseconds that the task is kept, from its beginning; default 3 600 000. A tool that still runs then is cancelled. */
  readonly ttl_ms?: number;
  /** Milliseconds between two `tasks/get` that the client is advised to wait; default 1 000. */
  readonly poll_ms?: number;
  /** A tool that answers within so many milliseconds answers the call itself; default 50. 0: every call becomes a task. */
  readonly immediate_ms?: number;
}

/** Tasks of one server. */
export interface ServerTasks {
  /** Default: in memory, for as long as the process lives. */
  readonly store?: TaskStore;
  /** Tasks that the store in memory keeps; default 1 000. For one more the oldest that has ended is forgotten. */
  readonly max?: number;
  /** Those of one identified caller; default 64. */
  readonly max_per_caller?: number;
  /** Bytes of one result; default 1 000 000. A larger one fails the task. */
  readonly max_result_bytes?: number;
}
