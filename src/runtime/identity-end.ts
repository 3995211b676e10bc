import type { Readable, Writable } from 'node:stream';
import type { Clock, Timer } from '../contract/clock.js';

/** The wall clock is looked at this often: it may jump, and a certificate may live for years. */
const LOOK_MS = 60_000;
/** What a client has to take the end before it is cut off. */
const END_MS = 1_000;

/** Ends a streamed answer whole when the identity that it was opened under expires. The upstream's stream is let go with it. */
export function endWithIdentity(expires_at_ms: number, stream: Readable, response: Writable, clock: Clock): void {
  let timer: Timer | undefined;
  const look = (): void => {
    const left_ms = expires_at_ms - clock.now_ms();
    if (left_ms > 0) {
      timer = clock.timer(Math.min(left_ms, LOOK_MS), look);
      return;
    }
    stream.unpipe(response);
    response.once('finish', () => stream.destroy());
    response.end();
    timer = clock.timer(END_MS, () => response.destroy());
  };
  response.once('close', () => timer?.cancel());
  look();
}
