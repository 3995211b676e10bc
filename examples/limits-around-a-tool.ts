// One slow, one dear tool: limits for each component, on every transport, before its handler runs.
import { setTimeout as sleep } from 'node:timers/promises';
import { defineServer, defineTool, Type, withConcurrency, withRateLimit, withTimeout } from 'portcullis/server';

const report = defineTool({
  name: 'report',
  description: 'Makes a report; two at a time, ten seconds each.',
  input: Type.Object({}),
  wrap: [withConcurrency({ limit: 2 }), withTimeout({ timeout_ms: 10_000 })],
  async run(_input, { signal }) {
    await sleep(3000, undefined, { signal });
    return 'The report.';
  },
});

const search = defineTool({
  name: 'search',
  description: 'Searches; thirty times a minute for each caller.',
  input: Type.Object({ text: Type.String({ maxLength: 200 }) }),
  wrap: [withRateLimit({ limit: 30, window_ms: 60_000, key: ({ identity }) => identity?.principal ?? '' })],
  run: ({ text }) => `Nothing was found for ${text}.`,
});

export const server = defineServer({ name: 'reports', version: '1.0.0', tools: [report, search] });
