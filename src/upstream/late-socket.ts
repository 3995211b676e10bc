import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { OnRead, UpstreamSocket } from './connector.js';
import type { TunnelDone } from './tunnel.js';

/** A TLS socket that is made once its tunnel stands. It is written to and paused only after `secureConnect`. */
export class LateSocket extends EventEmitter implements UpstreamSocket {
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
