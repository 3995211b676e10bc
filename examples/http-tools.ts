// Tools over HTTP: a gateway in this process serves them, a client lists and calls them. `node dist/examples/http-tools.js`
import { join } from 'node:path';
import { createGateway } from 'portcullis';
import { type ClientError, connect } from 'portcullis/client';

const gateway = createGateway({
  listener: { host: '127.0.0.1', port: 0 },
  ops: { enabled: false },
  runtimes: { crawler: { kind: 'hosted', module: join(import.meta.dirname, 'progress-and-cancellation.js') } },
  routes: [{ path: '/mcp', public: true, runtime: 'crawler' }],
});
await gateway.start();

const client = await connect({ http: `${gateway.url}/mcp` });
const tools = await client.listTools();
console.log(tools.map(({ name, description }) => `${name}: ${description}`).join('\n'));

const { structuredContent } = await client.callTool(
  'crawl',
  { pages: 3 },
  { onProgress: ({ progress, total }) => console.log(`page ${progress} of ${total}`) },
);
console.log(JSON.stringify(structuredContent));

// Arguments that do not fit are a result that tells the model so; a name that does not exist is an error.
console.log((await client.callTool('crawl', { pages: 0 })).isError);
console.log(await client.callTool('craul').catch((error: ClientError) => error.code));

// Aborting closes the stream, and the tool stops.
const stop = new AbortController();
const stopped = client.callTool('crawl', { pages: 12 }, { signal: stop.signal, onProgress: () => stop.abort() });
console.log(await stopped.catch((error: ClientError) => error.code));

await client.close();
await gateway.close();
