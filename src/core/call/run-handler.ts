import type { Awaitable } from '../../contract/server.js';
import { isThenable } from '../../executor/thenable.js';
import type { Guarded, ServerRuntime } from '../define/server-runtime.js';
import { ComponentRefusal } from '../wrap/refusal.js';
import { Asking, type CallContext } from './context.js';
import { RpcError } from './errors.js';
import { errorReply, FaultError, faultReply } from './reply.js';
import type { CoreEnvironment, CoreRequest, Reply } from './request.js';
import { askReply } from './rounds.js';

/** One handler with its answer's encoding. */
export interface Running<T> {
  /** What the handler belongs to; undefined where there are no wrappers. */
  readonly component: Guarded | undefined;
  readonly input: unknown;
  /** Calls the handler itself, without its wrappers. */
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
  handler: Running<T>,
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
    if (error instanceof ComponentRefusal) return errorReply(request, -32603, error.text, { request_id: request.request_id }, 500);
    if (error instanceof RpcError) return errorReply(request, error.code, error.message, error.data, 200);
    if (error instanceof FaultError) return faultReply(request, error.fault);
    if (!context.cancelled) env.crashed(request, error);
    return faultReply(request, { code: 'RUNTIME_FAILED' });
  };
  try {
    const wrapped = handler.component === undefined ? undefined : env.wrapped.get(handler.component);
    const answer = wrapped === undefined ? handler.call(context) : (wrapped(handler.input, context) as Awaitable<T>);
    return isThenable(answer) ? Promise.resolve(answer).then(answered).catch(failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}
