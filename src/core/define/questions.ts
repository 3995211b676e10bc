import type { JsonSchema, ToolResult } from '../../contract/content.js';
import type { ElicitRequest, HandlerContext, InputRequired, InputResponses, RootsRequest, SampleRequest } from '../../contract/handler.js';
import type { TSchema } from '../../contract/options.js';
import type { Awaitable, ToolDefinition } from '../../contract/server.js';
import type { SchemaInput, SchemaOutput, StandardSchema } from '../../contract/standard-schema.js';

/**
 * Asks the user to fill in a form (MCP Elicitation, form mode): a flat object schema of strings, numbers, booleans and choices.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { acceptedContent, defineServer, elicit } from 'portcullis/server';
 *
 * const server = defineServer({
 *   name: 'x',
 *   version: '1.0.0',
 *   tools: [
 *     {
 *       name: 'ask',
 *       run: (_input, context) =>
 *         context.responses === undefined
 *           ? context.inputRequired({ requests: { it: elicit('Which color?', { type: 'object', properties: { color: { type: 'string' } } }) } })
 *           : String(acceptedContent(context.responses, 'it')?.color),
 *     },
 *   ],
 * });
 * const client = await connect({ server }, { elicit: () => ({ action: 'accept', content: { color: 'red' } }) });
 * assert.deepEqual((await client.callTool('ask')).content, [{ type: 'text', text: 'red' }]);
 * await client.close();
 * ```
 */
export function elicit(message: string, requestedSchema: JsonSchema): ElicitRequest {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

/**
 * Asks the user to open a URL (MCP Elicitation, URL mode; since 2025-11-25). What is typed there never passes through the client.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, elicitUrl } from 'portcullis/server';
 *
 * const server = defineServer({
 *   name: 'x',
 *   version: '1.0.0',
 *   tools: [
 *     {
 *       name: 'ask',
 *       run: (_input, context) =>
 *         context.responses === undefined
 *           ? context.inputRequired({ requests: { it: elicitUrl('Please sign in.', 'https://example.com/sign-in') } })
 *           : String(context.responses.it?.action),
 *     },
 *   ],
 * });
 * const client = await connect({ server }, { elicit: () => ({ action: 'decline' }) });
 * assert.deepEqual((await client.callTool('ask')).content, [{ type: 'text', text: 'decline' }]);
 * await client.close();
 * ```
 */
export function elicitUrl(message: string, url: string): ElicitRequest {
  return { method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/**
 * Asks the client's model (MCP Sampling).
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, sample } from 'portcullis/server';
 *
 * const server = defineServer({
 *   name: 'x',
 *   version: '1.0.0',
 *   tools: [
 *     {
 *       name: 'ask',
 *       run: (_input, context) =>
 *         context.responses === undefined
 *           ? context.inputRequired({ requests: { it: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 }) } })
 *           : String(context.responses.it?.model),
 *     },
 *   ],
 * });
 * const client = await connect({ server }, { sample: () => ({ role: 'assistant', model: 'small', content: { type: 'text', text: 'Hello' } }) });
 * assert.deepEqual((await client.callTool('ask')).content, [{ type: 'text', text: 'small' }]);
 * await client.close();
 * ```
 */
export function sample(params: SampleRequest['params']): SampleRequest {
  return { method: 'sampling/createMessage', params };
}

/**
 * Asks for the client's root folders (MCP Roots).
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, listRoots } from 'portcullis/server';
 *
 * const server = defineServer({
 *   name: 'x',
 *   version: '1.0.0',
 *   tools: [
 *     {
 *       name: 'ask',
 *       run: (_input, context) =>
 *         context.responses === undefined
 *           ? context.inputRequired({ requests: { it: listRoots() } })
 *           : JSON.stringify(context.responses.it?.roots),
 *     },
 *   ],
 * });
 * const client = await connect({ server }, { roots: () => [{ uri: 'file:///src' }] });
 * assert.deepEqual((await client.callTool('ask')).content, [{ type: 'text', text: '[{"uri":"file:///src"}]' }]);
 * await client.close();
 * ```
 */
export function listRoots(): RootsRequest {
  return { method: 'roots/list' };
}

/**
 * What the user filled in under this key; undefined when it was not asked, not answered, declined or cancelled. Check its members.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { acceptedContent } from 'portcullis/server';
 *
 * assert.deepEqual(acceptedContent({ form: { action: 'accept', content: { sure: true } } }, 'form'), { sure: true });
 * assert.equal(acceptedContent({ form: { action: 'decline' } }, 'form'), undefined);
 * ```
 */
export function acceptedContent(responses: InputResponses | undefined, key: string): Readonly<Record<string, unknown>> | undefined {
  const answer = responses !== undefined && Object.hasOwn(responses, key) ? responses[key] : undefined;
  const content = answer?.action === 'accept' ? answer.content : undefined;
  return typeof content === 'object' && content !== null && !Array.isArray(content)
    ? (content as Readonly<Record<string, unknown>>)
    : undefined;
}

/** A schema of a tool: made with `Type`, or a Standard Schema validator. */
export type ToolSchema = TSchema | StandardSchema;

/** Stands for the schema of a tool that declares no `input`. */
type NoArguments = StandardSchema<Readonly<Record<string, never>>>;

/** What a tool with an output schema answers: `structuredContent` of that type, or an error for the model. */
export type StructuredResult<T> =
  | (Omit<ToolResult, 'structuredContent' | 'isError'> & { readonly structuredContent: T; readonly isError?: false })
  | (ToolResult & { readonly isError: true });

/** What a tool's handler may return, by its output schema; `undefined`: it has none. */
export type ToolAnswer<O extends ToolSchema | undefined> = O extends undefined
  ? string | ToolResult | InputRequired
  : StructuredResult<SchemaInput<O>> | InputRequired;

/** A tool whose handler is typed by its schemas. */
export type TypedTool<I extends ToolSchema = NoArguments, O extends ToolSchema | undefined = undefined> = Omit<
  ToolDefinition,
  'input' | 'output' | 'run'
> & {
  /** Default: no arguments. */
  readonly input?: I;
  readonly output?: O;
  run(input: SchemaOutput<I>, context: HandlerContext): Awaitable<ToolAnswer<O>>;
};

/**
 * Types a tool's handler by its schemas: the arguments by `input`, `structuredContent` by `output`. Returns the tool unchanged.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer, defineTool, Type } from 'portcullis/server';
 *
 * const double = defineTool({
 *   name: 'double',
 *   input: Type.Object({ n: Type.Number() }),
 *   output: Type.Object({ twice: Type.Number() }),
 *   run: ({ n }) => ({ structuredContent: { twice: n * 2 } }),
 * });
 * const client = await connect({ server: defineServer({ name: 'math', version: '1.0.0', tools: [double] }) });
 * assert.deepEqual((await client.callTool('double', { n: 21 })).structuredContent, { twice: 42 });
 * await client.close();
 * ```
 */
export function defineTool<const I extends ToolSchema = NoArguments, const O extends ToolSchema | undefined = undefined>(
  tool: TypedTool<I, O>,
): ToolDefinition {
  return tool as unknown as ToolDefinition;
}
