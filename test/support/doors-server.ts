// A server of tests that come in by another door than the listener: stdio and mounts.
import { createHub, defineServer, elicit } from '../../src/server.js';

export const hub = createHub();
/** What handlers noticed: `began`, `aborted`. */
export const noticed: string[] = [];

export const server = defineServer({
  name: 'doors',
  version: '1.0.0',
  changes: hub,
  tools: [
    {
      name: 'say',
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      run: ({ text }, { identity }) => `${text} ${identity?.principal ?? 'nobody'}`,
    },
    {
      name: 'count',
      async run(_input, context) {
        for (let n = 1; n <= 3; n++) {
          context.progress(n, 3);
          // Official clients drop progress that comes in one piece with the answer.
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return 'counted';
      },
    },
    {
      name: 'hang',
      run: (_input, { signal }) => {
        noticed.push('began');
        return new Promise<string>((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            noticed.push('aborted');
            reject(new Error('given up'));
          }),
        );
      },
    },
    { name: 'big', run: () => 'x'.repeat(1_000_000) },
    {
      name: 'ask',
      run: (_input, context) =>
        context.responses === undefined
          ? context.inputRequired({ requests: { who: elicit('Who?', { type: 'object', properties: { name: { type: 'string' } } }) } })
          : 'asked',
    },
  ],
});
