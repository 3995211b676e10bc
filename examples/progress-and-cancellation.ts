// A tool that takes its time: it tells how far it is, and stops when nobody waits any more.
import { setTimeout as sleep } from 'node:timers/promises';
import { defineServer, defineTool, ToolError, Type } from 'portcullis/server';

const crawl = defineTool({
  name: 'crawl',
  description: 'Visits pages one after the other.',
  input: Type.Object({ pages: Type.Integer({ minimum: 1, maximum: 100 }) }),
  output: Type.Object({ visited: Type.Integer() }),
  annotations: { readOnlyHint: true },
  async run({ pages }, context) {
    for (let page = 1; page <= pages; page++) {
      // The client leaves, the deadline passes, the gateway drains: all of them abort this signal.
      await sleep(100, undefined, { signal: context.signal });
      if (page === 13) throw new ToolError('Page 13 does not exist. Ask for 12 pages or fewer.');
      context.progress(page, pages, `page ${page}`);
      context.log('debug', { page });
    }
    return { structuredContent: { visited: pages } };
  },
});

export const server = defineServer({ name: 'crawler', version: '1.0.0', tools: [crawl] });
