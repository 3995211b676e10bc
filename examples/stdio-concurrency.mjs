// A server over stdio that works on many calls at once; a client starts it: `node examples/stdio-concurrency.mjs`.
import { setTimeout as sleep } from 'node:timers/promises';
import { defineServer, serveStdio } from 'portcullis/server';

const server = defineServer({
  name: 'kitchen',
  version: '1.0.0',
  tools: [
    {
      name: 'cook',
      description: 'Takes as long as it is told. A quick dish that was ordered later is served first.',
      input: {
        type: 'object',
        properties: { dish: { type: 'string' }, ms: { type: 'integer', minimum: 0, maximum: 60_000 } },
        required: ['dish', 'ms'],
      },
      async run({ dish, ms }, { signal }) {
        // `notifications/cancelled` aborts the signal, and a cancelled call is never answered.
        await sleep(ms, undefined, { signal });
        return `${dish} is ready`;
      },
    },
  ],
});

// Returns at the end of the input, when what was admitted has been answered. Nothing else may write to standard output.
const end = await serveStdio(server, { input: process.stdin, output: process.stdout });
process.exitCode = end === 'eof' ? 0 : 1;
