import { ChunkedDecoder } from './chunked.js';
import type { Connector, UpstreamSocket } from './connector.js';
import type { ResponseHead, UpstreamHandle, UpstreamListener, UpstreamRequest } from './exchange.js';
import { badAnswer, UpstreamFailure } from './exchange.js';
import { parseResponseHead } from './response-head.js';

/** Largest head of an answer, informational ones counted apart. */
export const MAX_HEAD_BYTES = 32_768;
/** Informational answers (1xx) before the final one. */
export const MAX_INFORMATIONAL = 16;

/** Who keeps connections; told each once a turn. */
export interface ConnectionOwner {
  /** It is open and may be written to. */
  opened(connection: UpstreamConnection): void;
  /** The exchange is over and the connection may carry another. */
  released(connection: UpstreamConnection, idle_s: number | undefined): void;
  /** It is closed. `error` unless an exchange got it or none was waiting. */
  gone(connection: UpstreamConnection, error: Error | undefined): void;
}

/**
 * One connection to the upstream, one exchange at a time (RFC 9112, no pipelining). It owns its socket; bytes that arrive while
 * no request is open, or that break the protocol, close it.
 */
export class UpstreamConnection implements UpstreamHandle {
  /** Monotonic ms after which it must not be used again; the pool's. */
  expires_at_ms = 0;
  /** Where it stands in a `ConnectionList`; the list's. */
  slot = -1;
  /** Monotonic ms of the end of its life, idle or not; the pool's. */
  retires_at_ms = 0;
  readonly #socket: UpstreamSocket;
  readonly #owner: ConnectionOwner;
  #listener: UpstreamListener | undefined;
  #head: ResponseHead | undefined;
  /** The beginning of a head that is not whole. */
  #begun: Buffer | undefined;
  #informational = 0;
  /** Bytes of a body of known length that are still to come. */
  #left = 0;
  #chunked: ChunkedDecoder | undefined;
  #paused = false;
  #gone = false;

  constructor(connector: Connector, owner: ConnectionOwner) {
    this.#owner = owner;
    const socket = connector.open((n, shared) => this.#read(n, shared));
    this.#socket = socket;
    socket.once(connector.ready, () => {
      if (!this.#gone) this.#owner.opened(this);
    });
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new UpstreamFailure('CLOSED', 'the connection was closed')));
  }

