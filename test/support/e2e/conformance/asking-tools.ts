import type { ServerContext } from '@modelcontextprotocol/server';
import { type FixtureTools, object, text } from './feature.js';

const describe = ({ action, content }: { readonly action: string; readonly content?: unknown }): string =>
  `action=${action}, content=${JSON.stringify(content ?? {})}`;

type Schema = Parameters<ServerContext['mcpReq']['elicitInput']>[0] & { readonly requestedSchema: unknown };

async function elicit(context: ServerContext, message: string, requestedSchema: object): Promise<string> {
  return describe(await context.mcpReq.elicitInput({ message, requestedSchema } as Schema));
}

const titled = (...titles: readonly string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }));
const OPTIONS = ['option1', 'option2', 'option3'];

/** Tools that send the client a request of their own while they run: legacy revisions only. */
export const ASKING_TOOLS: FixtureTools = {
  test_sampling: {
    input: object({ prompt: { type: 'string' } }, 'prompt'),
    async run({ prompt }, context) {
      const content = { type: 'text', text: String(prompt) } as const;
      const answer = await context.mcpReq.requestSampling({ messages: [{ role: 'user', content }], maxTokens: 100 });
      const said = Array.isArray(answer.content) ? answer.content[0] : answer.content;
      return text(`LLM response: ${said?.type === 'text' ? said.text : ''}`);
    },
  },
  test_elicitation: {
    input: object({ message: { type: 'string' } }, 'message'),
    run: async ({ message }, context) =>
      text(`User response: ${await elicit(context, String(message), object({ response: { type: 'string' } }, 'response'))}`),
  },
  test_elicitation_sep1034_defaults: {
    run: async (_args, context) =>
      text(
        `Elicitation completed: ${await elicit(
          context,
          'Please review the defaults',
          object({
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          }),
        )}`,
      ),
  },
  test_elicitation_sep1330_enums: {
    run: async (_args, context) =>
      text(
        `Elicitation completed: ${await elicit(
          context,
          'Please choose',
          object({
            untitledSingle: { type: 'string', enum: OPTIONS },
            titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
            legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
            untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: OPTIONS } },
            titledMulti: {
              type: 'array',
              minItems: 1,
              maxItems: 3,
              items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') },
            },
          }),
        )}`,
      ),
  },
};
