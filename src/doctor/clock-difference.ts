import type { Clock } from '../contract/clock.js';
import type { Egress } from '../contract/egress.js';
import { type Check, type Finding, ok, warn } from './check.js';
import { runHttpCheck } from './http-check.js';

/** Where a time can be asked for. */
export interface TimeSource {
  readonly url: string;
  readonly ca: string | undefined;
}

const MOST_MS = 60_000;

/** The clock of this machine against the `Date` of other servers: tokens and certificates are judged by it. */
export function checkClock(sources: readonly TimeSource[], clock: Clock, egress?: Egress): Check {
  const name = 'clock';
  return {
    name,
    async run(signal) {
      const found = await Promise.all(sources.map((source) => ask(source, clock, egress, signal)));
      const told = found.filter((one) => one !== undefined);
      const wrong = told.filter(({ off_ms }) => Math.abs(off_ms) > MOST_MS);
      if (wrong.length > 0) return wrong.map(tell);
      if (told.length === 0) return [ok(name, 'no server told its time')];
      const most = Math.max(...told.map(({ off_ms }) => Math.abs(off_ms)));
      return [ok(name, `within ${Math.max(1, Math.ceil(most / 1000))} s of ${told.length} ${told.length === 1 ? 'server' : 'servers'}`)];
    },
  };

  function tell({ host, off_ms }: { readonly host: string; readonly off_ms: number }): Finding {
    const way = off_ms > 0 ? 'ahead of' : 'behind';
    return warn(
      name,
      `${Math.round(Math.abs(off_ms) / 1000)} s ${way} ${host}`,
      'Set the clock of this machine, or of that one: valid tokens look expired, or not yet valid.',
    );
  }
}

/** Undefined for a server that cannot be asked, which other checks tell, and for one without a `Date`. */
async function ask(
  { url, ca }: TimeSource,
  clock: Clock,
  egress: Egress | undefined,
  signal: AbortSignal,
): Promise<{ readonly host: string; readonly off_ms: number } | undefined> {
  try {
    const before = clock.now_ms();
    const { headers } = await runHttpCheck(url, { method: 'OPTIONS', ca, egress }, signal);
    const theirs = Date.parse(String(headers.date));
    if (Number.isNaN(theirs)) return undefined;
    const ours = (before + clock.now_ms()) / 2;
    // A Date has whole seconds: on the average it is half a second late.
    return { host: new URL(url).host, off_ms: ours - (theirs + 500) };
  } catch {
    return undefined;
  }
}
