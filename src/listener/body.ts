import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '../errors/codes.js';

/**
 * Reads a body of at most `max_bytes` into one buffer and calls `done` once. A body of a declared length that came in one
 * piece is handed on without a copy. A client that leaves ends the reading without a call: the connection's close says so.
 */
export function readBody(request: IncomingMessage, max_bytes: number, done: (fault: ErrorCode | undefined, body: Buffer) => void): void {
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;
  let over = false;
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    size += chunk.length;
    if (size > max_bytes) {
      over = true;
      first = rest = undefined;
      done('BODY_TOO_LARGE', EMPTY);
    } else if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on('end', () => {
    if (!over) done(undefined, rest === undefined ? (first ?? EMPTY) : Buffer.concat(rest, size));
  });
}

const EMPTY = Buffer.alloc(0);
