// A server inside a Fastify app that has an authentication of its own: `node examples/mount-fastify.mjs 3000`.
import { timingSafeEqual } from 'node:crypto';
import { fastify } from 'fastify';
import { fastifyMount } from 'portcullis/fastify';
import { defineServer } from 'portcullis/server';

const server = defineServer({
  name: 'mounted',
  version: '1.0.0',
  tools: [{ name: 'whoami', run: (_input, { identity }) => identity?.principal ?? 'nobody' }],
});

const KEY = Buffer.from('Bearer ann-secret');
const app = fastify();
app.addHook('onRequest', async (request, reply) => {
  const given = Buffer.from(request.headers.authorization ?? '');
  if (given.length !== KEY.length || !timingSafeEqual(given, KEY)) return reply.code(401).send({ error: 'unauthorized' });
  request.mcpAuth = { principal: 'ann' };
});
app.post('/echo', async (request) => request.body);
await app.register(fastifyMount, { server, path: '/mcp' });
console.log(`${await app.listen({ port: Number(process.argv[2] ?? 3000), host: '127.0.0.1' })}/mcp`);
