// Assertions about the types of `portcullis/server`. The compiler makes them: a change of a type fails the build.
import { it } from 'node:test';
import * as z from 'zod';
import {
  type CompletionDefinition,
  type CompletionTarget,
  type createDispatch,
  type createHub,
  type defineServer,
  defineTool,
  type HandlerContext,
  type Hub,
  type InputRequired,
  type SchemaInput,
  type SchemaOutput,
  type Server,
  type ServerDefinition,
  type StandardSchema,
  type StructuredResult,
  type ToolAnswer,
  type ToolDefinition,
  type ToolResult,
  Type,
} from '../../src/server.js';
import { same } from '../support/same-type.js';

it('types of portcullis/server', () => {
  same<ReturnType<typeof defineServer>, Server>();
  same<Parameters<typeof defineServer>, [definition: ServerDefinition]>();
  same<ReturnType<typeof createHub>, Hub>();
  same<Parameters<typeof createDispatch>[0], Server>();

  const text = Type.Object({ text: Type.String(), times: Type.Optional(Type.Integer()) });
  same<SchemaInput<typeof text>, { text: string; times?: number }>();
  same<SchemaOutput<typeof text>, { text: string; times?: number }>();
  same<SchemaInput<StandardSchema<string, Date>>, string>();
  same<SchemaOutput<StandardSchema<string, Date>>, Date>();
  same<ToolAnswer<undefined>, string | ToolResult | InputRequired>();
  same<ToolAnswer<StandardSchema<{ n: string }, { n: number }>>, StructuredResult<{ n: string }> | InputRequired>();

  const typed = defineTool({
    name: 't',
    input: text,
    run(input, context) {
      same<typeof input, { text: string; times?: number }>();
      same<typeof context, HandlerContext>();
      return input.text;
    },
  });
  same<typeof typed, ToolDefinition>();

  defineTool({
    name: 't',
    input: z.object({ n: z.string().transform(Number) }),
    output: z.object({ n: z.string().transform(Number) }),
    run(input) {
      same<typeof input, { n: number }>();
      return { structuredContent: { n: String(input.n) } };
    },
  });
  defineTool({ name: 't', input: text, output: text, run: ({ text }) => ({ structuredContent: { text } }) });
  defineTool({
    name: 't',
    output: text,
    run(input) {
      same<typeof input, Readonly<Record<string, never>>>();
      return { structuredContent: { text: '' } };
    },
  });
  defineTool({ name: 't', input: text, output: text, run: () => ({ isError: true, content: [] }) });
  defineTool({ name: 't', input: text, output: text, run: (_input, context) => context.inputRequired({ state: 1 }) });
  // @ts-expect-error a tool with an output schema answers structured content
  defineTool({ name: 't', input: text, output: text, run: () => 'a text' });
  // @ts-expect-error of the type of the schema
  defineTool({ name: 't', input: text, output: text, run: () => ({ structuredContent: { text: 1 } }) });
  // @ts-expect-error in a promise too
  defineTool({ name: 't', input: text, output: text, run: async () => ({ structuredContent: {} }) });

  same<CompletionDefinition extends CompletionTarget ? true : false, true>();
  const complete = () => [];
  ({ prompt: 'p', argument: 'a', complete }) satisfies CompletionDefinition;
  ({ template: 'x:{a}', argument: 'a', complete }) satisfies CompletionDefinition;
  // @ts-expect-error neither
  ({ argument: 'a', complete }) satisfies CompletionDefinition;
  // @ts-expect-error both
  ({ prompt: 'p', template: 'x:{a}', argument: 'a', complete }) satisfies CompletionDefinition;
});
