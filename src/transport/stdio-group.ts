import type { Clock } from '../contract/clock.js';
import type { ProcessHost } from '../contract/process-host.js';

/**
 * Ends what the leader of a process group left behind: SIGTERM, and SIGKILL `grace_ms` later. `done` runs once, when nothing is
 * left to signal. The group keeps its number as long as one of it lives, so nobody else can be hit.
 */
export function killGroup(pid: number, { clock, host }: { clock: Clock; host: ProcessHost }, grace_ms: number, done: () => void): void {
  if (!signalGroup(host, pid, 'SIGTERM')) return done();
  let waited_ms = 0;
  const poll = clock.interval(POLL_MS, () => {
    waited_ms += POLL_MS;
    if (waited_ms < grace_ms ? signalGroup(host, pid, 0) : signalGroup(host, pid, 'SIGKILL') && waited_ms < grace_ms + KILL_MS) return;
    poll.cancel();
    done();
  });
}

/** False when the group is empty. */
export function signalGroup(host: ProcessHost, pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return host.kill(-pid, signal);
  } catch {
    return false;
  }
}

const POLL_MS = 50;
/** A killed process that its parent does not reap stays in the group; it is not waited for. */
const KILL_MS = 500;
