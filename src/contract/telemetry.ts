import type { Era } from './claims.js';

/** Why a call or stream ends early. */
export type EndReason = 'client' | 'source' | 'lifetime' | 'identity_expired' | 'slow_consumer' | 'drain' | 'deadline' | 'error';

export type GateVerdict = 'pass' | 'identify' | 'refuse' | 'serve' | 'timeout' | 'failed';
export type StreamKind = 'listen' | 'get' | 'response';
export type RequestOutcome = 'ok' | 'tool_error' | 'rpc_error' | 'refused' | 'timeout' | 'cancelled' | 'upstream_error' | 'overloaded';

/** What a histogram's sample points to: the span of one request that fell into it. */
export interface Exemplar {
  readonly trace_id: string;
  readonly span_id: string;
  /** Seconds since the epoch. */
  readonly time_s: number;
}

/** The trace of a request as log and metrics name it. */
export interface RecordedTrace {
  /** 32 hex digits; undefined while no trace id has been chosen. */
  readonly trace_id: string | undefined;
  /** Set by `ended` when the span is recorded. */
  readonly exemplar: Exemplar | undefined;
  /** Ends the trace. */
  ended(record: RequestRecord): void;
}

/** What became of a question of a server: `unattributed`: no call could be meant; `refused`: its client cannot be asked; `error`: it could not be put, or the client answered with an error. */
export type QuestionOutcome = 'answered' | 'declined' | 'refused' | 'unattributed' | 'expired' | 'error';

/** Which way the gateway took a call from its client's protocol era to the server's other one. */
export type BridgeDirection = 'to_legacy' | 'to_modern';

/** One request that reached a route and is over. */
export interface RequestRecord {
  /** As in `X-Request-Id`. Never a label. */
  readonly request_id: string;
  /** Config path of the route. */
  readonly route: string;
  /** MCP method as sent; an unknown one is counted as `other`. */
  readonly method: string;
  readonly era: Era;
  readonly revision: string;
  readonly outcome: RequestOutcome;
  /** From the complete head to the end of the answer. */
  readonly seconds: number;
  /** Our own part of `seconds`: the runtime's is excluded. */
  readonly overhead_seconds: number;
  /** Tool of a `tools/call`; counted by name only if the server listed it. */
  readonly tool: string | undefined;
  /** JSON-RPC error code of the answer, if it was an error. */
  readonly rpc_code: number | undefined;
  /** Undefined: client and server spoke the same era. */
  readonly bridged?: BridgeDirection | undefined;
  /** Undefined: tracing is off. */
  readonly trace?: RecordedTrace | undefined;
}

/** Events of the request path, each reported once. Implementations must be cheap: this is the hot path. */
export interface Telemetry {
  connectionRefused(reason: 'limit' | 'drain'): void;
  headRefused(reason: string): void;
  gateDecided(route: string, gate: string, verdict: GateVerdict, code: string, seconds: number): void;
  requestEnded(record: RequestRecord): void;
  streamOpened(route: string, kind: StreamKind): void;
  streamEvents(route: string, kind: StreamKind, count: number): void;
  streamClosed(route: string, kind: StreamKind, reason: EndReason, seconds: number): void;
  streamRefused(route: string, reason: 'limit' | 'drain'): void;
  /** A caller used up its share: its call waits for its own others (`wait`), a call or a stream of it was refused. */
  callerLimited(route: string, kind: 'wait' | 'call' | 'stream'): void;
  /** `code_class` is `2xx` … `5xx`, or `error` when there was no answer. */
  upstreamAnswered(runtime: string, code_class: string): void;
  upstreamConnected(runtime: string, seconds: number): void;
  /** A server was asked for its era. */
  eraProbed(runtime: string, outcome: 'modern' | 'legacy' | 'inconclusive'): void;
  /** A server speaks another era than before. */
  eraFlipped(runtime: string): void;
  /** A session that the gateway held on a legacy server for a modern client ended. */
  bridgeSessionEnded(runtime: string, reason: 'idle' | 'evicted' | 'lost' | 'drain' | 'failed' | 'flip'): void;
  /** A call that waited for its client's answer to a question of the server no longer waits. */
  heldCallEnded(runtime: string, reason: 'answered' | 'expired' | 'finished' | 'drain', seconds: number): void;
  /** A question of a server to a client of the other protocol era came to its end. */
  questionEnded(route: string, method: string, outcome: QuestionOutcome): void;
  /** A request of an MCP server to its client was refused, or dropped, in the client's place. */
  questionRefused(runtime: string, method: string): void;
  /** A task id of a modern request that its caller, or its route, does not own. */
  taskRefused(route: string): void;
  /** Tool names of a server's own `tools/list` answer: from now on they may be label values (at most 200 a route). */
  toolsListed(route: string, names: readonly string[]): void;
  drainKilled(kind: 'connection' | 'stream' | 'call' | 'child' | 'held', count: number): void;
  drained(seconds: number): void;
}
