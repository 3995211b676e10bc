import type { Clock } from '../contract/clock.js';

/** One thing that was looked at. No token, key or other secret is in it. */
export interface Finding {
  /** What was looked at, e.g. `issuer https://id.example.com`. */
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do; undefined when all is well. */
  readonly remedy?: string;
}

/** Checks one thing; an exception fails only this check. */
export interface Check {
  readonly name: string;
  run(signal: AbortSignal): Promise<readonly Finding[]> | readonly Finding[];
}

/**
 * Runs all checks at once, each for at most `timeout_ms`; a late one fails, and its signal aborts. The findings are in the order of the
 * checks. Once `ended` aborts, no check is waited for, and those that were not done have none.
 */
export async function runChecks(
  checks: readonly Check[],
  clock: Clock,
  timeout_ms: number,
  ended?: AbortSignal,
): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map((check) => runOne(check, clock, timeout_ms, ended)))).flat();
}

async function runOne({ name, run }: Check, clock: Clock, timeout_ms: number, ended?: AbortSignal): Promise<readonly Finding[]> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  const late = new Promise<readonly Finding[]>((resolve) => {
    const timer = clock.timer(timeout_ms, () => {
      stop.abort();
      resolve([fail(name, `no answer within ${timeout_ms} ms`, 'Check that it is up and reachable from here; --timeout waits longer.')]);
    });
    stop.signal.addEventListener('abort', () => timer.cancel());
    ended?.addEventListener('abort', () => resolve([]));
    ended?.addEventListener('abort', abort, { once: true });
    if (ended?.aborted === true) resolve([]);
  });
  try {
    return await Promise.race([(async () => run(stop.signal))(), late]);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    return [fail(name, `this check failed itself (${typeof code === 'string' ? code : (error as Error).name})`, 'Please report it.')];
  } finally {
    ended?.removeEventListener('abort', abort);
    stop.abort();
  }
}

export function ok(check: string, message: string): Finding {
  return { check, verdict: 'ok', message };
}

export function warn(check: string, message: string, remedy: string): Finding {
  return { check, verdict: 'warn', message, remedy };
}

export function fail(check: string, message: string, remedy: string): Finding {
  return { check, verdict: 'fail', message, remedy };
}
