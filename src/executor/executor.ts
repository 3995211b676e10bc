import type { Clock } from '../contract/clock.js';
import { BoundedExecutor } from './bounded.js';

export { ExecutorFault } from './fault.js';

/** Runs calls side by side, never more than it was given room for. Whoever was handed one does not drain it; whoever made it does. */
export interface Executor {
  /**
   * Runs `work` at once, in the caller's stack, when a slot is free; else when its turn comes. Rejects with an `ExecutorFault`
   * that says why the work was refused or given up, else as `work` does. Never throws.
   */
  submit<T>(work: (token: CancelToken) => Promise<T> | T, options: SubmitOptions): Promise<T>;
  /**
   * Gives up every waiting or running call of `scope` with this id; false: there is none, which is no error (MCP Cancellation,
   * "Timing Considerations"). Ids must be unique among a requestor's open requests (MCP Base Protocol, "Requests"), but clients
   * that repeat one exist: their calls all run, each has its own answer, and a cancellation ends them all.
   */
  cancel(scope: string, id: string): boolean;
  readonly load: ExecutorLoad;
  /**
   * Refuses new work from now on, lets what runs and waits come to its end, and after `deadline_ms` gives up the rest. A second
   * drain joins the first and can only make it shorter. Abandoned work is not waited for.
   */
  drain(deadline_ms: number): Promise<Drained>;
}

/** How many calls run, wait, or were given up while their callback goes on. */
export interface ExecutorLoad {
  readonly running: number;
  readonly queued: number;
  readonly abandoned: number;
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
  /** Calls that wait. Default 256. One more is OVERLOADED, unless another share holds more of the queue: then that share's newest call is. */
  readonly max_queue?: number;
  /** Given up callbacks that have not returned. Default 1 024. Up to here they free their slot; past it they keep it, and all new work is OVERLOADED. */
  readonly max_abandoned?: number;
  readonly clock: Clock;
}

export interface SubmitOptions {
  /** Whose ids these are: the verified client instance, the session, or the request itself. Nobody cancels across scopes. */
  readonly scope: string;
  /** The JSON-RPC id as text, equal for equal ids. */
  readonly id: string;
  /** Who is served in turn with others when calls wait: the principal. */
  readonly share: string;
  /** From submission, waiting included. Default: none. */
  readonly deadline_ms?: number;
  /** The owner's: when it aborts, the call is given up. */
  readonly signal?: AbortSignal;
}

export type CancelReason = 'cancelled' | 'deadline' | 'owner' | 'shutdown';

/** How a callback learns that nobody waits for it any more. The slot of one that goes on regardless stays counted as abandoned. */
export interface CancelToken {
  readonly cancelled: boolean;
  readonly reason: CancelReason | undefined;
  /** Made on first use; aborts with the `ExecutorFault` that the caller got. */
  readonly signal: AbortSignal;
  /** Calls `run` once when the call is given up, at once if it already was. What `run` throws is dropped. */
  onCancel(run: () => void): void;
}

/** An executor of its own, empty. It owns one timer at most. */
export function createExecutor(options: ExecutorOptions): Executor {
  return new BoundedExecutor(
    {
      max_concurrency: toCount('max_concurrency', options.max_concurrency ?? 32),
      max_queue: toCount('max_queue', options.max_queue ?? 256),
      max_abandoned: toCount('max_abandoned', options.max_abandoned ?? 1024),
    },
    options.clock,
  );
}

function toCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`executor: ${name} must be a positive integer, not ${String(value)}`);
}
