import type { Snapshot } from '../assembly/snapshot.js';
import type { LoadedConfig } from '../config/load.js';
import { shownConfig } from '../config/print.js';
import type { Clock } from '../contract/clock.js';
import type { Listener } from '../listener/request/server.js';
import type { DrainState } from '../listener/socket/drain.js';
import { type GateStatus, gatesOf, type KeyStatus, keysOf, type Samples } from './gate-status.js';
import type { Recent, RecentRow } from './recent.js';
import type { LastReload, ReloadHistory } from './reload-history.js';
import { type RouteStatus, routesOf } from './route-status.js';
import { type RuntimeStatus, runtimesOf } from './runtime-status.js';

/** Where the state comes from. All of it is read when somebody asks, nothing before. */
export interface StatusSources {
  readonly version: string;
  readonly clock: Clock;
  readonly listener: Listener;
  readonly samples: Samples;
  readonly recent: Recent;
  readonly reloads: ReloadHistory;
  readonly started_at_ms: number;
  readonly ready: () => { readonly ready: boolean; readonly reason: string };
  /** When the drain began, and with how many connections; undefined before. */
  readonly drain_began: () => { readonly at_ms: number; readonly connections: number } | undefined;
}

/** The live state, for `/status` on the ops listener. Holds no secret and no identity of a caller. */
export interface Status {
  readonly version: string;
  /** What clients dial. */
  readonly url: string;
  readonly at_ms: number;
  readonly started_at_ms: number;
  readonly ready: boolean;
  /** `serving`, `starting`, `draining`, `closing`, `closed`. */
  readonly reason: string;
  /** What an operator should look at, worst first. */
  readonly problems: readonly StatusProblem[];
  readonly drain: {
    readonly state: DrainState;
    /** Connections that it waits for; 0 while serving. */
    readonly remaining: number;
    readonly began_at_ms: number | undefined;
    /** Connections that were open when it began. */
    readonly of: number | undefined;
    readonly delay_ms: number;
    readonly timeout_ms: number;
  };
  /** Open connections by what they are doing. */
  readonly connections: Readonly<Record<string, number>>;
  readonly max_connections: number;
  readonly subscriptions: { readonly open: number; readonly max: number };
  readonly routes: readonly RouteStatus[];
  readonly gates: readonly GateStatus[];
  readonly runtimes: readonly RuntimeStatus[];
  readonly keys: readonly KeyStatus[];
  /** Refusals and failures, latest first. */
  readonly recent: readonly RecentRow[];
  readonly reloads: { readonly succeeded: number; readonly failed: number; readonly last: LastReload | undefined };
  readonly config: {
    /** Undefined for a config that was given as an object. */
    readonly file: string | undefined;
    readonly warnings: readonly string[];
    /** Defaults filled, secrets `***`. The same object as long as the config is in force. */
    readonly values: object;
  };
}

/** Reads the live state of a gateway that serves this snapshot. */
export function statusOf(snapshot: Snapshot, sources: StatusSources): Status {
  const { listener, samples, reloads, clock } = sources;
  const { loaded, public_url } = snapshot;
  const { config } = loaded;
  const { limits } = config.listener;
  const { state } = listener.drain;
  const began = sources.drain_began();
  const connections: Record<string, number> = {};
  for (const phase of listener.phases()) connections[phase] = (connections[phase] ?? 0) + 1;
  const known = {
    ...sources.ready(),
    drain: {
      state,
      remaining: state === 'serving' ? 0 : listener.drain.remaining,
      began_at_ms: began?.at_ms,
      of: began?.connections,
      delay_ms: limits.drain_delay_ms,
      timeout_ms: limits.drain_timeout_ms,
    },
    connections,
    max_connections: limits.max_connections,
    subscriptions: { open: listener.subscriptions, max: limits.max_subscriptions },
    runtimes: runtimesOf(config, snapshot.runtimes, samples),
    keys: keysOf(config, samples),
    reloads: { succeeded: reloads.succeeded, failed: reloads.failed, last: reloads.last },
  };
  return {
    version: sources.version,
    url: public_url,
    at_ms: clock.now_ms(),
    started_at_ms: sources.started_at_ms,
    problems: problemsOf(known),
    ...known,
    routes: routesOf(config, public_url, listener.work(), samples),
    gates: gatesOf(config, samples),
    recent: sources.recent.rows,
    config: { file: loaded.file, warnings: loaded.warnings, values: valuesOf(loaded) },
  };
}

const VALUES = new WeakMap<LoadedConfig, object>();

function valuesOf(loaded: LoadedConfig): object {
  const known = VALUES.get(loaded);
  if (known !== undefined) return known;
  const values = shownConfig(loaded);
  VALUES.set(loaded, values);
  return values;
}

/** One thing that an operator should look at. */
interface StatusProblem {
  /** `bad`: somebody is refused or soon will be; `warn`: it is worth knowing. */
  readonly level: 'bad' | 'warn';
  readonly part: 'summary' | 'traffic' | 'runtimes' | 'keys' | 'reloads';
  readonly what: string;
}

type ProblemSources = Pick<
  Status,
  'ready' | 'reason' | 'drain' | 'connections' | 'max_connections' | 'subscriptions' | 'runtimes' | 'keys' | 'reloads'
>;

/** What is wrong in a state, worst first. */
export function problemsOf(known: ProblemSources): readonly StatusProblem[] {
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
