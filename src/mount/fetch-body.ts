import { GatheredBytes } from '../wire/bytes.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../wire/request-id.js';
import type { UnreadBody } from './node-body.js';
import type { MountSettings } from './options.js';

/** Reads a body, as `readNodeBody` does; how it was chunked only the host knows. A body that breaks off is BODY_TIMEOUT: nobody is there to be told. */
export async function readFetchBody(
  body: ReadableStream<Uint8Array> | null,
  { clock, body_timeout_ms, read_timeout_ms, max_body_bytes }: MountSettings,
): Promise<Buffer | UnreadBody> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader();
  const due_ms = clock.mono_ms() + body_timeout_ms;
  const gathered = new GatheredBytes();
  for (;;) {
    const left_ms = Math.max(1, Math.min(due_ms - clock.mono_ms(), read_timeout_ms));
    const got = await new Promise<Awaited<ReturnType<typeof reader.read>> | undefined>((resolve) => {
      const timer = clock.timer(Math.ceil(left_ms), () => resolve(undefined));
      const settle = (value: Awaited<ReturnType<typeof reader.read>> | undefined) => {
        timer.cancel();
        resolve(value);
      };
      reader.read().then(settle, () => settle(undefined));
    });
    if (got?.done === true) return gathered.take();
    if (got !== undefined) gathered.append(got.value);
    const late = got === undefined || clock.mono_ms() >= due_ms;
    if (late || gathered.length > max_body_bytes) {
      reader.cancel().catch(() => undefined);
      return { code: late ? 'BODY_TIMEOUT' : 'BODY_TOO_LARGE', id: requestIdOf(gathered.start(ID_WINDOW_BYTES)) };
    }
  }
}
