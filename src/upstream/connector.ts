import { EventEmitter } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls';
import { DIRECT, type TunnelEgress } from './egress.js';
import type { TunnelDone } from './tunnel.js';

/** Takes what was read: `n` bytes at the start of the buffer that all connections share. False: stop reading. */
export type OnRead = (n: number, shared: Buffer) => boolean;

/** Opens sockets to one origin. */
export interface Connector {
  /** The event that says that the socket may be written to. */
  readonly ready: 'connect' | 'secureConnect';
  open(onread: OnRead): UpstreamSocket;
}

/** What a connection needs of its socket. */
export interface UpstreamSocket {
  readonly writableLength: number;
  write(bytes: Buffer): boolean;
  write(text: string, encoding: 'latin1'): boolean;
  cork(): void;
  uncork(): void;
  resume(): unknown;
  destroy(): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'connect' | 'secureConnect', listener: () => void): unknown;
}

/**
 * Makes the connector of an http or https origin. TLS is always verified, against `ca` (PEM) or the public authorities, with the
 * origin's host as server name; a later handshake resumes the last session. Through a proxy of `egress` the handshake is with the
 * origin all the same.
 */
export function createConnector(origin: string, ca: string | undefined, egress: TunnelEgress = DIRECT): Connector {
  const { protocol, hostname, port } = new URL(origin);
  // An IPv6 address stands in brackets in a URL and without them in a socket address.
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const shared = { host, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  if (protocol === 'http:') {
    const options = { ...shared, port: port === '' ? 80 : Number(port) };
    return {
      ready: 'connect',
      open: (callback) => connectTcp({ ...options, onread: { buffer: READ_BUFFER, callback: callback as never } }),
    };
  }
  // Made once: building the trust store for each connection costs milliseconds.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  const options = {
    ...shared,
    port: port === '' ? 443 : Number(port),
    rejectUnauthorized: true,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
  let session: Buffer | undefined;
  const tunnel = egress.tunnel(origin);
  const dial = (own: ConnectionOptions): TLSSocket => {
    const socket = connectTls({ ...options, ...own, ...(session === undefined ? {} : { session }) });
    // Node tells a session only once the peer was verified.
    socket.on('session', (latest: Buffer) => {
      session = latest;
    });
    // One that the upstream does not take any more must not spoil the next attempt too.
    socket.once('error', () => {
      session = undefined;
    });
    return socket;
  };
  return {
    ready: 'secureConnect',
    open(callback) {
      if (tunnel !== undefined) return new LateSocket(tunnel, (socket) => dial({ socket }), callback);
      // The types know of `onread` for TCP only; Node's TLS socket takes it alike.
      return dial({ onread: { buffer: READ_BUFFER, callback } } as ConnectionOptions);
    },
  };
}

/** Node reads one socket at a time and its bytes are copied out before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(65_536);

/** A TLS socket that is made once its tunnel stands. It is written to and paused only after `secureConnect`. */
class LateSocket extends EventEmitter implements UpstreamSocket {
  readonly #giveUp: () => void;
  #socket: TLSSocket | undefined;

  constructor(tunnel: (done: TunnelDone) => () => void, dial: (socket: Socket) => TLSSocket, onread: OnRead) {
    super();
    this.#giveUp = tunnel((error, socket) => {
      if (socket !== null) this.#use(dial(socket), onread);
      // The opener attaches the socket's listeners after this.
      else setImmediate(() => this.emit('error', error));
    });
  }

  get writableLength(): number {
    return this.#socket?.writableLength ?? 0;
  }

  write(written: Buffer | string, encoding?: 'latin1'): boolean {
    return this.#secured.write(written, encoding);
  }

  cork(): void {
    this.#secured.cork();
  }

  uncork(): void {
    this.#secured.uncork();
  }

  resume(): void {
    this.#socket?.resume();
  }

  destroy(): void {
    if (this.#socket === undefined) this.#giveUp();
    else this.#socket.destroy();
  }

  get #secured(): TLSSocket {
    if (this.#socket === undefined) throw new Error('the tunnel is not open');
    return this.#socket;
  }

  /** Node hands reads of a socket over another one by `data` events only. */
  #use(socket: TLSSocket, onread: OnRead): void {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      if (!onread(bytes.length, bytes)) socket.pause();
    });
    for (const event of ['secureConnect', 'end', 'error', 'close']) socket.on(event, (...told) => this.emit(event, ...told));
  }
}
