import type { Metrics } from '../contract/metrics.js';
import type { Listener } from '../listener/request/server.js';
import type { WorkView } from '../listener/socket/connection.js';
import type { DrainState } from '../listener/socket/drain.js';
import type { BetweenEras } from '../runtime/era/verdict.js';
import type { PeerRuntime } from '../runtime/peer/peer-runtime.js';
import { residentBytes } from '../runtime/peer/stdio-memory.js';
import type { AnyRuntime, Runtimes } from './runtimes.js';

const PHASES = ['head', 'gate', 'body', 'running', 'streaming', 'idle'] as const;
const DRAIN_STATES: readonly DrainState[] = ['serving', 'draining', 'closing', 'closed'];
const HEALTHS = ['starting', 'ready', 'degraded', 'stopped'] as const;

/** Gauges read the live objects at each scrape; nothing counts them up and down. */
export function declareGauges(metrics: Metrics, listener: Listener, runtimes: () => Runtimes | undefined): void {
  const live = (): AnyRuntime[] => [...(runtimes()?.by_name.values() ?? [])].map(({ runtime }) => runtime);
  metrics.gauge('connections', '', ['state'], () => {
    const count = new Map<string, number>(PHASES.map((state) => [state, 0]));
    for (const phase of listener.phases()) if (count.has(phase)) count.set(phase, (count.get(phase) ?? 0) + 1);
    return Array.from(count, ([state, value]) => ({ value, labels: { state } }));
  });
  metrics.gauge('drain_state', '', [], () => [{ value: DRAIN_STATES.indexOf(listener.drain.state) }]);
  metrics.gauge('drain_remaining', '', [], () => [{ value: listener.drain.state === 'serving' ? 0 : listener.drain.remaining }]);
  metrics.gauge('requests_in_flight', '', ['route'], () => sum(listener.work(), ({ route }) => [{ route }, 1]));
  metrics.gauge('streams', '', ['route', 'kind'], () =>
    sum(listener.work(), ({ route, stream }) => (stream === undefined ? undefined : [{ route, kind: stream }, 1])),
  );
  metrics.gauge('stream_buffer_bytes', '', ['route', 'kind'], () =>
    sum(listener.work(), ({ route, stream, buffered_bytes }) =>
      stream === undefined ? undefined : [{ route, kind: stream }, buffered_bytes],
    ),
  );
  metrics.gauge('runtime_state', '', ['runtime', 'state'], () =>
    live().flatMap(({ name, health }) =>
      HEALTHS.map((state) => ({ value: state === health ? 1 : (0 as number), labels: { runtime: name, state } })),
    ),
  );
  metrics.gauge('upstream_connections', '', ['runtime', 'state'], () =>
    live().flatMap((runtime) =>
      'stats' in runtime
        ? Object.entries(runtime.stats()).map(([state, value]) => ({ value, labels: { runtime: runtime.name, state } }))
        : [],
    ),
  );
  metrics.gauge('upstream_era', '', ['runtime', 'era'], () =>
    live().flatMap((runtime) => {
      const verdict = 'era' in runtime ? runtime.era.verdict : 'peers' in runtime ? runtime.peers.verdict : undefined;
      if (verdict === undefined) return [];
      return (['modern', 'legacy'] as const).map((era) => ({ value: era === verdict ? 1 : 0, labels: { runtime: runtime.name, era } }));
    }),
  );
  const between = (read: (held: BetweenEras) => number) => () =>
    live().flatMap((runtime) => {
      const held = 'era' in runtime ? runtime.era : 'peers' in runtime ? runtime.peers : undefined;
      return held === undefined ? [] : [{ value: read(held), labels: { runtime: runtime.name } }];
    });
  metrics.gauge(
    'bridge_sessions',
    '',
    ['runtime'],
    between(({ leased }) => leased),
  );
  metrics.gauge(
    'bridged_sessions',
    '',
    ['runtime'],
    between(({ bridged }) => bridged),
  );
  metrics.gauge(
    'held_calls',
    '',
    ['runtime'],
    between(({ held }) => held),
  );
  const executors = (key: 'running' | 'queued' | 'orphaned') => () =>
    live().flatMap((runtime) => ('load' in runtime ? [{ value: runtime.load[key], labels: { runtime: runtime.name } }] : []));
  metrics.gauge('executor_running', '', ['runtime'], executors('running'));
  metrics.gauge('executor_queued', '', ['runtime'], executors('queued'));
  metrics.gauge('executor_abandoned', '', ['runtime'], executors('orphaned'));
  const peers = (read: (peers: PeerRuntime['peers']) => number) => () =>
    live().flatMap((runtime) => ('peers' in runtime ? [{ value: read(runtime.peers), labels: { runtime: runtime.name } }] : []));
  const resident = ({ pids }: PeerRuntime['peers']): number => pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  metrics.gauge(
    'runtime_children',
    '',
    ['runtime'],
    peers(({ children }) => children),
  );
  metrics.gauge('runtime_sessions', '', ['runtime'], () => {
    const own = live().flatMap((runtime) =>
      'stats' in runtime && runtime.sessions !== undefined ? [{ value: runtime.sessions, labels: { runtime: runtime.name } }] : [],
    );
    return [...peers(({ sessions }) => sessions)(), ...own];
  });
  metrics.gauge(
    'runtime_pending',
    '',
    ['runtime'],
    peers(({ calls }) => calls),
  );
  metrics.gauge('runtime_child_rss_bytes', '', ['runtime'], peers(resident));
}

type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Adds up what is in flight by labels. */
function sum(
  work: Iterable<WorkView>,
  pick: (view: WorkView) => readonly [Readonly<Record<string, string>>, number] | undefined,
): Sample[] {
  const totals = new Map<string, { labels: Readonly<Record<string, string>>; value: number }>();
  for (const view of work) {
    const picked = pick(view);
    if (picked === undefined) continue;
    const [labels, value] = picked;
    const key = Object.values(labels).join(' ');
    const total = totals.get(key);
    if (total === undefined) totals.set(key, { labels, value });
    else total.value += value;
  }
  return [...totals.values()];
}
