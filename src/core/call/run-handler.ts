import type { Awaitable } from '../../contract/server.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { Asking, type CallContext } from './context.js';
import { RpcError } from './errors.js';
import { errorReply, FaultError, faultReply } from './reply.js';
import type { CoreEnvironment, CoreRequest, Reply } from './request.js';
import { askReply } from './rounds.js';

/** One handler with its answer's encoding. */
export interface Handler<T> {
  /** Calls the handler. */
  call(context: CallContext): Awaitable<T>;
  /** Throws when the handler answered something that cannot be sent. */
  encode(answer: T): Reply;
  /** Makes a reply of something thrown that this kind of component understands; undefined: it does not. */
  thrown?(error: unknown): Reply | undefined;
  /** True where the revision lets the handler ask first. */
  readonly may_ask: boolean;
}

/** Runs a handler and never throws: what it throws becomes a reply. Synchronous when the handler is. */
export function runHandler<T>(
  handler: Handler<T>,
  server: ServerRuntime,
  request: CoreRequest,
  env: CoreEnvironment,
  context: CallContext,
): Reply | Promise<Reply> {
  const answered = (answer: T): Reply => {
    context.end();
    if (handler.may_ask && answer instanceof Asking) return askReply(server, request, env, answer.ask);
    return handler.encode(answer);
  };
  const failed = (error: unknown): Reply => {
    context.end();
    const reply = handler.thrown?.(error);
    if (reply !== undefined) return reply;
    if (error instanceof RpcError) return errorReply(request, error.code, error.message, error.data, 200);
    if (error instanceof FaultError) return faultReply(request, error.fault);
    if (!context.cancelled) env.crashed(request, error);
    return faultReply(request, { code: 'RUNTIME_FAILED' });
  };
  try {
    const answer = handler.call(context);
    return isPromise(answer) ? answer.then(answered).catch(failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}

function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Promise<T>>).then === 'function';
}
