import type { ContentBlock, ToolResult } from '../../contract/content.js';
import { contentFor, structuredFor } from '../../dialect/items.js';
import { isThenable } from '../../executor/executor.js';
import { toEcho } from '../../wire/text.js';
import { checkParamHeaders } from '../define/param-headers.js';
import type { ServerRuntime, Tool } from '../define/server-runtime.js';
import type { Parsed } from '../define/tool-schema.js';
import { ComponentRefusal } from '../wrap/wrapper.js';
import type { CallContext } from './context.js';
import { isObject } from './params.js';
import { faultReply, type Prepared, type Reply, resultOf } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
import { mayUse } from './request.js';
import { askReply, readRound } from './rounds.js';
import { runHandler, ToolError } from './run-handler.js';
import { declaresTasks, tasksMissing } from './tasks-declared.js';

/** `tools/call`: the tool is there for the caller, the mirrored headers agree, the arguments fit its schema. */
export function prepareTool(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const tool = server.tools.get(request.name ?? '');
  if (tool === undefined || !mayUse(server, tool, request, env)) {
    return faultReply(request, { code: 'COMPONENT_NOT_FOUND', detail: `Unknown tool: ${toEcho(request.name ?? '')}` });
  }
  const args = request.params.arguments ?? NO_ARGUMENTS;
  if (!isObject(args)) return faultReply(request, { code: 'INVALID_ARGUMENTS', detail: 'params.arguments must be an object.' });
  if (tool.param_headers.length > 0 && request.headers !== undefined && request.dialect.era === 'modern') {
    const detail = checkParamHeaders(tool.param_headers, request.headers, args);
    if (detail !== undefined) return faultReply(request, { code: 'HEADER_MISMATCH', detail });
  }
  const round = readRound(server, request, env);
  if (!round.ok) return faultReply(request, round.fault);
  const why = tool.fits?.(args);
  if (why !== undefined) return badArguments(server, request, why);
  const run = (as: CoreRequest) => (context: CallContext) => runTool(server, as, env, tool, args, context);
  const { task } = tool.definition;
  if (task === undefined || env.tasks !== true || request.dialect.era !== 'modern')
    return { kind: 'job', round: round.value, run: run(request) };
  if (!declaresTasks(request))
    return task.when === 'always' ? tasksMissing(request) : { kind: 'job', round: round.value, run: run(request) };
  const within = { ...request, in_task: true, progress_token: request.progress_token ?? '0' };
  const { asks = 'before', ttl_ms = 3_600_000, poll_ms = 1_000, immediate_ms = 50 } = task;
  return {
    kind: 'job',
    round: round.value,
    run: run(within),
    request: within,
    task: { asks, ttl_ms, poll_ms, immediate_ms },
    asked: (ask) => askReply(server, request, env, ask),
  };
}

type Arguments = Readonly<Record<string, unknown>>;

const NO_ARGUMENTS: Arguments = Object.freeze({});

/** A Standard Schema validator is the author's code: it runs in the job, before the wrappers, and its exceptions count as a failed handler. */
function runTool(
  server: ServerRuntime,
  request: CoreRequest,
  env: CoreEnvironment,
  tool: Tool,
  args: Arguments,
  context: CallContext,
): Reply | Promise<Reply> {
  const run = (input: Arguments) => runHandler(toolHandler(server, request, tool, input), server, request, env, context);
  if (tool.parse_input === undefined) return run(args);
  const parsed = (verdict: Parsed) => (verdict.ok ? run(verdict.value as Arguments) : badArguments(server, request, verdict.why));
  const failed = (error: unknown) => {
    const call = () => {
      throw error;
    };
    return runHandler({ ...toolHandler(server, request, tool, args), component: undefined, call }, server, request, env, context);
  };
  try {
    const verdict = tool.parse_input(args);
    return isThenable(verdict) ? Promise.resolve(verdict).then(parsed, failed) : parsed(verdict as Parsed);
  } catch (error) {
    return failed(error);
  }
}

function toolHandler(server: ServerRuntime, request: CoreRequest, tool: Tool, args: Arguments) {
  return {
    component: tool,
    input: args,
    may_ask: true,
    call: (context: CallContext) => tool.run(args, context),
    encode: (answer: unknown) => encodeTool(server, request, tool, answer),
    thrown: (error: unknown) => {
      if (error instanceof ToolError) return toolError(server, request, error.message);
      return error instanceof ComponentRefusal ? toolError(server, request, error.text) : undefined;
    },
  };
}

function badArguments(server: ServerRuntime, request: CoreRequest, why: string): Reply {
  if (request.dialect.bad_arguments === 'tool_error') return toolError(server, request, `The arguments are not valid: ${why}`);
  return faultReply(request, { code: 'INVALID_ARGUMENTS', detail: why });
}

function toolError(server: ServerRuntime, request: CoreRequest, message: string): Reply {
  return resultOf(server, request, `"content":${textContent(message)},"isError":true`, undefined, 'tool_error');
}

function encodeTool(server: ServerRuntime, request: CoreRequest, tool: Tool, answer: unknown): Reply {
  if (typeof answer === 'string' && tool.output_fits === undefined) return resultOf(server, request, `"content":${textContent(answer)}`);
  if (!isObject(answer)) throw new TypeError(`tool ${tool.view.name} answered neither a text nor a result`);
  const { content, structuredContent, isError, _meta } = answer as ToolResult;
  if (tool.output_fits !== undefined && isError !== true) {
    const why = structuredContent === undefined ? 'structuredContent is missing' : tool.output_fits(structuredContent);
    if (why !== undefined) throw new TypeError(`tool ${tool.view.name} answered what its output schema does not allow: ${why}`);
  }
  const structured = structuredFor(request.dialect, structuredContent);
  let members = `"content":${contentJson(request, tool, content, structuredContent)}`;
  if (structured !== undefined) members += `,"structuredContent":${JSON.stringify(structured)}`;
  if (isError === true) members += ',"isError":true';
  return resultOf(server, request, members, _meta, isError === true ? 'tool_error' : 'ok');
}

function contentJson(request: CoreRequest, tool: Tool, content: readonly ContentBlock[] | undefined, structured: unknown): string {
  if (content === undefined && structured !== undefined) return textContent(JSON.stringify(structured));
  if (!Array.isArray(content) || !content.every((block) => isObject(block) && typeof block.type === 'string')) {
    throw new TypeError(`tool ${tool.view.name} returned content that is not a list of content blocks`);
  }
  return JSON.stringify(contentFor(request.dialect, content));
}

function textContent(text: string): string {
  return `[{"type":"text","text":${JSON.stringify(text)}}]`;
}
