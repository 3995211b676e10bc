import { createHash } from 'node:crypto';
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Timer } from '../contract/clock.js';

const POLL_MS = 5000;
/** A ConfigMap swap and an editor's save are several events: wait until they are over. */
const SETTLE_MS = 100;

/**
 * Calls `changed` when the content of a file is another than before. Watches its folder, because a ConfigMap swaps a link
 * there and a watch on the file itself misses the second swap; polls as a net. A file that is gone for a moment is waited for.
 */
export function watchFile(file: string, clock: Clock, changed: () => void): { close(): void } {
  let seen = digest(file);
  let settling: Timer | undefined;
  const look = (): void => {
    settling = undefined;
    const now = digest(file);
    if (now === undefined || now === seen) return;
    seen = now;
    changed();
  };
  const watcher = watchFolder(dirname(file), () => {
    settling ??= clock.timer(SETTLE_MS, look);
  });
  const poll = clock.interval(POLL_MS, look);
  return {
    close() {
      watcher?.close();
      poll.cancel();
      settling?.cancel();
    },
  };
}

function watchFolder(folder: string, run: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, run);
    // The folder may vanish or the system may have no watches left: the poll goes on.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

function digest(file: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}
