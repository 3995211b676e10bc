// A UI as the http runtime meets it: cookies, redirects, a stream, a slow download, and an echo of what it was sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeServer, listen } from '../upstream.js';

export interface Ui {
  readonly url: string;
  /** Path and headers of every request. */
  readonly seen: { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  /** Requests whose connection ended before the answer was whole, by path. */
  readonly aborted: string[];
  readonly open: () => number;
  close(): Promise<void>;
}

/** A UI below `/app` on a free port; any path it has no page for answers with its URL, the bytes of its body and its headers. */
export async function startUi(): Promise<Ui> {
  const seen: { url: string; headers: IncomingMessage['headers'] }[] = [];
  const aborted: string[] = [];
  const sockets = new Set<Socket>();
  let open = 0;
  const server: Server = createServer((request, response) => {
    const { url = '', headers } = request;
    seen.push({ url, headers });
    open += 1;
    request.on('error', () => undefined);
    response.on('close', () => {
      open -= 1;
      if (!response.writableFinished) aborted.push(url);
    });
    answer(url, request, response);
  });
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, seen, aborted, open: () => open, close: () => closeServer(server, sockets) };

  function answer(url: string, request: IncomingMessage, response: ServerResponse): void {
    if (url === '/app/login') {
      const cookies = ['sid=1; Path=/; HttpOnly', 'app=2; Path=/app/deep; Domain=example.com', 'plain=3', '__Host-x=4; Path=/; Secure'];
      return void response.writeHead(200, { 'set-cookie': cookies }).end('welcome');
    }
    if (url === '/app/moved') return void response.writeHead(302, { location: `http://127.0.0.1:${port}/app/page?x=1` }).end();
    if (url === '/app/out') return void response.writeHead(302, { location: 'https://elsewhere.test/' }).end();
    if (url === '/app/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.write('data: hello\n\n');
    }
    if (url === '/app/download') {
      response.writeHead(200, { 'content-length': 20 });
      let sent = 0;
      const timer = setInterval(() => {
        response.write('0123456789');
        if (++sent < 2) return;
        clearInterval(timer);
        response.end();
      }, 600);
      return;
    }
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.end(JSON.stringify({ url, bytes, headers: request.headers })));
  }
}
