import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors/error.js';
import type { CallSummary } from './claims.js';
import type { RouteInfo } from './gate.js';
import type { HeaderView, RequestHead } from './head.js';
import type { Facts, Identity } from './identity.js';
import type { BridgeDirection, EndReason } from './telemetry.js';
import type { RequestTrace } from './tracing.js';

const EMPTY = Buffer.alloc(0);
const NO_FIELDS: HeaderView = { raw: [], get: () => undefined, all: () => [] };

/**
 * The kind of message. `request`, `notification` and `response` come by POST; `get_stream` is the legacy GET event stream,
 * `session_end` the legacy DELETE.
 */
export type CallKind = 'request' | 'notification' | 'response' | 'get_stream' | 'session_end';

/** The route that a call came by. */
export interface CallRoute extends RouteInfo {
  /** Lower-case name of the header that carries the caller's identity upstream (`forward_identity.header`); undefined: the identity is not forwarded. */
  readonly forward_identity_header?: string | undefined;
}

/** One admitted, scanned message on its way to a runtime. */
export interface Call extends CallSummary {
  readonly kind: CallKind;
  /** The raw JSON text of `id`, digits and quotes as sent; undefined unless `kind` is `request` (or `response`: the answered id). */
  readonly id: string | undefined;
  /** The raw JSON text of `params._meta.progressToken`. */
  readonly progress_token: string | undefined;
  /** Exactly the bytes that were judged; empty for `get_stream` and `session_end`. */
  readonly body: Buffer;
  readonly route: CallRoute;
  readonly head: RequestHead;
  readonly identity: Identity | undefined;
  readonly facts: Facts;
  /** Undefined: tracing is off. */
  readonly trace?: RequestTrace | undefined;
}

/** What the answer turned out to be; becomes the `outcome` label. */
export type AnswerOutcome = 'ok' | 'tool_error' | 'rpc_error' | 'refused' | 'upstream_error';

/** Flat name, value, name, value … list of response header fields, names in lower case. */
export type HeaderList = readonly string[];

/** The half of a writer that does not depend on what is written. */
interface OpenAnswer {
  /** Sets what runs each time a slow reader has caught up. */
  onDrain(resume: () => void): void;
  /** Ends the answer. `reason` is `source` after a complete answer. Later writes are ignored. */
  end(reason: EndReason, outcome?: AnswerOutcome, rpc_code?: number): void;
}

/** A writer of one open JSON answer. */
export interface AnswerWriter extends OpenAnswer {
  /** Queues bytes. False: the reader is slow, stop until `onDrain`. More than `max_stream_buffer_bytes` queued closes the stream as `slow_consumer`. */
  write(chunk: Uint8Array): boolean;
}

/** The fields of one event beside its data (HTML, "Server-sent events"). */
export interface EventFields {
  /** The event's type. */
  readonly event?: string | undefined;
  /** Empty resets the client's last event id. */
  readonly id?: string | undefined;
  /** Milliseconds. */
  readonly retry?: number | undefined;
}

/** A writer of one open event stream. It takes messages; how they are framed, as events or as lines, is the writer's. */
export interface MessageWriter extends OpenAnswer {
  /**
   * Queues one JSON-RPC message, JSON text, and is done with its bytes when it returns. An event has the type `message`, unless an upstream
   * gave it `fields` of its own: then just those, and the message may be empty. Returns what `AnswerWriter.write` does.
   */
  write(message: Uint8Array | string, fields?: EventFields): boolean;
}

/**
 * The client's half of one call. A runtime answers through exactly one of `respond`, `stream`, `events`, `accept`, `fail`;
 * after the client left or the deadline passed all of them do nothing.
 */
export interface Exchange {
  /** False: the client's `Accept` takes JSON only, so notifications are dropped and the final response goes by `respond`. */
  readonly accepts_events: boolean;
  /** Monotonic ms when the upstream or handler began to work, for `overhead_seconds`: set by the runtime through `handedOver`. `bridged`: the call is served in the other protocol era. */
  upstreamStarted(bridged?: BridgeDirection): void;
  /** The answer begins: from here on the time counts as gateway overhead again. */
  upstreamResponded(): void;
  /**
   * Sets what stops the work: the client left, the deadline passed, the drain killed it. May be set again as the call moves on: what
   * was set last is what runs, once and with the reason. Nothing runs after a complete answer. With `drain` an event stream that is
   * still open takes last words: the runtime ends it as its protocol says, a subscription with its completion.
   */
  onCancel(cancel: (reason: EndReason) => void): void;
  /** Sets what the message of a `DEADLINE` says beside its own text, while the call waits for something that goes on without it. */
  waitsFor(detail: string | undefined): void;
  /** True once the caller no longer waits for an answer. */
  readonly ended: boolean;
  /** Progress was seen: the deadline starts again, up to `request_timeout_max_ms` in all. */
  progressed(): void;
  /** The server asked its client something in the middle of the call: a person may answer, so the deadline is `request_timeout_max_ms`. */
  inputRequested(): void;
  /** A whole answer. */
  respond(status: number, headers: HeaderList, body: Uint8Array, outcome: AnswerOutcome, rpc_code?: number): void;
  /** A JSON answer that is too large to hold: its head goes now, its bytes follow. `length` is the exact length if known. */
  stream(status: number, headers: HeaderList, length: number | undefined): AnswerWriter;
  /** An event stream: its head goes at once. Keep-alive comments go between messages only. Undefined: refused, no slot was free. */
  events(headers: HeaderList): MessageWriter | undefined;
  /** 202 with an empty body, or another empty answer. */
  accept(status?: number, headers?: HeaderList): void;
  fail(error: GatewayError): void;
}

export type Health = 'starting' | 'ready' | 'degraded' | 'stopped';

/** Where an MCP route ends. */
export interface Runtime {
  /** Config name. */
  readonly name: string;
  readonly kind: string;
  start(signal: AbortSignal): Promise<void>;
  /** Never throws; reports every failure through `exchange.fail`. */
  handle(call: Call, exchange: Exchange): void;
  readonly health: Health;
  /** Ends what the runtime owns, at the latest after `deadline_ms`. */
  close(deadline_ms: number): Promise<void>;
}

/** Where a plain HTTP route ends: it gets request and response themselves, after the gates, with the body unread. */
export interface HttpRuntime {
  readonly name: string;
  readonly kind: 'http';
  start(signal: AbortSignal): Promise<void>;
  serve(request: IncomingMessage, response: ServerResponse, passed: Passed): void;
  readonly health: Health;
  close(deadline_ms: number): Promise<void>;
}

/** What the gates said about a plain HTTP request. */
export interface Passed {
  readonly head: RequestHead;
  readonly identity: Identity | undefined;
  readonly facts: Facts;
  /** As in `Call`. */
  readonly trace?: RequestTrace | undefined;
  /** The path of the route, without a trailing slash: what the upstream's base path replaces. */
  readonly prefix: string;
  /** As in `CallRoute`. */
  readonly forward_identity_header?: string | undefined;
}

/** The call without its body and its head's fields: what a stream needs that may stay open for hours. The caller's credential is not in it. */
export function settledCall(call: Call): Call {
  const { id, method, path, query, peer, received_at_ms, claims } = call.head;
  return { ...call, body: EMPTY, head: { id, method, path, query, headers: NO_FIELDS, peer, received_at_ms, claims } };
}
