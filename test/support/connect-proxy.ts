import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { closeServer, listen } from './upstream.js';

/** A proxy on 127.0.0.1 that opens tunnels by CONNECT, each to the same loopback port whatever name was asked for. */
export interface ConnectProxy {
  /** Without credentials. */
  readonly url: string;
  readonly port: number;
  /** The heads that it was sent. */
  readonly asked: string[];
  /** Replace it to misbehave: what is written instead of opening a tunnel. Empty: it says nothing. */
  answer: string | undefined;
  close(): Promise<void>;
}

export async function startConnectProxy(target_port: number, tls?: { readonly key: string; readonly cert: string }): Promise<ConnectProxy> {
  const open = new Set<Socket>();
  const follow = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  };
  const serve = (socket: Socket): void => {
    follow(socket);
    let head = '';
    const read = (bytes: Buffer): void => {
      head += bytes.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      socket.removeListener('data', read);
      proxy.asked.push(head);
      if (proxy.answer !== undefined) return void (proxy.answer !== '' && socket.write(proxy.answer));
      const up = connect(target_port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n');
        socket.pipe(up).pipe(socket);
      });
      follow(up);
    };
    socket.on('data', read);
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => undefined);
  const port = await listen(server);
  const proxy: ConnectProxy = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    asked: [],
    answer: undefined,
    close: () => closeServer(server, open),
  };
  return proxy;
}
