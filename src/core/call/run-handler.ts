import type { Awaitable } from '../../contract/server.js';
import { isThenable } from '../../executor/executor.js';
import type { Guarded, ServerRuntime } from '../define/server-runtime.js';
import { ComponentRefusal } from '../wrap/wrapper.js';
import { Asking, type CallContext } from './context.js';
import { errorReply, FaultError, faultReply, type Reply } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
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

/**
 * Thrown by a tool to tell the model what went wrong: the answer is a result with `isError` and this message as its text. Anything
 * else that a handler throws is a failure of the server, told to the log and not to the client.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, ToolError } from 'portcullis/server';
 *
 * const tool = {
 *   name: 'weather',
 *   run(): string {
 *     throw new ToolError('There is no such city.');
 *   },
 * };
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [tool] }) });
 * assert.equal((await client.callTool('weather')).isError, true);
 * await client.close();
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * Thrown by any handler to answer with a JSON-RPC error. `code` is -32602, -32603, or an integer that JSON-RPC does not reserve
 * (below -32768 or above -32000); message and data are sent to the client unchanged. Throws RangeError for any other code.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { type ClientError, connect } from 'portcullis/client';
 * import { defineServer, RpcError } from 'portcullis/server';
 *
 * const tool = {
 *   name: 'book',
 *   run(): string {
 *     throw new RpcError(-1, 'The flight is full.');
 *   },
 * };
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [tool] }) });
 * const error = await client.callTool('book').catch((error: ClientError) => error);
 * assert.deepEqual('rpc' in error && error.rpc, { code: -1, message: 'The flight is full.' });
 * await client.close();
 * ```
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    if (!Number.isSafeInteger(code) || (code >= -32768 && code <= -32000 && code !== -32602 && code !== -32603)) {
      throw new RangeError(`${code} is reserved by JSON-RPC or MCP; use -32602, -32603 or a number outside -32768 to -32000`);
    }
    this.code = code;
    this.data = data;
  }
}
