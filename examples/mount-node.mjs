// A server inside node:http; Express and Connect take the same handler: `node examples/mount-node.mjs 3000`.
import { createServer } from 'node:http';
import { createNodeMount } from 'portcullis/node';
import { defineServer } from 'portcullis/server';

const server = defineServer({
  name: 'mounted',
  version: '1.0.0',
  tools: [{ name: 'whoami', run: (_input, { identity }) => identity?.principal ?? 'nobody' }],
});

const mcp = createNodeMount(server);
const http = createServer((request, response) => {
  if (request.url === '/mcp') return mcp(request, response);
  response.writeHead(404).end();
});
http.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
