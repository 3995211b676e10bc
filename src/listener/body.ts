import type { IncomingMessage } from 'node:http';
import { GatheredBytes } from '../wire/bytes.js';

/**
 * Reads a body of at most `max_bytes` into one buffer and calls `done` once, with undefined as soon as more came. A body that came in one
 * piece is handed on without a copy. A client that leaves ends the reading without a call: the connection's close says so.
 */
export function readBody(request: IncomingMessage, max_bytes: number, done: (body: Buffer | undefined) => void): void {
  let first: Buffer | undefined;
  let more: GatheredBytes | undefined;
  let size = 0;
  let over = false;
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    size += chunk.length;
    if (size > max_bytes) {
      over = true;
      first = more = undefined;
      done(undefined);
    } else if (first === undefined) first = chunk;
    else {
      if (more === undefined) {
        more = new GatheredBytes();
        more.append(first);
      }
      more.append(chunk);
    }
  });
  request.on('end', () => {
    if (!over) done(more?.take() ?? first ?? EMPTY);
  });
}

const EMPTY = Buffer.alloc(0);
