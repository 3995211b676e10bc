import type { Clock } from '../contract/clock.js';
import { type Check, type Finding, fail, ok, runChecks } from './check.js';
import { checkClock } from './clock-difference.js';
import { runHttpCheck, whyUnreachable } from './http-check.js';
import { type Credentials, checkEndpoint } from './routes.js';

export interface RemoteChecks extends Omit<Credentials, 'certificate'> {
  /** What clients dial: the whole URL of a route. */
  readonly url: string;
  readonly ops_url: string | undefined;
  readonly ca: string | undefined;
}

/** A running gateway as a client sees it, and as a probe sees it where its ops listener can be reached. */
export async function examineOutside(
  { url, ops_url, ca, token, headers }: RemoteChecks,
  clock: Clock,
  timeout_ms: number,
): Promise<readonly Finding[]> {
  const name = `route ${new URL(url).pathname}`;
  const endpoint = { name, url, resource: url, document: undefined, token, headers, added: {}, ca };
  const route: Check = { name, run: (signal) => checkEndpoint(endpoint, clock, timeout_ms, signal) };
  const [first, second] = await Promise.all([
    runChecks([...(ops_url === undefined ? [] : [checkReady(ops_url)]), checkClock([{ url, ca }], clock)], clock, timeout_ms),
    runChecks([route], clock, 3 * timeout_ms),
  ]);
  return [...first, ...second];
}

function checkReady(ops_url: string): Check {
  const name = 'ready';
  return {
    name,
    async run(signal) {
      try {
        const { status, body } = await runHttpCheck(`${ops_url.replace(/\/$/, '')}/readyz`, {}, signal);
        if (status === 200) return [ok(name, 'takes requests')];
        const reason = /"reason":"([^"]{1,100})"/.exec(body)?.[1] ?? `answers ${status}`;
        return [fail(name, `takes no requests: ${reason}`, 'Wait for the start or the end of the drain; its log says more.')];
      } catch (error) {
        signal.throwIfAborted();
        const { message, remedy } = whyUnreachable(error);
        return [fail(name, message, remedy)];
      }
    },
  };
}
