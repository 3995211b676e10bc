import type { Readable } from 'node:stream';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import { LineFramer } from '../wire/line.js';
import { hideSecrets } from './child-secrets.js';
import { createRatedLog } from './rated-log.js';

const WINDOW_BYTES = 4_000_000;
const WINDOW_MS = 100;

/** What a child wrote to standard error last: at most 40 lines of 300 characters. */
export interface LastWords {
  readonly lines: readonly string[];
}

export interface StderrDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly pid: number | undefined;
  /** The child's whole environment: the secrets in it are not written again. */
  readonly env: Readonly<Record<string, string>>;
}

/** Reads standard error as long as the child lives, logs it at `info` with a rate limit, and never takes it for a failure. */
export function listenToStderr(stderr: Readable, { log, clock, pid, env }: StderrDeps): LastWords {
  const rated = createRatedLog({ warn: (fields, message) => log.info(fields, message) }, clock);
  const lines: string[] = [];
  const text = new TextDecoder();
  const hide = hideSecrets(env) ?? same;
  const take = (line: string): void => {
    if (line.trim() === '') return;
    if (lines.push(line) > MAX_LINES) lines.shift();
    rated.warn({ pid, stderr: line }, 'a child wrote to standard error');
  };
  const framer = new LineFramer({
    max_line_bytes: MAX_LINE_BYTES,
    // A secret is replaced before the line is cut: half of it would not be recognized.
    onLine: (line) => take(hide(text.decode(line)).slice(0, MAX_LINE)),
    onTooLong: () => take('(a line of more than 64 KiB)'),
  });
  stderr.on('error', () => undefined);
  stderr.on('data', (chunk: Buffer) => framer.push(chunk));
  stderr.on('end', () => framer.end());
  throttle(stderr, clock);
  return { lines };
}

const same = (text: string): string => text;

const MAX_LINES = 40;
const MAX_LINE = 300;
const MAX_LINE_BYTES = 65_536;

/** Reads at most 4 MB of a stream in each 100 ms, so that a child that floods its output does not take the process for itself. */
export function throttle(stream: Readable, clock: Clock): void {
  let left = WINDOW_BYTES;
  let until_ms = 0;
  stream.on('data', (chunk: Buffer) => {
    const now = clock.mono_ms();
    if (now >= until_ms) {
      until_ms = now + WINDOW_MS;
      left = WINDOW_BYTES;
    }
    left -= chunk.length;
    if (left >= 0) return;
    stream.pause();
    clock.timer(until_ms - now, () => stream.resume());
  });
}
