import type { ToolResult } from '../../contract/content.js';
import type { HandlerContext, InputRequired } from '../../contract/handler.js';
import type { Static, TSchema } from '../../contract/options.js';
import type { Awaitable, ToolDefinition } from '../../contract/server.js';

/** A tool whose handler's input has the type of its schema. */
export type TypedTool<S extends TSchema> = Omit<ToolDefinition, 'input' | 'run'> & {
  readonly input: S;
  run(input: Static<S>, context: HandlerContext): Awaitable<string | ToolResult | InputRequired>;
};

/** Types a tool's handler by its input schema; returns the tool unchanged. */
export function defineTool<const S extends TSchema>(tool: TypedTool<S>): ToolDefinition {
  return tool as unknown as ToolDefinition;
}
