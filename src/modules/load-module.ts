import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../contract/clock.js';
/** Milliseconds that a module may take to load: a top-level `await` that never settles must not hold up every later reload. */
export const LOAD_TIMEOUT_MS = 30_000;

/** What loading a file came to. `dialled` is the URL that Node keeps it under. */
interface Attempt {
  readonly digest: string | undefined;
  readonly dialled: string;
  readonly failed: boolean;
}

/** As Node's own cache of modules, of this process: by the URL of the file. */
const attempts = new Map<string, Attempt>();

/**
 * Imports a module by its file's URL. Node keeps what a URL came to, a failure too: a file that failed and was mended since is imported
 * under another URL, one that was loaded stays as it is. Rejects with the module's own error, or after 30 s.
 */
export async function loadModule(url: string, clock: Clock): Promise<Readonly<Record<string, unknown>>> {
  const digest = digestOf(url);
  const last = attempts.get(url);
  const again = last?.failed === true && last.digest === digest;
  const dialled = last?.failed === true && !again ? withVersion(url, digest) : (last?.dialled ?? url);
  if (last?.failed !== false) attempts.set(url, { digest, dialled, failed: true });
  try {
    const late = `did not load within ${LOAD_TIMEOUT_MS} ms; look at its top-level await`;
    const space = (await before(import(dialled), LOAD_TIMEOUT_MS, clock, late)) as Readonly<Record<string, unknown>>;
    if (last?.failed !== false) attempts.set(url, { digest, dialled, failed: false });
    return space;
  } catch (error) {
    if (again && error instanceof Error && !error.message.endsWith(AGAIN)) error.message += AGAIN;
    throw error;
  }
}

/** True for a module that runs as it was before its file changed; only a restart puts the file in force. Files that it imports are not looked at. */
export function isOutdated(url: string): boolean {
  const attempt = attempts.get(url);
  return attempt !== undefined && !attempt.failed && digestOf(url) !== attempt.digest;
}

const AGAIN = ' (as before; when you mended a file that it imports, restart)';

function withVersion(url: string, digest: string | undefined): string {
  const versioned = new URL(url);
  versioned.searchParams.set('version', digest ?? '');
  return versioned.href;
}

function digestOf(url: string): string | undefined {
  try {
    return createHash('sha256')
      .update(readFileSync(fileURLToPath(url)))
      .digest('hex')
      .slice(0, 16);
  } catch {
    return undefined;
  }
}

/** The promise's own end, or a rejection with `message` after `timeout_ms`. The timer never outlives the wait. */
export function before<T>(work: Promise<T>, timeout_ms: number, clock: Clock, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.timer(timeout_ms, () => reject(new Error(message)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
