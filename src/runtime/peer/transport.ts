import type { Clock } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { Transport } from '../../contract/transport.js';
import type { PipeEnd } from '../../transport/process-handle.js';
import type { SessionSeal } from '../shared/session-seal.js';
import type { JunkReason } from './peer.js';
import { createPeerRuntime, type PeerBridgeOptions, type PeerRuntime } from './peer-runtime.js';
import type { SessionsOptions } from './sessions.js';
import { TransportPipe } from './transport-pipe.js';

export interface TransportRuntimeOptions extends SessionsOptions {
  /** Config name. */
  readonly name: string;
  readonly connections: number;
  readonly max_pending: number;
  readonly start_timeout_ms: number;
  readonly max_message_bytes: number;
  /** What the gateway tells servers of itself. */
  readonly version: string;
  readonly bridge: PeerBridgeOptions;
}

export interface TransportRuntimeDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly seal: SessionSeal;
  /** As `listener.sessions.keys`; default none. */
  readonly state_keys?: readonly string[] | undefined;
  /** Makes one transport, not started. */
  open(): Promise<Transport>;
  junk(reason: JunkReason): void;
  ended(end: PipeEnd): void;
}

/** The runtime that ends a route at an MCP server behind any transport. */
export function createTransportRuntime(options: TransportRuntimeOptions, deps: TransportRuntimeDeps): PeerRuntime {
  const { max_message_bytes, start_timeout_ms, connections } = options;
  const { log, clock, open, junk } = deps;
  return createPeerRuntime(
    { ...options, kind: 'transport', max_children: connections, tells_identity: false },
    { ...deps, launch: () => new TransportPipe({ max_message_bytes, start_timeout_ms }, { log, clock, open, junk }) },
  );
}
