import type { Clock } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { ProcessHost } from '../../contract/process-host.js';
import type { Telemetry } from '../../contract/telemetry.js';
import { childEnv } from '../../transport/child-secrets.js';
import type { PipeEnd } from '../../transport/process-handle.js';
import { startChild } from '../../transport/stdio-child.js';
import type { SessionSeal } from '../shared/session-seal.js';
import type { JunkReason } from './peer.js';
import { createPeerRuntime, type PeerBridgeOptions, type PeerRuntime } from './peer-runtime.js';

export interface StdioOptions {
  /** Config name. */
  readonly name: string;
  /** A program, found by PATH, and its arguments; no shell reads them. */
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute folder that the child starts in. */
  readonly cwd: string;
  /** Added to PATH, HOME, LANG, TMPDIR and USER, which are all that a child gets of the gateway's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly max_children: number;
  readonly max_sessions: number;
  readonly max_sessions_per_caller: number;
  readonly max_pending: number;
  readonly idle_ttl_ms: number;
  readonly start_timeout_ms: number;
  readonly max_line_bytes: number;
  /** What the gateway tells servers of itself. */
  readonly version: string;
  readonly bridge: PeerBridgeOptions;
}

export interface StdioDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly seal: SessionSeal;
  /** As `listener.sessions.keys`; default none. */
  readonly state_keys?: readonly string[] | undefined;
  readonly host: ProcessHost;
  /** Told for each line of a child that was dropped. */
  junk(reason: JunkReason): void;
  /** Told for each child that ended by itself. */
  ended(end: PipeEnd): void;
}

/** The runtime that ends a route at an MCP server over stdio, run as child processes. */
export function createStdio(options: StdioOptions, deps: StdioDeps): PeerRuntime {
  const { command, args, cwd, max_line_bytes } = options;
  const { log, clock, host } = deps;
  const env = childEnv(host.env, options.env);
  const runtime: PeerRuntime = createPeerRuntime({ ...options, kind: 'stdio', tells_identity: false }, { ...deps, launch });
  function launch() {
    return startChild(
      { command, args, cwd, env, max_line_bytes },
      {
        log,
        clock,
        host,
        killed: () => runtime.health === 'stopped' && deps.telemetry.drainKilled('child', 1),
      },
    );
  }
  return runtime;
}
