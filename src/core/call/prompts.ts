import type { PromptResult } from '../../contract/content.js';
import { contentFor } from '../../dialect/items.js';
import { toEcho } from '../../wire/text.js';
import type { Prompt, ServerRuntime } from '../define/server-runtime.js';
import type { CallContext } from './context.js';
import { isObject, own } from './params.js';
import { faultReply, type Prepared, type Reply, resultOf } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
import { mayUse } from './request.js';
import { readRound } from './rounds.js';
import { runHandler } from './run-handler.js';

/** `prompts/get`: the prompt is there for the caller, its arguments are texts, declared, and the required ones are given. */
export function preparePrompt(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const prompt = server.prompts.get(request.name ?? '');
  if (prompt === undefined || !mayUse(server, prompt, request, env)) {
    return faultReply(request, { code: 'COMPONENT_NOT_FOUND', detail: `Unknown prompt: ${toEcho(request.name ?? '')}` });
  }
  const args = request.params.arguments ?? {};
  const detail = whyNotArguments(prompt, args);
  if (detail !== undefined) return faultReply(request, { code: 'INVALID_ARGUMENTS', detail });
  const round = readRound(server, request, env);
  if (!round.ok) return faultReply(request, round.fault);
  const handler = {
    component: prompt,
    input: args,
    may_ask: true,
    call: (context: CallContext) => prompt.definition.get(args as Readonly<Record<string, string>>, context),
    encode: (answer: unknown) => encodePrompt(server, request, prompt, answer),
  };
  return { kind: 'job', round: round.value, run: (context) => runHandler(handler, server, request, env, context) };
}

function whyNotArguments({ definition }: Prompt, args: unknown): string | undefined {
  if (!isObject(args)) return 'params.arguments must be an object.';
  const declared = definition.arguments ?? [];
  for (const [name, value] of Object.entries(args)) {
    if (!declared.some((argument) => argument.name === name)) return `There is no argument "${toEcho(name)}".`;
    if (typeof value !== 'string') return `The argument "${name}" must be a text.`;
  }
  const missing = declared.find(({ name, required }) => required === true && own(args, name) === undefined);
  return missing === undefined ? undefined : `The argument "${missing.name}" is missing.`;
}

function encodePrompt(server: ServerRuntime, request: CoreRequest, { view, definition }: Prompt, answer: unknown): Reply {
  if (typeof answer === 'string') {
    const described = definition.description === undefined ? '' : `"description":${JSON.stringify(definition.description)},`;
    return resultOf(server, request, `${described}"messages":[{"role":"user","content":{"type":"text","text":${JSON.stringify(answer)}}}]`);
  }
  const { description, messages, _meta } = isObject(answer) ? (answer as unknown as PromptResult) : ({} as Partial<PromptResult>);
  if (!Array.isArray(messages) || !messages.every((message) => isObject(message) && isObject(message.content))) {
    throw new TypeError(`prompt ${view.name} answered neither a text nor messages`);
  }
  const spoken = (messages as PromptResult['messages']).map(({ role, content }) => ({
    role,
    content: contentFor(request.dialect, [content])[0],
  }));
  const described = description === undefined ? '' : `"description":${JSON.stringify(description)},`;
  return resultOf(server, request, `${described}"messages":${JSON.stringify(spoken)}`, _meta);
}
