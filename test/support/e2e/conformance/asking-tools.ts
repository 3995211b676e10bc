import type { ElicitRequestFormParams, ServerContext } from '@modelcontextprotocol/server';
import { type FixtureTools, object, text } from './feature.js';

/** Asks on the stream of the call itself: `elicitInput` would ask on the GET stream, which the client may not have opened yet. */
async function elicit({ mcpReq }: ServerContext, message: string, requestedSchema: object): Promise<string> {
  const params = { message, requestedSchema } as ElicitRequestFormParams;
  const { action, content = {} } = await mcpReq.send({ method: 'elicitation/create', params });
  return `action=${action}, content=${JSON.stringify(content)}`;
}

const titled = (...titles: readonly string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }));
const OPTIONS = ['option1', 'option2', 'option3'];

/** Tools that send the client a request of their own while they run: legacy revisions only. */
export const ASKING_TOOLS: FixtureTools = {
  test_sampling: {
    input: object({ prompt: { type: 'string' } }, 'prompt'),
    async run({ prompt }, context) {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }];
      const answer = await context.mcpReq.send({ method: 'sampling/createMessage', params: { messages, maxTokens: 100 } });
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
