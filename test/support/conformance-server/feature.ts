import type { ElicitRequest, HandlerContext, JsonSchema, SampleRequest, ToolDefinition, ToolResult } from '../../../src/server.js';
import { elicit, sample } from '../../../src/server.js';

/** Tools by name; each has the name as its description. */
export type Tools = Readonly<Record<string, Omit<ToolDefinition, 'name'>>>;

export const toDefinitions = (tools: Tools): readonly ToolDefinition[] =>
  Object.entries(tools).map(([name, tool]) => ({ name, description: name, ...tool }));

/** A JSON Schema of an object. */
export const object = (properties: Readonly<Record<string, JsonSchema>>, ...required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
});

/** A tool result of one text. */
export const text = (value: string): ToolResult => ({ content: [{ type: 'text', text: value }] });

/** An elicitation of one field. */
export const askFor = (message: string, field: string, type = 'string'): ElicitRequest =>
  elicit(message, object({ [field]: { type } }, field));

/** One question to the client's model. */
export const askModel = (question: string): SampleRequest =>
  sample({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens: 50 });

/** The text that the client's model answered; undefined when it was not asked. */
export function said({ responses }: HandlerContext, key: string): string | undefined {
  const answer = responses?.[key] as { readonly content?: { readonly text?: unknown } } | undefined;
  return typeof answer?.content?.text === 'string' ? answer.content.text : undefined;
}

/** The roots that the client answered; undefined when it was not asked. */
export function rootsIn({ responses }: HandlerContext, key: string): readonly unknown[] | undefined {
  const { roots } = responses?.[key] ?? {};
  return Array.isArray(roots) ? roots : undefined;
}

/** A red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No sound. */
export const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
