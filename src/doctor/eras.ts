import type { RuntimeConfig } from '../config/schema/runtimes.js';
import type { Clock } from '../contract/clock.js';
import type { RuntimeStatus } from '../status/runtime-status.js';
import { type Finding, ok, warn } from './check.js';

/**
 * Which protocol era each MCP server behind the gateway speaks, and why the gateway thinks so. Servers that have not answered yet are waited for, at most a second: the gateway
 * asks them when it starts.
 */
export async function checkEras(
  read: () => readonly RuntimeStatus[],
  configs: Readonly<Record<string, RuntimeConfig>>,
  clock: Clock,
  stop: AbortSignal,
): Promise<readonly Finding[]> {
  for (let tries = 0; tries < TRIES && !stop.aborted; tries++) {
    if (!read().some((runtime) => runtime.era !== undefined && runtime.era.verdict === undefined && isAsked(configs[runtime.name]))) break;
    await new Promise<void>((resolve) => clock.timer(WAIT_MS / TRIES, resolve));
  }
  return stop.aborted ? [] : read().flatMap((runtime) => findingOf(runtime, isAsked(configs[runtime.name])));
}

function findingOf({ name, era }: RuntimeStatus, asked: boolean): readonly Finding[] {
  if (era === undefined) return [];
  const { verdict, reason } = era;
  const check = `runtime ${name} era`;
  if (verdict === 'modern') return [ok(check, `the server speaks 2026-07-28 (${reason})`)];
  if (verdict === 'legacy') return [ok(check, `the server speaks revisions before 2026-07-28 (${reason})`)];
  if (!asked) return [ok(check, `the server is not asked (${reason}): each client must speak its era`)];
  return [warn(check, `not known: ${reason}`, REMEDY)];
}

const isAsked = (config: RuntimeConfig | undefined): boolean => config?.kind !== 'proxied' || config.protocol !== 'as_is';

const REMEDY =
  'Until it is, calls go on in the era of their client. See that the server is up and takes what the gateway sends it, then run doctor again.';
const WAIT_MS = 1_000;
const TRIES = 20;
