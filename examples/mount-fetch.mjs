// A server as a fetch handler: `deno serve examples/mount-fetch.mjs`, `bun examples/mount-fetch.mjs`, or `app.mount('/mcp', mcp)` in Hono.
import { createFetchMount } from 'portcullis/fetch';
import { defineServer } from 'portcullis/server';

const server = defineServer({
  name: 'mounted',
  version: '1.0.0',
  tools: [{ name: 'whoami', run: (_input, { identity }) => identity?.principal ?? 'nobody' }],
});

const mcp = createFetchMount(server);

// biome-ignore lint/style/noDefaultExport: what Deno, Bun and Workers look for.
export default {
  fetch: (request) => (new URL(request.url).pathname === '/mcp' ? mcp(request) : new Response('Not found', { status: 404 })),
};
