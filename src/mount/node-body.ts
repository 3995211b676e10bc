import type { IncomingMessage } from 'node:http';
import type { MountSettings } from './options.js';

/**
 * Reads a body. BODY_TIMEOUT: it was not whole within `body_timeout_ms`, or paused for `read_timeout_ms`. BODY_TOO_LARGE: more
 * than `max_body_bytes` came. Undefined: the client left.
 */
export function readNodeBody(
  request: IncomingMessage,
  { clock, body_timeout_ms, read_timeout_ms, max_body_bytes }: MountSettings,
): Promise<Buffer | 'BODY_TIMEOUT' | 'BODY_TOO_LARGE' | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const late = () => done('BODY_TIMEOUT');
    const whole = clock.timer(body_timeout_ms, late);
    let pause = clock.timer(read_timeout_ms, late);
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > max_body_bytes) return done('BODY_TOO_LARGE');
      pause.cancel();
      pause = clock.timer(read_timeout_ms, late);
    };
    const end = () => done(Buffer.concat(chunks, size));
    const gone = () => done(undefined);
    function done(result: Buffer | 'BODY_TIMEOUT' | 'BODY_TOO_LARGE' | undefined): void {
      whole.cancel();
      pause.cancel();
      request.off('data', take).off('end', end).off('close', gone);
      if (typeof result === 'string') request.pause();
      resolve(result);
    }
    request.on('data', take).on('end', end).on('close', gone).on('error', gone);
  });
}
