// The same as a hosted server.
import { defineServer } from '../../../../src/server.js';

const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

export const server = defineServer({
  name: 'hosted',
  version: '1',
  tools: [{ name: 'echo', input, run: ({ text }) => String(text) }],
});
