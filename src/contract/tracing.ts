import type { RequestHead } from './head.js';
import type { Call, EndReason } from './runtime.js';
import type { GateVerdict, RequestRecord } from './telemetry.js';

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

/** The header fields that carry a trace to the next server (W3C Trace Context). */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** What a histogram's sample points to: the span of one request that fell into it. */
export interface Exemplar {
  readonly trace_id: string;
  readonly span_id: string;
  /** Seconds since the epoch. */
  readonly time_s: number;
}

/** The trace of one request, told what happens to it. Never throws, never waits; nothing but `ended` is needed to end it. */
export interface RequestTrace {
  /** 32 hex digits, for the log; undefined until one is chosen. */
  readonly trace_id: string | undefined;
  /** Set by `ended` when the span is recorded. */
  readonly exemplar: Exemplar | undefined;
  gateDecided(gate: string, verdict: GateVerdict, code: string, seconds: number): void;
  /** The body is read and admitted. The texts are those of `params._meta`, as sent. */
  called(call: Call, traceparent: string | undefined, tracestate: string | undefined): void;
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
  ended(record: RequestRecord): void;
}
