// The bare @fastify/http-proxy that the rows are compared with.
import type { AddressInfo } from 'node:net';
import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';

const app = fastify({ logger: false });
await app.register(httpProxy, { upstream: process.argv[2] ?? '' });
await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ port: (app.server.address() as AddressInfo).port });
