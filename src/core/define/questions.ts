import type { JsonSchema, ToolResult } from '../../contract/content.js';
import type { ElicitRequest, HandlerContext, InputRequired, InputResponses, RootsRequest, SampleRequest } from '../../contract/handler.js';
import type { Static, TSchema } from '../../contract/options.js';
import type { Awaitable, ToolDefinition } from '../../contract/server.js';

/** Asks the user to fill in a form (MCP Elicitation, form mode): a flat object schema of strings, numbers, booleans and choices. */
export function elicit(message: string, requestedSchema: JsonSchema): ElicitRequest {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

/** Asks the user to open a URL (MCP Elicitation, URL mode; since 2025-11-25). What is typed there never passes through the client. */
export function elicitUrl(message: string, url: string): ElicitRequest {
  return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/** Asks the client's model (MCP Sampling). */
export function sample(params: SampleRequest['params']): SampleRequest {
  return { method: 'sampling/createMessage', params };
}

/** Asks for the client's root folders (MCP Roots). */
export function listRoots(): RootsRequest {
  return { method: 'roots/list' };
}

/** What the user filled in under this key; undefined when it was not asked, not answered, declined or cancelled. Check its members. */
export function acceptedContent(responses: InputResponses | undefined, key: string): Readonly<Record<string, unknown>> | undefined {
  const answer = responses !== undefined && Object.hasOwn(responses, key) ? responses[key] : undefined;
  const content = answer?.action === 'accept' ? answer.content : undefined;
  return typeof content === 'object' && content !== null && !Array.isArray(content)
    ? (content as Readonly<Record<string, unknown>>)
    : undefined;
}

/** A tool whose handler's input has the type of its schema. */
export type TypedTool<S extends TSchema> = Omit<ToolDefinition, 'input' | 'run'> & {
  readonly input: S;
  run(input: Static<S>, context: HandlerContext): Awaitable<string | ToolResult | InputRequired>;
};

/** Types a tool's handler by its input schema; returns the tool unchanged. */
export function defineTool<const S extends TSchema>(tool: TypedTool<S>): ToolDefinition {
  return tool as unknown as ToolDefinition;
}
