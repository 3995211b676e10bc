import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { StreamKind } from '../../contract/telemetry.js';
import { CODES, type ErrorCode } from '../../errors/codes.js';
import { retryAfter } from '../../errors/retry-after.js';
import { errorText } from '../../wire/rpc.js';
import type { ArrivingRequest } from '../request/body.js';
import type { SocketPeer } from '../request/remote-address.js';
import type { Framing } from './validate-head.js';

/** A refused connection is kept for at most this long, then destroyed (RFC 9112 section 9.6) … */
export const LINGER_MS = 900;
/** … and at most this many bytes of it are read. */
export const LINGER_BYTES = 262_144;

/** The state of a connection; the label `state` of `portcullis_connections`. `handshake` and `idle-new` count as `head`. */
export type Phase = 'handshake' | 'head' | 'gate' | 'body' | 'running' | 'streaming' | 'idle' | 'lingering';

/** What gauges show of something in flight. */
export interface WorkView {
  /** The routing it was matched against. */
  readonly snapshot: object;
  readonly route: string;
  /** Undefined while it is a call without an event stream. */
  readonly stream: StreamKind | undefined;
  readonly buffered_bytes: number;
}

/** Something in flight on a connection, with its own deadlines. */
export interface Ticking {
  view(): WorkView;
  /** Called by the sweep with the monotonic time. */
  tick(now_ms: number): void;
  /** The response is over: `finished` when every byte of the answer was handed to the kernel, else the client left or the socket was destroyed. */
  closed(finished: boolean): void;
  /** The drain begins: who answers a subscription or GET stream is asked to end it; a call goes on. */
  drain(): void;
  /** Ends at once; says what was killed. */
  kill(): 'call' | 'stream';
}

/** One accepted connection. Created and removed by the admission; `base`, `seen_bytes` are positions of `socket.bytesRead`. */
export class Connection implements Framing {
  socket: Socket;
  phase: Phase = 'head';
  request: ArrivingRequest | undefined;
  response: ServerResponse | undefined;
  /** bytesRead at the end of the last request. */
  base = 0;
  seen_bytes = 0;
  /** Monotonic ms of the last read that moved `seen_bytes`. */
  seen_at_ms: number;
  head_at_ms: number;
  body_at_ms = 0;
  content_length = -1;
  transfer_encoding = false;
  chunked = false;
  head_bytes = 0;
  expects_continue = false;
  /** Close after the answer under way. */
  closing = false;
  /** Nothing more is read or dispatched. */
  dead = false;
  /** Called once when the body is late. */
  late: (() => void) | undefined;
  work: Ticking | undefined;
  linger_until_ms = 0;
  peer: SocketPeer | undefined;

  constructor(socket: Socket, now_ms: number) {
    this.socket = socket;
    this.seen_at_ms = now_ms;
    this.head_at_ms = now_ms;
  }

  /** The answer is out: idle, unless what came already holds the beginning of the next head. */
  nextHead(): void {
    const seen = this.socket.bytesRead;
    const end = this.base + this.head_bytes + Math.max(this.content_length, 0);
    const begun = !this.transfer_encoding && seen - end > SLACK_BYTES;
    this.phase = begun ? 'head' : 'idle';
    this.base = begun ? end : seen;
    this.seen_bytes = seen;
  }

  /** A long stream begins: what only the arrival of its request needed is let go, the caller's credential with it. */
  forgetArrival(): void {
    const { request } = this;
    if (request === undefined) return;
    request.removeAllListeners('data').removeAllListeners('end');
    request.rawHeaders = [];
    request.headers = {};
  }

  /** The head's own bytes are within `max`: white space that the parser hid shows once the body is whole. */
  headFits(max: number): boolean {
    return this.socket.bytesRead - this.base - Math.max(this.content_length, 0) <= max;
  }
}

/** White space and line breaks that are not yet a head. */
const SLACK_BYTES = 4;

const OF: unique symbol = Symbol('connection');
interface Owned {
  [OF]?: Connection;
}

/** The record of a socket, if it is one of ours. */
export function connectionOf(socket: object): Connection | undefined {
  return (socket as Owned)[OF];
}

export function ownSocket(socket: object, connection: Connection): void {
  (socket as Owned)[OF] = connection;
}

/**
 * Half-closes and discards. The only place where a `data` listener appears: it takes the handle from the parser, so the
 * count is exact and no further request is seen. The sweep destroys the socket at `until_ms`.
 */
export function linger(connection: Connection, until_ms: number): void {
  if (connection.phase === 'lingering') return;
  connection.phase = 'lingering';
  connection.dead = true;
  connection.linger_until_ms = until_ms;
  const { socket } = connection;
  socket.end();
  // An unread body has stopped the handle; only a resume that the HTTP server still listens for starts it again.
  if (socket.isPaused()) socket.once('resume', () => discard(socket));
  else discard(socket);
  socket.resume();
}

function discard(socket: Socket): void {
  let left = LINGER_BYTES;
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    // Destroyed with bytes unread, a connection is reset, and the answer may be lost on its way: it is left standing until its time is over.
    if (left < 0) socket.pause();
  });
  socket.resume();
}

/** A whole refusal as bytes, for connections that never got a ServerResponse. */
export function rawRefusal(code: ErrorCode, request_id: string): string {
  const { status, rpc, message } = CODES[code];
  const body = errorText({ rpc, code, message }, undefined, request_id);
  const retry = status === 503 ? `Retry-After: ${retryAfter()}\r\n` : '';
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\nConnection: close\r\nX-Request-Id: ${request_id}\r\n${retry}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
