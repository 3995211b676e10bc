import type { Clock, Timer } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Call, Exchange, Health, Runtime } from '../../contract/runtime.js';
import type { Telemetry } from '../../contract/telemetry.js';
import { GatewayError } from '../../errors/error.js';
import type { PipeEnd, ProcessHandle } from '../../transport/process-handle.js';
import { createRatedLog } from '../../transport/rated-log.js';
import type { BetweenEras, Verdict } from '../era/verdict.js';
import { forwardedClaims } from '../shared/forwarded-identity.js';
import type { SessionSeal } from '../shared/session-seal.js';
import { createToolsLearner } from '../shared/tools-learner.js';
import type { HeldCall } from './held-call.js';
import { HeldCalls, type HeldCallsOptions } from './held-calls.js';
import { LeasedSessions } from './leased-sessions.js';
import { LegacyClients } from './legacy-clients.js';
import { ModernClients } from './modern-clients.js';
import type { JunkReason } from './peer.js';
import type { SessionsOptions } from './sessions.js';
import { Spawner } from './spawner.js';
import { type EraOptions, Supervisor } from './supervisor.js';
import { ToolHeaders } from './tool-headers.js';

export interface PeerRuntimeOptions extends SessionsOptions {
  /** Config name. */
  readonly name: string;
  readonly kind: string;
  readonly max_children: number;
  /** Requests to one peer that wait for an answer. One more is 503 `OVERLOADED`. */
  readonly max_pending: number;
  /** Tell the server who calls, on every route; else on routes with `forward_identity`. */
  readonly tells_identity: boolean;
  /** What the gateway tells servers of itself. */
  readonly version: string;
  readonly bridge: PeerBridgeOptions;
}

/** How the era of the server is found out, and how a legacy one asks modern clients. */
export interface PeerBridgeOptions extends EraOptions, HeldCallsOptions {
  /** A session without a call for so long ends. */
  readonly session_idle_ms: number;
}

export interface PeerRuntimeDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly seal: SessionSeal;
  /** As `listener.sessions.keys`; default none. */
  readonly state_keys?: readonly string[] | undefined;
  launch(): ProcessHandle;
  junk(reason: JunkReason): void;
  ended(end: PipeEnd): void;
}

/** A runtime whose server speaks to one client at a time, as over stdio. */
export interface PeerRuntime extends Runtime {
  /** Live numbers for the gauges. `pids`: the processes that were started and have not ended. */
  readonly peers: BetweenEras & {
    readonly children: number;
    readonly sessions: number;
    readonly calls: number;
    readonly pids: readonly number[];
    /** Which era the server speaks; undefined: not known yet. */
    readonly verdict: Verdict | undefined;
  };
}

/**
 * The runtime that puts many clients of every era in front of servers that know one client only. Modern clients share one peer; each
 * legacy session has one for itself. Nothing that a peer does reaches another client than the one it is about.
 */
export function createPeerRuntime(options: PeerRuntimeOptions, deps: PeerRuntimeDeps): PeerRuntime {
  const { clock } = deps;
  const log = createRatedLog(deps.log, clock);
  const starter = new Spawner(options, {
    ...deps,
    log,
    launch: () => deps.launch(),
    refused: (method) => deps.telemetry.questionRefused(options.name, method),
  });
  const supervisor = new Supervisor(
    { ...options.bridge, start_timeout_ms: options.start_timeout_ms, max_waiting: options.max_pending, version: options.version },
    { starter, clock, log: deps.log },
  );
  const identityOf = ({ identity, route }: Call): string | undefined => {
    if (identity === undefined || !(options.tells_identity || route.forward_identity_header !== undefined)) return undefined;
    return JSON.stringify(forwardedClaims(identity));
  };
  const parts = { clock, tools: createToolsLearner(deps.telemetry, clock), identityOf };
  const { telemetry } = deps;
  const { name, version, start_timeout_ms } = options;
  const held = new HeldCalls<HeldCall>(options.bridge, {
    clock,
    keys: deps.state_keys ?? [],
    name,
    telemetry,
  });
  const headers = new ToolHeaders();
  const leased: LeasedSessions = new LeasedSessions(
    { ...options, session_idle_ms: options.bridge.session_idle_ms },
    {
      ...parts,
      headers,
      held,
      attributes: false,
      others: () => legacy.own,
      open: (_call, ended) => {
        const started = starter.start(ended);
        if (started instanceof GatewayError) return started;
        const { peer, launched } = started;
        return { peer, listen: ignore, end: () => void launched.stop(STOP_MS) };
      },
      toldOf: (call) => [identityOf(call) ?? ''],
      fieldsOf: () => [],
      refused: ignore,
      ended: (reason) => telemetry.bridgeSessionEnded(name, reason),
    },
  );
  const legacy: LegacyClients = new LegacyClients(
    { ...options, keys: deps.state_keys ?? [] },
    {
      ...parts,
      headers,
      questioned: (...asked) => telemetry.questionEnded(...asked),
      seal: deps.seal,
      starter,
      supervisor,
      others: () => leased.size,
      yields: () => leased.yields(),
    },
  );
  const modern = new ModernClients(supervisor, {
    ...parts,
    headers,
    leased,
    version,
    start_timeout_ms,
    stateOf: (call) => held.sealAsked(call),
  });
  let sweep: Timer | undefined;
  let stopped = false;

  return {
    name: options.name,
    kind: options.kind,
    get health(): Health {
      return supervisor.health;
    },
    get peers() {
      const alive = [...starter.alive];
      return {
        children: alive.length,
        sessions: legacy.own,
        bridged: legacy.bridged,
        calls: alive.reduce((sum, { peer }) => sum + peer.pending, supervisor.waiting),
        leased: leased.size,
        held: held.size,
        verdict: supervisor.era,
        pids: alive.flatMap(({ launched: { pid } }) => (pid === undefined ? [] : [pid])),
      };
    },
    start() {
      sweep = clock.interval(SWEEP_MS, () => legacy.tick(clock.mono_ms()));
      supervisor.begin();
      return Promise.resolve();
    },
    handle(call: Call, exchange: Exchange) {
      if (exchange.ended) return;
      if (stopped) exchange.fail(new GatewayError('DRAINING'));
      else if (call.era === 'modern') modern.handle(call, exchange);
      else legacy.handle(call, exchange);
    },
    async close(deadline_ms) {
      stopped = true;
      sweep?.cancel();
      supervisor.close();
      leased.close();
      legacy.close(deadline_ms);
      await starter.close(deadline_ms);
    },
  };
}

const SWEEP_MS = 1000;
/** How long the server of an ended session has to end by itself. */
const STOP_MS = 3000;

function ignore(): void {}
