import { fileURLToPath } from 'node:url';
import { startChild } from '../parts/child.js';
import type { Row } from './row.js';

/** What there would be without this product: @fastify/http-proxy as it comes, no logger, nothing verified. */
export const httpProxy: Row = {
  name: '@fastify/http-proxy',
  guarded: false,
  async open({ upstream_port }) {
    const script = fileURLToPath(new URL('../parts/bare-proxy.js', import.meta.url));
    const child = startChild(process.execPath, [script, `http://127.0.0.1:${upstream_port}`], { channel: true });
    return { child, ...(await child.message<{ port: number }>()) };
  },
};
