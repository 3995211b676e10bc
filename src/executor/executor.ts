import type { Clock } from '../contract/clock.js';

/**
 * OVERLOADED: no slot and no place in the queue. DEADLINE: not done in time. CANCELLED: by its id, or its owner went away.
 * SHUTDOWN: the executor drains, or its drain ended the call.
 */
type ExecutorFaultCode = 'OVERLOADED' | 'DEADLINE' | 'CANCELLED' | 'SHUTDOWN';

/** Why the executor did not run a call, or gave it up. One frozen value for each code, without a stack: refusing is cheap. */
export class ExecutorFault extends Error {
  override readonly name = 'ExecutorFault';
  readonly code: ExecutorFaultCode;

  constructor(code: ExecutorFaultCode, message: string) {
    super(message);
    this.code = code;
    this.stack = `ExecutorFault: ${message}`;
    Object.freeze(this);
  }
}

export const OVERLOADED = new ExecutorFault('OVERLOADED', 'The executor has no free slot and no place in its queue.');

export const DEADLINE = new ExecutorFault('DEADLINE', 'The call did not finish in time.');

export const CANCELLED = new ExecutorFault('CANCELLED', 'The call was cancelled.');

export const SHUTDOWN = new ExecutorFault('SHUTDOWN', 'The executor is shutting down.');

const BY_REASON: Readonly<Record<CancelReason, ExecutorFault>> = {
  cancelled: CANCELLED,
  owner: CANCELLED,
  deadline: DEADLINE,
  shutdown: SHUTDOWN,
};

export const toFault = (reason: CancelReason): ExecutorFault => BY_REASON[reason];

/** Runs calls concurrently, up to a limit. Its creator drains it; other users do not. */
export interface Executor {
  /**
   * Runs `work` at once, in the caller's stack, when a slot is free; else when its turn comes. Rejects with an `ExecutorFault`
   * that says why the work was refused or given up, else as `work` does. Never throws.
   */
  submit<T>(work: (token: CancelToken) => Promise<T> | T, options: SubmitOptions): Promise<T>;
  /**
   * Abandons every waiting or running call of `scope` with this id; false: none exists, which is not an error (MCP Cancellation,
   * "Timing Considerations"). Ids must be unique among a requestor's open requests (MCP Base Protocol, "Requests"), but clients
   * that repeat one exist: their calls all run, each has its own answer, and a cancellation ends them all.
   */
  cancel(scope: string, id: string): boolean;
  readonly load: ExecutorLoad;
  /**
   * Refuses new work from now on, lets what runs and waits come to its end, and after `deadline_ms` gives up the rest. A second
   * drain joins the first and can only make it shorter. Orphaned work is not waited for.
   */
  drain(deadline_ms: number): Promise<Drained>;
}

/** How many calls run, wait, or were given up while their callback goes on. */
export interface ExecutorLoad {
  readonly running: number;
  readonly queued: number;
  readonly orphaned: number;
}

/** How the calls that a drain found came to their end: by themselves, or at its deadline. */
export interface Drained {
  readonly finished: number;
  readonly killed: number;
}

/** Positive integers; `createExecutor` throws a RangeError that names another. */
export interface ExecutorOptions {
  /** Calls that run at once. Default 32. */
  readonly max_concurrency?: number;
  /** Calls that wait. Default 256. One more is OVERLOADED, unless another fairness key holds more of the queue: then that key's newest call is. */
  readonly max_queue?: number;
  /** Given up callbacks that have not returned. Default 1 024. Up to here they free their slot; past it they keep it, and all new work is OVERLOADED. */
  readonly max_orphaned?: number;
  readonly clock: Clock;
}

export interface SubmitOptions {
  /** Whose ids these are: the verified client instance, the session, or the request itself. A cancellation never crosses scopes. */
  readonly scope: string;
  /** The JSON-RPC id as text, equal for equal ids. */
  readonly id: string;
  /** Who is served in turn with others when calls wait: the principal. */
  readonly fairness_key: string;
  /** From submission, waiting included. Default: none. */
  readonly deadline_ms?: number;
  /** The owner's: when it aborts, the call is given up. */
  readonly signal?: AbortSignal;
}

export type CancelReason = 'cancelled' | 'deadline' | 'owner' | 'shutdown';

/** Tells a handler that its caller is gone. A handler that keeps running is counted as orphaned. */
export interface CancelToken {
  readonly cancelled: boolean;
  readonly reason: CancelReason | undefined;
  /** Made on first use; aborts with the `ExecutorFault` that the caller got. */
  readonly signal: AbortSignal;
  /** Calls `run` once when the call is orphaned, at once if it already was. Exceptions of `run` are dropped. */
  onCancel(run: () => void): void;
}

/** The executor's side of a cancel token. An `AbortController` costs more than a call does, so there is none until it is asked for. */
export class Token implements CancelToken {
  #reason: CancelReason | undefined;
  #runs: (() => void)[] | undefined;
  #controller: AbortController | undefined;

  get cancelled(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): CancelReason | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(toFault(this.#reason));
    }
    return this.#controller.signal;
  }

  onCancel(run: () => void): void {
    if (this.#reason !== undefined) runSafely(run);
    else if (this.#runs === undefined) this.#runs = [run];
    else this.#runs.push(run);
  }

  cancel(reason: CancelReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const runs = this.#runs;
    this.#runs = undefined;
    if (runs !== undefined) for (const run of runs) runSafely(run);
    this.#controller?.abort(toFault(reason));
  }
}

function runSafely(run: () => void): void {
  try {
    run();
  } catch {
    // The work of one call must not keep the others from being told.
  }
}

/** True for whatever a promise would adopt. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof Promise) return true;
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}
