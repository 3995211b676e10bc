// A whole server. Serve it: runtimes: { clock: { kind: hosted, module: ./ten-lines.js } }
import { defineServer, defineTool, Type } from 'portcullis/server';

const now = defineTool({
  name: 'now',
  description: 'Tells the time in a time zone.',
  input: Type.Object({ zone: Type.String({ examples: ['Europe/Berlin'] }) }),
  run: ({ zone }) => new Date().toLocaleTimeString('en-GB', { timeZone: zone }),
});

export const server = defineServer({ name: 'clock', version: '1.0.0', tools: [now] });