  /** Sends a request on an open connection that carries nothing. */
  send(request: UpstreamRequest, listener: UpstreamListener): void {
    this.#listener = listener;
    this.#informational = 0;
    listener.onConnected(this);
    const { head, body } = request;
    const socket = this.#socket;
    if (body === undefined) socket.write(`${head}\r\n`, 'latin1');
    else if (body.length <= ONE_WRITE_BYTES) {
      // As text of the same bytes, head and body are one buffer and one system call.
      socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`, 'latin1');
    } else {
      socket.cork();
      socket.write(`${head}content-length: ${body.length}\r\n\r\n`, 'latin1');
      socket.write(body);
      socket.uncork();
    }
  }

  abort(reason: Error, by: UpstreamListener): void {
    if (this.#listener === by) this.#fail(reason);
  }

  /** Closes it now; an exchange on it fails with `reason`. */
  end(reason: Error): void {
    this.#fail(reason);
  }

  resume(by: UpstreamListener): void {
    if (!this.#paused || this.#listener !== by) return;
    this.#paused = false;
    this.#socket.resume();
  }

  #read(n: number, shared: Buffer): boolean {
    if (this.#listener === undefined) this.#fail(badAnswer('unsolicited bytes'));
    else {
      try {
        const bytes = Buffer.from(shared.subarray(0, n));
        if (this.#head === undefined) this.#takeHead(bytes);
        else this.#takeBody(bytes, 0);
      } catch (error) {
        this.#fail(error as Error);
      }
    }
    return !this.#paused;
  }

  #takeHead(read: Buffer): void {
    const begun = this.#begun;
    const bytes = begun === undefined ? read : Buffer.concat([begun, read]);
    let search = begun === undefined ? 0 : Math.max(0, begun.length - 3);
    let from = 0;
    for (;;) {
      const end = endOfHead(bytes, search);
      if ((end < 0 ? bytes.length : end) - from > MAX_HEAD_BYTES) throw badAnswer('the head is too large');
      if (end < 0) {
        if (!mayBeHttp(bytes, from)) throw badAnswer('not HTTP/1.1');
        this.#begun = bytes.subarray(from);
        return;
      }
      const head = parseResponseHead(bytes.toString('latin1', from, end));
      from = search = end + 4;
      if (head.status === 101) throw badAnswer('a switch of protocols');
      if (head.status >= 200) {
        this.#begun = undefined;
        return this.#begin(head, bytes, from);
      }
      if (++this.#informational > MAX_INFORMATIONAL) throw badAnswer('too many informational answers');
    }
  }

  #begin(head: ResponseHead, bytes: Buffer, at: number): void {
    this.#head = head;
    this.#left = head.length;
    this.#chunked = head.framing === 'chunked' ? new ChunkedDecoder() : undefined;
    this.#listener?.onHead(head);
    this.#takeBody(bytes, at);
  }

  #takeBody(bytes: Buffer, at: number): void {
    const chunked = this.#chunked;
    let stop = bytes.length;
    if (this.#head === undefined) return;
    if (chunked !== undefined) {
      try {
        stop = chunked.push(bytes, at);
      } finally {
        if (chunked.to > chunked.from) this.#give(bytes, chunked.from, chunked.to);
      }
      if (!chunked.done) return;
    } else if (this.#head.framing !== 'close') {
      stop = Math.min(bytes.length, at + this.#left);
      this.#left -= stop - at;
      if (stop > at) this.#give(bytes, at, stop);
      if (this.#left > 0) return;
    } else {
      if (stop > at) this.#give(bytes, at, stop);
      return;
    }
    this.#finish(stop === bytes.length);
  }

  #give(bytes: Buffer, from: number, to: number): void {
    const piece = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
    if (this.#listener?.onData(piece) === false) this.#paused = true;
  }

  /** The answer is whole. The listener hears it last: what it starts next may take this very connection. */
  #finish(clean: boolean): void {
    const listener = this.#listener;
    const head = this.#head;
    if (listener === undefined || head === undefined) return;
    const paused = this.#paused;
    this.#forget();
    if (clean && head.keeps && this.#socket.writableLength === 0) {
      // Over TLS one read comes in several parts: the last may follow one that stopped the reading.
      if (paused) this.#socket.resume();
      this.#owner.released(this, head.idle_s);
    } else this.#close(undefined);
    listener.onEnd();
  }

  #ended(): void {
    if (this.#head?.framing === 'close') this.#finish(false);
    else this.#fail(new UpstreamFailure('CLOSED', 'the connection was closed'));
  }

  #fail(error: Error): void {
    const listener = this.#listener;
    this.#forget();
    this.#close(listener === undefined ? error : undefined);
    listener?.onError(error);
  }

  #forget(): void {
    this.#listener = undefined;
    this.#head = undefined;
    this.#begun = undefined;
    this.#chunked = undefined;
    this.#paused = false;
  }

  #close(error: Error | undefined): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#socket.destroy();
    this.#owner.gone(this, error);
  }
}

/** Beyond it the copy costs more than a second buffer. */
const ONE_WRITE_BYTES = 14_336;

/** Position of the CRLF CRLF at or after `from`, or -1. Lines that end in LF alone fail at once, not at a deadline. */
function endOfHead(bytes: Buffer, from: number): number {
  for (let i = from + 3; i < bytes.length; i++) {
    if (bytes[i] !== LF) continue;
    if (bytes[i - 1] !== CR) throw badAnswer('a line does not end in CRLF');
    if (bytes[i - 2] === LF && bytes[i - 3] === CR) return i - 3;
  }
  return -1;
}

function mayBeHttp(bytes: Buffer, from: number): boolean {
  const have = Math.min(bytes.length - from, HTTP.length);
  return bytes.toString('latin1', from, from + have) === HTTP.slice(0, have);
}

const CR = 0x0d;
const LF = 0x0a;
const HTTP = 'HTTP/1.';
