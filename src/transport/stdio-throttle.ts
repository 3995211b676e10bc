import type { Readable } from 'node:stream';
import type { Clock } from '../contract/clock.js';

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

const WINDOW_BYTES = 4_000_000;
const WINDOW_MS = 100;
