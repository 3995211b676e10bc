import type { Readable } from 'node:stream';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import { LineFramer } from '../wire/line.js';
import { createRatedLog } from './rated-log.js';
import { throttle } from './stdio-throttle.js';

/** What a child wrote to standard error last: at most 40 lines of 300 characters. */
export interface LastWords {
  readonly lines: readonly string[];
}

/** Reads standard error as long as the child lives, logs it at `info` with a rate limit, and never takes it for a failure. */
export function listenToStderr(stderr: Readable, log: Log, clock: Clock, pid: number | undefined): LastWords {
  const rated = createRatedLog({ warn: (fields, message) => log.info(fields, message) }, clock);
  const lines: string[] = [];
  const text = new TextDecoder();
  const take = (line: string): void => {
    if (line.trim() === '') return;
    if (lines.push(line) > MAX_LINES) lines.shift();
    rated.warn({ pid, stderr: line }, 'a child wrote to standard error');
  };
  const framer = new LineFramer({
    max_line_bytes: MAX_LINE_BYTES,
    onLine: (line) => take(text.decode(line.subarray(0, 4 * MAX_LINE)).slice(0, MAX_LINE)),
    onTooLong: () => take('(a line of more than 64 KiB)'),
  });
  stderr.on('error', () => undefined);
  stderr.on('data', (chunk: Buffer) => framer.push(chunk));
  stderr.on('end', () => framer.end());
  throttle(stderr, clock);
  return { lines };
}

const MAX_LINES = 40;
const MAX_LINE = 300;
const MAX_LINE_BYTES = 65_536;
