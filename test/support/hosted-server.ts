// The module of a hosted runtime in tests.
import { defineServer, defineTool, Type } from '../../src/server.js';

export const server = defineServer({
  name: 'clock',
  version: '1.0.0',
  tools: [
    defineTool({ name: 'shout', input: Type.Object({ text: Type.String() }), run: ({ text }) => text.toUpperCase() }),
    { name: 'locked', scopes: ['never'], run: () => 'open' },
    {
      name: 'whoami',
      run: (_input, { identity }) => identity?.principal ?? 'nobody',
    },
  ],
});
