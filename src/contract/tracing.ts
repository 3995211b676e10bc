import type { Era } from './claims.js';
import type { RequestHead } from './head.js';
import type { Identity } from './identity.js';
import type { EndReason, GateVerdict, RecordedTrace } from './telemetry.js';

/** Begins the trace of each request. Absent: tracing is off, and nothing is done for it. */
export interface Tracing {
  /** `started_ms` is the monotonic time of `head.received_at_ms`. Undefined: this request has none. */
  begin(head: RequestHead, route: TracedRoute, started_ms: number): RequestTrace | undefined;
}

/** Where the request goes: config path and config name of the runtime. */
export interface TracedRoute {
  readonly path: string;
  readonly runtime: string;
}

/** What a span names of an admitted call; each member as in `Call`. */
export interface TracedCall {
  readonly kind: string;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly era: Era;
  readonly head: RequestHead;
  readonly identity: Identity | undefined;
}

/** The header fields that carry a trace to the next server (W3C Trace Context). */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** The trace of one request, told what happens to it. Never throws, never waits; nothing but `ended` is needed to end it. */
export interface RequestTrace extends RecordedTrace {
  gateDecided(gate: string, verdict: GateVerdict, code: string, seconds: number): void;
  /** The body is read and admitted. The texts are those of `params._meta`, as sent. */
  called(call: TracedCall, traceparent: string | undefined, tracestate: string | undefined): void;
  /** The trace context for the upstream; begins its span. */
  outgoing(): TraceHeaders;
  /** The next server, or a child, has the call. */
  upstreamStarted(): void;
  /** The first sign of an answer, or that none can come. Told at most once. */
  upstreamResponded(): void;
  /** The next server's part is over. */
  answered(): void;
  /** The first call counts. */
  streamEnded(reason: EndReason): void;
  /** A gate, the listener or a runtime said no, by the code of the error table or of the gate. */
  refused(code: string, gate: string): void;
}
