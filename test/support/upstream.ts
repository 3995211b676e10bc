import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';

/** One request as an upstream saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly raw: readonly string[];
  readonly body: Buffer;
  /** True when the connection was closed before the answer was complete. */
  aborted: boolean;
}

export interface Upstream {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly seen: SeenRequest[];
  /** Connections accepted so far. */
  readonly connection_count: number;
  /** Resolves when the count of aborted requests has reached `count`. */
  aborted(count: number): Promise<void>;
  close(): Promise<void>;
}

export type Answering = (request: SeenRequest, response: ServerResponse, raw: IncomingMessage) => void;

/** A real HTTP server on 127.0.0.1 that records what it is asked. */
export async function startUpstream(answer: Answering, tls?: { readonly key: string; readonly cert: string }): Promise<Upstream> {
  const seen: SeenRequest[] = [];
  const watchers = new Set<() => void>();
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const entry: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        raw: request.rawHeaders,
        body: Buffer.concat(chunks),
        aborted: false,
      };
      seen.push(entry);
      response.on('close', () => {
        entry.aborted = !response.writableFinished;
        for (const watcher of watchers) watcher();
      });
      answer(entry, response, request);
    });
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer({ ...tls }, listener);
  const sockets = new Set<Socket>();
  let connection_count = 0;
  server.on(tls === undefined ? 'connection' : 'secureConnection', () => (connection_count += 1));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  const port = await listen(server);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    seen,
    get connection_count() {
      return connection_count;
    },
    aborted: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (seen.filter((entry) => entry.aborted).length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    close: () => closeServer(server, sockets),
  };
}

/** Listens on 127.0.0.1 at a free port and returns it. */
export function listen(server: Server, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, backlog: 2048 }, () => resolve((server.address() as AddressInfo).port));
  });
}

export function closeServer(server: Server, sockets: Iterable<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
