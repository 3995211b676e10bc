import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once `done` returns something true; rejects with `what` after `timeout_ms`. */
export async function until(what: string, done: () => unknown, timeout_ms = 10_000): Promise<void> {
  const limit = performance.now() + timeout_ms;
  for (;;) {
    if (await done()) return;
    if (performance.now() > limit) throw new Error(`${timeout_ms} ms passed without: ${what}`);
    await sleep(20);
  }
}
