import type { Wanted } from '../../contract/changes.js';
import type { Meta } from '../../contract/content.js';
import type { Ask } from '../../contract/handler.js';
import type { ToolTask } from '../../contract/tasks.js';
import { CODES } from '../../errors/codes.js';
import type { ProtocolFault } from '../../errors/error.js';
import { errorObject } from '../../wire/rpc.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import type { CallContext } from './context.js';
import type { CoreRequest, InputRound } from './request.js';

/** The answer to a request, encoded but for the envelope. */
export type Reply =
  | { readonly kind: 'result'; readonly json: string; readonly outcome: 'ok' | 'tool_error' }
  | ErrorReply
  /** A legacy client has to be asked first; then the job runs again with the answers. */
  | { readonly kind: 'ask'; readonly ask: Ask };

export interface ErrorReply {
  readonly kind: 'error';
  /** The error object. */
  readonly json: string;
  readonly rpc: number;
  /** HTTP. */
  readonly status: number;
}

/** A request whose component was found and whose input was checked: what is left is the handler. */
export interface Job {
  readonly kind: 'job';
  /** What a modern client came back with; undefined in a first round. */
  readonly round: InputRound | undefined;
  run(context: CallContext): Reply | Promise<Reply>;
}

/** A job that may become a task: its client takes one for an answer. */
export interface TaskJob extends Job {
  readonly task: TaskRules;
  /** The request as the handler has it: its progress becomes the task's message, whether the client asked for it or not. */
  readonly request: CoreRequest;
  /** The answer that asks the client in the call itself. */
  asked(ask: Ask): Reply;
}

/** A tool's `task` with its defaults. */
export type TaskRules = Required<Omit<ToolTask, 'when'>>;

/** A subscription that was admitted. */
export interface Listen {
  readonly kind: 'listen';
  readonly wanted: Wanted | undefined;
}

export type Prepared = Reply | Job | TaskJob | Listen;

/** A complete result from its members' JSON text. */
export function resultOf(
  server: ServerRuntime,
  request: CoreRequest,
  members: string,
  meta?: Meta,
  outcome: 'ok' | 'tool_error' = 'ok',
): Reply {
  return { kind: 'result', json: request.dialect.result(members, meta, server.info), outcome };
}

/** An error of the table. */
export function faultReply(request: CoreRequest, fault: ProtocolFault): ErrorReply {
  const row = CODES[fault.code];
  const message = fault.detail === undefined ? row.message : `${row.message} ${fault.detail}`;
  const data = { code: fault.code, request_id: request.request_id, ...fault.data };
  return errorReply(request, row.rpc, message, data, row.status);
}

/** Any JSON-RPC error. */
export function errorReply(request: CoreRequest, rpc: number, message: string, data: unknown, status: number): ErrorReply {
  return { kind: 'error', json: errorObject(rpc, message, data), rpc, status: request.dialect.status(status) };
}

/** Thrown where a handler's answer turns out to be a fault of the caller. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: ProtocolFault;

  constructor(fault: ProtocolFault) {
    super(fault.code);
    this.fault = fault;
  }
}
