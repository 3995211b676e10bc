// A prompt whose second argument is completed from the first.
import { defineServer } from 'portcullis/server';

const FRAMEWORKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['python', ['django', 'fastapi', 'flask']],
  ['typescript', ['express', 'fastify', 'hono']],
]);

export const server = defineServer({
  name: 'reviews',
  version: '1.0.0',
  prompts: [
    {
      name: 'code_review',
      description: 'Asks for a review of code.',
      arguments: [
        { name: 'code', description: 'What is reviewed.', required: true },
        { name: 'language', required: true },
        { name: 'framework' },
      ],
      get: ({ code, language, framework }) => ({
        messages: [
          {
            role: 'user',
            content: {
              type: 'text',
              text: `Review this ${language} code${framework === undefined ? '' : ` for ${framework}`}:\n\n${code}`,
            },
          },
        ],
      }),
    },
  ],
  completions: [
    {
      prompt: 'code_review',
      argument: 'language',
      complete: ({ value }) => [...FRAMEWORKS.keys()].filter((name) => name.startsWith(value)),
    },
    {
      prompt: 'code_review',
      argument: 'framework',
      complete: ({ value, arguments: settled }) => (FRAMEWORKS.get(settled.language ?? '') ?? []).filter((name) => name.startsWith(value)),
    },
  ],
});
