import type { Clock } from '../contract/clock.js';
import type { Facts, Identity } from '../contract/identity.js';
import type { Server } from '../contract/server.js';
import type { Dialect } from '../dialect/dialect.js';
import { MODERN, subjectField } from '../dialect/methods.js';
import { dialectOf } from '../dialect/select.js';
import { CallContext } from './call/context.js';
import { faultReply, type Reply } from './call/reply.js';
import type { CoreEnvironment, CoreRequest } from './call/request.js';
import { createStateSeal } from './call/state-seal.js';
import { asRuntime, openWrappers } from './define/server-runtime.js';
import { prepare } from './prepare.js';

/** A request as its caller writes it. `_meta` of a modern one gets the fields that its revision requires and that it lacks. */
export interface DispatchMessage {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The caller and its settings. Default: anonymous, revision 2026-07-28, never aborted, notifications dropped. */
export interface DispatchContext {
  readonly identity?: Identity;
  readonly facts?: Facts;
  /** Default 2026-07-28. */
  readonly revision?: string;
  /** Default: never aborts. */
  readonly signal?: AbortSignal;
  /** Gets progress and log messages, parsed. */
  readonly notify?: (message: unknown) => void;
}

/** A JSON-RPC response, parsed. */
export interface DispatchAnswer {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Runs one request in the caller; answers at once when the handler does. Never throws. */
export type Dispatch = (message: DispatchMessage, context?: DispatchContext) => DispatchAnswer | Promise<DispatchAnswer>;

/**
 * A server without executor and transport: for tests, and for programs that call their own server. What has no answer but a stream
 * is a method that does not exist here. `crashed` gets what handlers threw. Throws TypeError when the server was not made by `defineServer`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { createDispatch, defineServer, systemClock } from 'portcullis/server';
 *
 * const server = defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 'ping', run: () => 'pong' }] });
 * const dispatch = createDispatch(server, { clock: systemClock });
 * const { result } = await dispatch({ method: 'tools/call', params: { name: 'ping' } });
 * assert.deepEqual(result?.content, [{ type: 'text', text: 'pong' }]);
 * ```
 */
export function createDispatch(
  server: Server,
  { clock, crashed }: { readonly clock: Clock; readonly crashed?: (error: unknown) => void },
): Dispatch {
  const runtime = asRuntime(server);
  if (runtime === undefined) throw new TypeError('the server was not made by defineServer');
  const env: CoreEnvironment = {
    seal: createStateSeal({ keys: [], clock }),
    wrapped: openWrappers(runtime, clock),
    crashed: (_request, error) => crashed?.(error),
  };
  return (message, context = {}) => {
    const request = toRequest(message, context);
    const prepared = prepare(runtime, request, env);
    if (prepared.kind === 'listen') return toAnswer(request, faultReply(request, { code: 'METHOD_NOT_FOUND' }));
    const reply = prepared.kind === 'job' ? prepared.run(new CallContext(request, hostOf(context), prepared.round)) : prepared;
    return reply instanceof Promise ? reply.then((late) => toAnswer(request, late)) : toAnswer(request, reply);
  };
}

function toRequest({ id = 1, method, params = {} }: DispatchMessage, context: DispatchContext): CoreRequest {
  const dialect = dialectOf(context.revision ?? MODERN);
  const full = { ...params, _meta: { ...requiredMeta(dialect), ...(params._meta as object | undefined) } };
  const token = (full._meta as { readonly progressToken?: unknown }).progressToken;
  const field = subjectField(method);
  const subject = field === undefined ? undefined : params[field];
  return {
    dialect,
    method,
    name: typeof subject === 'string' ? subject : undefined,
    id: JSON.stringify(id),
    progress_token: token === undefined ? undefined : JSON.stringify(token),
    params: full,
    request_id: 'dispatch',
    route: '',
    identity: context.identity,
    caller: '',
    facts: context.facts ?? {},
    headers: undefined,
    session: undefined,
  };
}

function requiredMeta({ era, revision }: Dialect): object {
  if (era === 'legacy') return {};
  return { 'io.modelcontextprotocol/protocolVersion': revision, 'io.modelcontextprotocol/clientCapabilities': {} };
}

function hostOf({ signal = new AbortController().signal, notify }: DispatchContext) {
  const tell = (json: string): void => notify?.(JSON.parse(json));
  return {
    signal,
    get cancelled() {
      return signal.aborted;
    },
    notify: tell,
    progress: tell,
    progressed: () => undefined,
  };
}

function toAnswer(request: CoreRequest, reply: Reply): DispatchAnswer {
  if (reply.kind === 'ask')
    return toAnswer(request, faultReply(request, { code: 'MISSING_CAPABILITY', detail: 'No client can be asked here.' }));
  const id = JSON.parse(request.id) as string | number;
  const value = JSON.parse(reply.json);
  return reply.kind === 'result' ? { jsonrpc: '2.0', id, result: value } : { jsonrpc: '2.0', id, error: value };
}
