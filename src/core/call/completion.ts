import type { CompletionResult } from '../../contract/content.js';
import type { CompletionDefinition } from '../../contract/server.js';
import { toEcho } from '../../wire/text.js';
import { completionKey, type Guarded, type ServerRuntime } from '../define/server-runtime.js';
import type { CallContext } from './context.js';
import { isObject } from './params.js';
import { faultReply, type Prepared, type Reply, resultOf } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
import { mayUse } from './request.js';
import { runHandler } from './run-handler.js';

/** `completion/complete`, for a prompt or template that the caller may use. An argument without a completer has no values. */
export function prepareCompletion(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const { ref, argument, context } = request.params;
  const bad = (detail: string) => faultReply(request, { code: 'INVALID_ARGUMENTS', detail });
  if (!isObject(argument) || typeof argument.name !== 'string' || typeof argument.value !== 'string')
    return bad('params.argument needs name and value as texts.');
  const settled = isObject(context) ? (context.arguments ?? {}) : {};
  if (!isObject(settled) || !Object.values(settled).every((value) => typeof value === 'string'))
    return bad('params.context.arguments must hold texts.');
  const referred = isObject(ref) ? find(server, ref) : undefined;
  if (referred === undefined || !mayUse(server, referred.component, request, env)) {
    return bad(`params.ref names nothing here: ${toEcho(isObject(ref) ? String(ref.name ?? ref.uri) : '')}`);
  }
  const completion = server.completions.get(completionKey(referred.kind, referred.name, argument.name));
  if (completion === undefined) return encode(server, request, []);
  const input = { value: argument.value, arguments: settled as Readonly<Record<string, string>> };
  const handler = {
    component: undefined,
    input: undefined,
    may_ask: false,
    call: (call: CallContext) => completion.complete(input, call),
    encode: (answer: Awaited<ReturnType<CompletionDefinition['complete']>>) => encode(server, request, answer),
  };
  return { kind: 'job', round: undefined, run: (call) => runHandler(handler, server, request, env, call) };
}

interface Referred {
  readonly kind: 'prompt' | 'template';
  readonly name: string;
  readonly component: Guarded;
}

function find(server: ServerRuntime, ref: Readonly<Record<string, unknown>>): Referred | undefined {
  if (ref.type === 'ref/prompt' && typeof ref.name === 'string') {
    const component = server.prompts.get(ref.name);
    return component === undefined ? undefined : { kind: 'prompt', name: ref.name, component };
  }
  if (ref.type !== 'ref/resource' || typeof ref.uri !== 'string') return undefined;
  const { uri } = ref;
  const component = server.templates.find(({ view }) => view.name === uri) ?? server.resources.get(uri);
  return component === undefined ? undefined : { kind: 'template', name: uri, component };
}

const MAX_VALUES = 100;

function encode(server: ServerRuntime, request: CoreRequest, answer: unknown): Reply {
  const given = (Array.isArray(answer) ? { values: answer } : isObject(answer) ? answer : {}) as Partial<CompletionResult>;
  const { values, total, hasMore } = given;
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) throw new TypeError('a completion answered no texts');
  const count = total ?? values.length;
  const completion = { values: values.slice(0, MAX_VALUES), total: count, hasMore: hasMore ?? count > Math.min(values.length, MAX_VALUES) };
  return resultOf(server, request, `"completion":${JSON.stringify(completion)}`);
}
