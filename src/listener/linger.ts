import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { CODES, type ErrorCode } from '../errors/codes.js';
import { errorText, retryAfter } from '../errors/text.js';
import type { Connection } from './connection.js';

/** A refused connection is kept for at most this long, then destroyed (RFC 9112 section 9.6) … */
export const LINGER_MS = 900;
/** … and at most this many bytes of it are read. */
export const LINGER_BYTES = 262_144;

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
  // A body that nobody read has stopped the handle; only a resume that the HTTP server still listens for starts it again.
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
