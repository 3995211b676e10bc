// The server of the tests of mounts in each kind of host, with an authentication of the host: `Bearer NAME`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { fastifyMount } from '../../src/mount/fastify.js';
import { createFetchMount } from '../../src/mount/fetch.js';
import { createNodeMount } from '../../src/mount/node.js';
import type { MountOptions } from '../../src/mount/options.js';
import { server } from './doors-server.js';

export interface Mounted {
  readonly url: string;
  readonly port: number;
  /** The host's own fetch: undefined where the request goes over the network. */
  readonly fetch?: typeof fetch;
  close(): Promise<void>;
}

const callerOf = (token: string | null | undefined) =>
  token?.startsWith('Bearer ') === true ? { mcpAuth: { principal: token.slice(7) }, mcpCancellationScope: token } : {};

export const HOSTS: Readonly<Record<string, (options?: MountOptions) => Promise<Mounted>>> = {
  async node(options = {}) {
    const mount = createNodeMount(server, options);
    const http = createServer((request, response) => mount(Object.assign(request, callerOf(request.headers.authorization)), response));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      port,
      async close() {
        await mount.close(100);
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    };
  },
  async fastify(options = {}) {
    const app = fastify({ forceCloseConnections: true });
    app.addHook('onRequest', async (request) => void Object.assign(request, callerOf(request.headers.authorization)));
    app.post('/echo', async (request) => request.body);
    await app.register(fastifyMount, { prefix: '/api', server, path: '/api/mcp', ...options, drain_timeout_ms: 100 });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url: `${url}/api/mcp`, port: Number(new URL(url).port), close: () => app.close() };
  },
  async fetch(options = {}) {
    const mount = createFetchMount(server, options);
    // No socket keeps the process, and no timer of ours does.
    const hold = setInterval(() => undefined, 1_000);
    const own: typeof fetch = (input, init = {}) => {
      const request = new Request(input as string, init);
      if (typeof init.body === 'string') request.headers.set('content-length', String(Buffer.byteLength(init.body)));
      return mount(request, callerOf(request.headers.get('authorization')));
    };
    return { url: 'http://127.0.0.1/mcp', port: 0, fetch: own, close: () => mount.close(100).finally(() => clearInterval(hold)) };
  },
};
