import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../contract/clock.js';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];
const GRACE_MS = 250;

/** Throws unless the host is this machine alone: what the demo starts must not be reachable from a network. */
export function loopbackOnly(host: string): void {
  if (!LOOPBACK.includes(host)) throw new Error(`the demo listens on ${LOOPBACK.join(', ')} only, not on ${host}`);
}

/** True for `localhost`, `127.0.0.1` and `[::1]`, with or without a port. */
export function isLoopbackName(authority: string | undefined): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i.test(authority ?? '');
}

/** Listens; resolves with the origin that was bound. */
export function listenOn(server: Server, options: { readonly host: string; readonly port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      const { address, family, port } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${port}`);
    });
  });
}

/** Takes no more, gives answers under way a moment to leave, then closes every connection. */
export async function closeServer(server: Server, clock: Clock): Promise<void> {
  const timer = clock.timer(GRACE_MS, () => server.closeAllConnections());
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  timer.cancel();
}

/** The body as text; undefined when it is larger than `max_bytes`. */
export async function readBody(request: IncomingMessage, max_bytes: number): Promise<string | undefined> {
  if (Number(request.headers['content-length']) > max_bytes) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > max_bytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
