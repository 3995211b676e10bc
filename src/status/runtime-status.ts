import type { AnyRuntime, Runtimes } from '../assembly/runtimes.js';
import type { Config } from '../config/schema/config.js';
import type { Health } from '../contract/runtime.js';
import type { Verdict } from '../runtime/era/verdict.js';
import { residentBytes } from '../runtime/peer/stdio-memory.js';
import type { ProxiedRuntime } from '../runtime/proxied/proxied.js';
import { type Samples, tally } from './gate-status.js';

export interface RuntimeStatus {
  readonly name: string;
  readonly kind: string;
  readonly health: Health;
  /** Connections of a proxied runtime by state. */
  readonly connections?: Readonly<Record<string, number>>;
  /** Which protocol era an MCP server behind the gateway speaks, why that is so, and what the gateway holds for clients of the other. */
  readonly era?: ProxiedRuntime['era'];
  /** Calls of a hosted server. */
  readonly load?: { readonly running: number; readonly queued: number };
  /** What a runtime with child processes runs. */
  readonly children?: {
    readonly sessions: number;
    readonly pending: number;
    readonly processes: readonly { readonly pid: number; readonly rss_bytes: number }[];
  };
  /** Children that ended by themselves or were of no use since the start, by how. */
  readonly restarts: Readonly<Record<string, number>>;
  /** Answers of the upstream since the start, by status class; `error`: there was none. */
  readonly answers: Readonly<Record<string, number>>;
}

export function runtimesOf(config: Config, runtimes: Runtimes, samples: Samples): readonly RuntimeStatus[] {
  const restarts = samples('runtime_restarts_total');
  const answers = samples('upstream_requests_total');
  return Object.entries(config.runtimes).map(([name, { kind }]) => {
    const runtime = runtimes.by_name.get(name)?.runtime;
    return {
      name,
      kind,
      health: runtime?.health ?? 'stopped',
      ...workOf(runtime),
      restarts: tally(restarts, 'reason', 'runtime', name),
      answers: tally(answers, 'code_class', 'runtime', name),
    };
  });
}

function workOf(runtime: AnyRuntime | undefined): Pick<RuntimeStatus, 'connections' | 'era' | 'load' | 'children'> {
  if (runtime === undefined) return {};
  if ('stats' in runtime) return { connections: { ...runtime.stats() }, era: runtime.era };
  if ('load' in runtime) return { load: { running: runtime.load.running, queued: runtime.load.queued } };
  if (!('peers' in runtime)) return {};
  const { sessions, calls, pids, verdict, leased, held, bridged } = runtime.peers;
  const processes = pids.slice(0, MAX_PROCESSES).map((pid) => ({ pid, rss_bytes: residentBytes(pid) }));
  return { children: { sessions, pending: calls, processes }, era: { verdict, reason: why(verdict), leased, held, bridged } };
}

/** The gateway asks each process or connection when it starts. */
function why(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'it has not answered since it was started';
  return 'its answer to server/discover or initialize when it was started';
}

/** Looking at one costs file reads; a runtime rarely has more. */
const MAX_PROCESSES = 100;
