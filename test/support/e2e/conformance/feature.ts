import type { CallToolResult, InputRequiredResult, JsonSchemaType, ServerContext } from '@modelcontextprotocol/server';

/** One tool of the conformance fixture. `input` is its JSON Schema, by default an object without properties. */
export interface FixtureTool {
  readonly input?: JsonSchemaType;
  run(args: Readonly<Record<string, unknown>>, context: ServerContext): Promise<CallToolResult | InputRequiredResult>;
}

export type FixtureTools = Readonly<Record<string, FixtureTool>>;

/** A JSON Schema of an object; members of a property that JSON Schema does not know are kept. */
export const object = (properties: Readonly<Record<string, object>>, ...required: readonly string[]) => ({
  type: 'object' as const,
  properties: properties as Record<string, JsonSchemaType>,
  required: [...required],
});

/** A tool result of one text. */
export const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

/** A red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No sound. */
export const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
