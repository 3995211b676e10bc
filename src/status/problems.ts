import type { Status } from './status.js';

/** One thing that an operator should look at. */
export interface StatusProblem {
  /** `bad`: somebody is refused or soon will be; `warn`: it is worth knowing. */
  readonly level: 'bad' | 'warn';
  readonly part: 'summary' | 'traffic' | 'runtimes' | 'keys' | 'reloads';
  readonly what: string;
}

type Known = Pick<
  Status,
  'ready' | 'reason' | 'drain' | 'connections' | 'max_connections' | 'subscriptions' | 'runtimes' | 'keys' | 'reloads'
>;

/** What is wrong in a state, worst first. */
export function problemsOf(known: Known): readonly StatusProblem[] {
  const found: StatusProblem[] = [];
  const say = (level: StatusProblem['level'], part: StatusProblem['part'], what: string): void => void found.push({ level, part, what });
  const { drain, subscriptions, reloads } = known;
  if (drain.state !== 'serving') say('warn', 'summary', `It takes no more work; connections still open: ${drain.remaining}.`);
  else if (!known.ready) say('bad', 'summary', `It is not ready: ${known.reason}.`);
  for (const { name, kind, health } of known.runtimes) {
    if (health === 'degraded') say('bad', 'runtimes', `Runtime ${name} (${kind}) does not answer.`);
    else if (health === 'stopped' && drain.state === 'serving') say('bad', 'runtimes', `Runtime ${name} (${kind}) is stopped.`);
    else if (health === 'starting') say('warn', 'runtimes', `Runtime ${name} (${kind}) is starting.`);
  }
  for (const { gate, keys, overdue } of known.keys) {
    if (keys === 0) say('bad', 'keys', `Gate ${gate} has no signing keys: it cannot admit anybody.`);
    else if (overdue) say('warn', 'keys', `The signing keys of gate ${gate} could not be fetched again.`);
  }
  const open = Object.values(known.connections).reduce((sum, count) => sum + count, 0);
  if (isNearly(open, known.max_connections)) say('bad', 'traffic', `${open} of ${known.max_connections} connections are in use.`);
  if (isNearly(subscriptions.open, subscriptions.max))
    say('bad', 'traffic', `${subscriptions.open} of ${subscriptions.max} subscriptions are in use.`);
  if (reloads.last?.outcome === 'failed') say('warn', 'reloads', 'The last reload was refused; the config before it stays in force.');
  const { restart = [] } = reloads.last ?? {};
  if (restart.length > 0) say('warn', 'reloads', `A restart is needed for ${restart.join(', ')}.`);
  return found.sort((a, b) => Number(a.level === 'warn') - Number(b.level === 'warn'));
}

function isNearly(used: number, most: number): boolean {
  return used >= 0.9 * most;
}
