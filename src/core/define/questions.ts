import type { JsonSchema, ToolResult } from '../../contract/content.js';
import type { ElicitRequest, HandlerContext, InputRequired, InputResponses, RootsRequest, SampleRequest } from '../../contract/handler.js';
import type { TSchema } from '../../contract/options.js';
import type { Awaitable, ToolDefinition } from '../../contract/server.js';
import type { SchemaInput, SchemaOutput, StandardSchema } from '../../contract/standard-schema.js';

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

/** A schema of a tool: made with `Type`, or a Standard Schema validator. */
export type ToolSchema = TSchema | StandardSchema;

/** What a tool with an output schema answers: `structuredContent` of that type, or an error for the model. */
export type StructuredResult<T> =
  | (Omit<ToolResult, 'structuredContent' | 'isError'> & { readonly structuredContent: T; readonly isError?: false })
  | (ToolResult & { readonly isError: true });

/** What a tool's handler may return, by its output schema; `undefined`: it has none. */
export type ToolAnswer<O extends ToolSchema | undefined> = O extends undefined
  ? string | ToolResult | InputRequired
  : StructuredResult<SchemaInput<O>> | InputRequired;

/** A tool whose handler is typed by its schemas. */
export type TypedTool<I extends ToolSchema, O extends ToolSchema | undefined = undefined> = Omit<
  ToolDefinition,
  'input' | 'output' | 'run'
> & {
  readonly input: I;
  readonly output?: O;
  run(input: SchemaOutput<I>, context: HandlerContext): Awaitable<ToolAnswer<O>>;
};

/** Types a tool's handler by its schemas: the arguments by `input`, `structuredContent` by `output`. Returns the tool unchanged. */
export function defineTool<const I extends ToolSchema, const O extends ToolSchema | undefined = undefined>(
  tool: TypedTool<I, O>,
): ToolDefinition {
  return tool as unknown as ToolDefinition;
}
