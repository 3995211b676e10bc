import type { IncomingMessage } from 'node:http';
import { GatheredBytes } from '../../wire/bytes.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../../wire/request-id.js';

/**
 * Reads a body of at most `max_bytes` into one buffer and calls `done` once, with undefined as soon as more came. A body that came in one
 * piece is handed on without a copy. A client that leaves ends the reading without a call: the connection's close says so. Returns what
 * gives the id of the request as far as its body has come, until `done` has returned.
 */
export function readBody(request: IncomingMessage, max_bytes: number, done: (body: Buffer | undefined) => void): () => string | undefined {
  let first: Buffer | undefined;
  let more: GatheredBytes | undefined;
  let size = 0;
  let over = false;
  const hold = (chunk: Buffer): void => {
    if (first === undefined) {
      first = chunk;
      return;
    }
    if (more === undefined) {
      more = new GatheredBytes();
      more.append(first);
    }
    more.append(chunk);
  };
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    size += chunk.length;
    hold(chunk);
    if (size <= max_bytes) return;
    over = true;
    done(undefined);
    first = more = undefined;
  });
  request.on('end', () => {
    if (!over) done(more?.take() ?? first ?? EMPTY);
  });
  return () => requestIdOf(more?.start(ID_WINDOW_BYTES) ?? first ?? EMPTY);
}

const EMPTY = Buffer.alloc(0);
