import type { CancelReason } from './executor.js';

/**
 * OVERLOADED: no slot and no place in the queue. DEADLINE: not done in time. CANCELLED: by its id, or its owner went away.
 * SHUTDOWN: the executor drains, or its drain ended the call.
 */
export type ExecutorFaultCode = 'OVERLOADED' | 'DEADLINE' | 'CANCELLED' | 'SHUTDOWN';

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
