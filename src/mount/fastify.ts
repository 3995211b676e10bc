import type { FastifyInstance } from 'fastify';
import type { Server } from '../contract/server.js';
import type { MountAuth, MountCaller } from './caller.js';
import { createNodeMount, type NodeRequest } from './node.js';
import type { MountOptions } from './options.js';

export type { MountAuth, MountCaller } from './caller.js';
export type { MountOptions } from './options.js';

declare module 'fastify' {
  interface FastifyRequest {
    mcpAuth?: MountAuth | undefined;
    mcpCancellationScope?: string | undefined;
  }
}

/** Of `fastifyMount`; limits and defaults as in `MountOptions`. */
export interface FastifyMountOptions extends MountOptions {
  /** Made by `defineServer`. */
  readonly server: Server;
  /** The full public path, such as `/api/mcp`, also where the plugin is registered under the prefix `/api`. */
  readonly path: string;
}

/**
 * A Fastify plugin that serves a server of ours at one path. There, and nowhere else, the body stays raw: the app's parsers are left
 * alone. Hooks of the app run before it, and headers they set go with the answer. When the app closes it drains first. Rejects with
 * TypeError when the server was not made by `defineServer` or the path is outside of the prefix.
 */
export async function fastifyMount(app: FastifyInstance, { server, path, ...options }: FastifyMountOptions): Promise<void> {
  if (!path.startsWith('/') || !path.startsWith(app.prefix)) throw new TypeError(`path "${path}" is not under the prefix "${app.prefix}"`);
  const mount = createNodeMount(server, options);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: path.slice(app.prefix.length),
    exposeHeadRoute: false,
    handler(request, reply) {
      reply.hijack();
      const { mcpAuth, mcpCancellationScope }: MountCaller = request;
      mount(Object.assign(request.raw as NodeRequest, { mcpAuth, mcpCancellationScope }), reply.raw, reply.getHeaders());
    },
  });
  app.addHook('preClose', () => mount.close());
}
