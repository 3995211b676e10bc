import type { IncomingMessage } from 'node:http';
import { GatheredBytes } from '../wire/bytes.js';
import { ChunkMeter } from '../wire/chunk-meter.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../wire/request-id.js';
import type { MountSettings } from './options.js';

/**
 * Reads a body. BODY_TIMEOUT: it was not whole within `body_timeout_ms`, or paused for `read_timeout_ms`. BODY_TOO_LARGE: more
 * than `max_body_bytes` came. CHUNKS_TOO_SMALL: as `ChunkMeter` says. Undefined: the client left.
 */
export function readNodeBody(
  request: IncomingMessage,
  { clock, body_timeout_ms, read_timeout_ms, max_body_bytes }: MountSettings,
): Promise<Buffer | UnreadBody | undefined> {
  return new Promise((resolve) => {
    const gathered = new GatheredBytes();
    const meter = request.headers['transfer-encoding'] === undefined ? undefined : new ChunkMeter(undefined, request.readableLength);
    const late = () => done('BODY_TIMEOUT');
    const whole = clock.timer(body_timeout_ms, late);
    let pause = clock.timer(read_timeout_ms, late);
    const take = (chunk: Buffer): void => {
      gathered.append(chunk);
      if (gathered.length > max_body_bytes) return done('BODY_TOO_LARGE');
      if (meter?.add(chunk.length, request.socket.bytesRead) === true) return done('CHUNKS_TOO_SMALL');
      pause.cancel();
      pause = clock.timer(read_timeout_ms, late);
    };
    const end = () => done(meter?.end() === true ? 'CHUNKS_TOO_SMALL' : gathered.take());
    const gone = () => done(undefined);
    function done(result: Buffer | UnreadBody['code'] | undefined): void {
      whole.cancel();
      pause.cancel();
      request.off('data', take).off('end', end).off('close', gone);
      if (typeof result !== 'string') return resolve(result);
      request.pause();
      resolve({ code: result, id: requestIdOf(gathered.start(ID_WINDOW_BYTES)) });
    }
    request.on('data', take).on('end', end).on('close', gone).on('error', gone);
  });
}

/** Why a body was not read in full, and the id of its request as far as it came. */
export interface UnreadBody {
  readonly code: 'BODY_TIMEOUT' | 'BODY_TOO_LARGE' | 'CHUNKS_TOO_SMALL';
  readonly id: string | undefined;
}
