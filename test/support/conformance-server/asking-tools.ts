import { elicit, type HandlerContext, type JsonSchema, sample } from '../../../src/server.js';
import { object, said, type Tools } from './feature.js';

const OPTIONS = ['option1', 'option2', 'option3'];
const titled = (...titles: readonly string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }));

/** Asks one question, then tells what was answered. */
function elicitOnce(context: HandlerContext, before: string, message: string, schema: JsonSchema) {
  if (context.responses === undefined) return context.inputRequired({ requests: { answer: elicit(message, schema) } });
  const { action, content = {} } = context.responses.answer ?? {};
  return `${before}: action=${String(action)}, content=${JSON.stringify(content)}`;
}

/** Tools that ask the client one question. A legacy client gets it as a request on the stream of the call. */
export const ASKING_TOOLS: Tools = {
  test_sampling: {
    input: object({ prompt: { type: 'string' } }, 'prompt'),
    run({ prompt }, context) {
      const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
      if (context.responses === undefined) return context.inputRequired({ requests: { answer: sample({ messages, maxTokens: 100 }) } });
      return `LLM response: ${said(context, 'answer')}`;
    },
  },
  test_elicitation: {
    input: object({ message: { type: 'string' } }, 'message'),
    run: ({ message }, context) =>
      elicitOnce(context, 'User response', String(message), object({ response: { type: 'string' } }, 'response')),
  },
  test_elicitation_sep1034_defaults: {
    run: (_input, context) =>
      elicitOnce(
        context,
        'Elicitation completed',
        'Please review the defaults',
        object({
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        }),
      ),
  },
  test_elicitation_sep1330_enums: {
    run: (_input, context) =>
      elicitOnce(
        context,
        'Elicitation completed',
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
      ),
  },
};
