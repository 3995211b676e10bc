import type { Clock, Timer } from '../contract/clock.js';
import { SSE_COMMENT } from '../wire/sse.js';

/** The chunks of a stream, with a comment whenever none came for `period_ms`. Ends with them. */
export async function* withKeepAlive(chunks: AsyncIterable<Uint8Array>, clock: Clock, period_ms: number): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      let timer: Timer | undefined;
      const silence = new Promise<undefined>((resolve) => {
        timer = clock.timer(period_ms, () => resolve(undefined));
      });
      const got = await Promise.race([next, silence]);
      timer?.cancel();
      if (got === undefined) yield SSE_COMMENT;
      else if (got.done === true) return;
      else {
        yield got.value;
        next = iterator.next();
      }
    }
  } finally {
    await iterator.return?.();
  }
}
