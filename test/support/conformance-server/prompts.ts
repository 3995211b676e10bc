import type { CompletionDefinition, ContentBlock, PromptDefinition, PromptResult } from '../../../src/server.js';
import { askFor, PNG } from './feature.js';
import { given } from './round-tools.js';

const user = (...contents: readonly ContentBlock[]): PromptResult => ({
  messages: contents.map((content) => ({ role: 'user', content })),
});
const needed = (...names: readonly string[]) => names.map((name) => ({ name, required: true }));

export const PROMPTS: readonly PromptDefinition[] = [
  { name: 'test_simple_prompt', description: 'Without arguments.', get: () => 'This is a simple prompt for testing.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'With arguments.',
    arguments: needed('arg1', 'arg2'),
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'With a resource.',
    arguments: needed('resourceUri'),
    get: ({ resourceUri = '' }) =>
      user(
        { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
        { type: 'text', text: 'Please process the embedded resource above.' },
      ),
  },
  {
    name: 'test_prompt_with_image',
    description: 'With an image.',
    get: () => user({ type: 'image', data: PNG, mimeType: 'image/png' }, { type: 'text', text: 'Please analyze the image above.' }),
  },
  {
    name: 'test_input_required_result_prompt',
    description: 'Asks first.',
    get(_input, context) {
      const asked = given(context, 'user_context', 'context');
      if (asked !== undefined) return `Use the following context: ${asked}`;
      return context.inputRequired({ requests: { user_context: askFor('What context should the prompt use?', 'context') } });
    },
  },
];

const WORDS = ['paris', 'park', 'party'];

export const COMPLETIONS: readonly CompletionDefinition[] = [
  {
    prompt: 'test_prompt_with_arguments',
    argument: 'arg1',
    complete: ({ value }) => WORDS.filter((word) => word.startsWith(value)),
  },
  { template: 'test://template/{id}/data', argument: 'id', complete: ({ value }) => [`${value}1`, `${value}2`] },
];
