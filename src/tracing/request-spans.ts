import {
  type Attributes,
  type Context,
  createTraceState,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Clock } from '../contract/clock.js';
import type { RequestHead } from '../contract/head.js';
import type { EndReason, Exemplar, GateVerdict, RequestRecord } from '../contract/telemetry.js';
import type { RequestTrace, TracedCall, TracedRoute, TraceHeaders } from '../contract/tracing.js';
import { pseudonymOf } from '../telemetry/redact.js';
import { trimOws } from '../wire/field.js';
import type { Described } from './attributes.js';
import { callAttributes, type NetworkPeer, peerAttributes, SERVER_NETWORK } from './attributes.js';
import { toHrTime } from './otlp.js';
import type { SpanNames } from './span-names.js';

/** Longest `tracestate` that is passed on; W3C Trace Context section 3.3.1.5 asks for at least this much. */
const MAX_STATE = 512;
const MAX_MEMBERS = 32;
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = /^0+$/;
const SAMPLED = 1;
/** A key and a value of printable ASCII (W3C Trace Context section 3.3.1.3). */
const MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Events of one span; further ones are omitted. */
const MAX_EVENTS = 64;

export interface SpanEnvironment {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly names: SpanNames;
  /** `link`: a request begins a trace of ours and points to the caller's. */
  readonly parent: 'follow' | 'link';
  /** True: the caller's pseudonym is an attribute. */
  readonly principal: boolean;
  /** The server behind a runtime of the config; undefined: it runs in this process and has no separate span. */
  readonly peerOf: (runtime: string) => NetworkPeer | undefined;
}

interface Noted {
  readonly name: string;
  readonly attributes: Attributes;
  readonly at_ms: number;
}

/**
 * The spans of one request: SERVER for the whole of it, CLIENT for the part behind us. The first begins when its parent is known:
 * that is `params._meta` of the body, or else the header; a request that never got so far has the header's.
 */
export class RequestSpans implements RequestTrace {
  exemplar: Exemplar | undefined;
  readonly #env: SpanEnvironment;
  readonly #route: TracedRoute;
  readonly #started_ms: number;
  readonly #received_ms: number;
  readonly #said: Described;
  #head: RequestHead | undefined;
  #server: Span | undefined;
  #client: Span | undefined;
  #answered_ms: number | undefined;
  #stream_ended = false;
  #notes: Noted[] = [];

  constructor(env: SpanEnvironment, head: RequestHead, route: TracedRoute, started_ms: number) {
    this.#env = env;
    this.#head = head;
    this.#route = route;
    this.#started_ms = started_ms;
    this.#received_ms = head.received_at_ms;
    this.#said = { http_method: head.method, ...NOTHING_SAID };
  }

  get trace_id(): string | undefined {
    if (this.#server !== undefined) return this.#server.spanContext().traceId;
    return this.#env.parent === 'follow' ? this.#named()?.traceId : undefined;
  }

  gateDecided(gate: string, verdict: GateVerdict, code: string, seconds: number): void {
    const refused = code === '' ? {} : { 'portcullis.code': code };
    this.#note('gate', { 'portcullis.gate': gate, 'portcullis.verdict': verdict, 'portcullis.seconds': seconds, ...refused });
  }

  called(call: TracedCall, traceparent: string | undefined, tracestate: string | undefined): void {
    const said = this.#said;
    said.name = call.name;
    if (call.kind === 'request') said.id = call.id;
    if (call.era === 'legacy') said.session = call.head.headers.get('mcp-session-id');
    if (this.#env.principal) said.identity = call.identity;
    const named = this.#named();
    const inner = traceparent === undefined ? undefined : parseTraceParent(traceparent, tracestate);
    this.#begin(inner ?? named, inner !== undefined && named !== undefined && inner.spanId !== named.spanId ? [{ context: named }] : []);
  }

  outgoing(): TraceHeaders {
    const context = this.#openClient().spanContext();
    return { traceparent: toTraceParent(context), tracestate: context.traceState?.serialize() };
  }

  upstreamStarted(): void {
    if (this.#env.peerOf(this.#route.runtime) !== undefined) this.#openClient();
  }

  upstreamResponded(): void {
    this.#client?.addEvent('handed back', toHrTime(this.#wall(this.#env.clock.mono_ms())));
  }

  answered(): void {
    this.#answered_ms ??= this.#env.clock.mono_ms();
  }

  streamEnded(reason: EndReason): void {
    this.answered();
    if (this.#stream_ended) return;
    this.#stream_ended = true;
    this.#note('stream ended', { 'portcullis.reason': reason });
  }

  refused(code: string, gate: string): void {
    this.#said.refused ??= code;
    if (gate !== '') this.#said.refused_by ??= gate;
  }

  ended(record: RequestRecord): void {
    const server = this.#server ?? this.#begin(this.#named(), []);
    const ended_ms = this.#started_ms + record.seconds * 1000;
    if (server.isRecording()) {
      const { traceId, spanId } = server.spanContext();
      this.exemplar = { trace_id: traceId, span_id: spanId, time_s: Math.round(this.#wall(ended_ms)) / 1000 };
      this.#describe(server, record);
    }
    this.#client?.end(toHrTime(this.#wall(Math.min(ended_ms, this.#answered_ms ?? ended_ms))));
    server.end(toHrTime(this.#wall(ended_ms)));
    this.#head = undefined;
    this.#notes = [];
  }

  #describe(server: Span, record: RequestRecord): void {
    const said = this.#said;
    const attributes = callAttributes(record, said);
    const name = this.#env.names.of(record, said.http_method, said.name);
    for (const span of [server, this.#client]) {
      if (span === undefined) continue;
      span.updateName(name).setAttributes(attributes);
      if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, ...messageOf(said.refused) });
    }
    server.setAttributes(SERVER_NETWORK).setAttribute('portcullis.outcome', record.outcome);
    if (said.refused !== undefined) server.setAttribute('portcullis.code', said.refused);
    if (said.refused_by !== undefined) server.setAttribute('portcullis.gate', said.refused_by);
    if (said.identity !== undefined) server.setAttribute('enduser.pseudo.id', pseudonymOf(said.identity));
    for (const note of this.#notes) server.addEvent(note.name, note.attributes, toHrTime(this.#wall(note.at_ms)));
  }

  /** The span that the header names. */
  #named() {
    const { headers } = this.#head ?? NO_HEAD;
    return parseTraceParent(headers.get('traceparent'), headers.all('tracestate').join(',') || undefined);
  }

  #begin(parent: ReturnType<typeof parseTraceParent>, links: Link[]): Span {
    const follows = this.#env.parent === 'follow';
    const context: Context = parent === undefined || !follows ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    if (parent !== undefined && !follows) links.push({ context: parent });
    const options = { kind: SpanKind.SERVER, startTime: toHrTime(this.#received_ms), links };
    this.#server = this.#env.tracer.startSpan(this.#route.path, options, context);
    // From here on nothing of the head is needed, and a stream may be open for hours.
    this.#head = undefined;
    return this.#server;
  }

  #openClient(): Span {
    if (this.#client !== undefined) return this.#client;
    const server = this.#server ?? this.#begin(this.#named(), []);
    const { runtime, path } = this.#route;
    const attributes = peerAttributes(runtime, this.#env.peerOf(runtime));
    const startTime = toHrTime(this.#wall(this.#env.clock.mono_ms()));
    this.#client = this.#env.tracer.startSpan(path, { kind: SpanKind.CLIENT, startTime, attributes }, trace.setSpan(ROOT_CONTEXT, server));
    return this.#client;
  }

  #note(name: string, attributes: Attributes): void {
    if (this.#notes.length < MAX_EVENTS) this.#notes.push({ name, attributes, at_ms: this.#env.clock.mono_ms() });
  }

  /** Wall clock, ms, of a monotonic time: durations stay exact when the wall clock is set. */
  #wall(mono_ms: number): number {
    return this.#received_ms + Math.max(0, mono_ms - this.#started_ms);
  }
}

const NOTHING_SAID = {
  id: undefined,
  name: undefined,
  session: undefined,
  identity: undefined,
  refused: undefined,
  refused_by: undefined,
} as const;
const NO_HEAD: Pick<RequestHead, 'headers'> = { headers: { raw: [], get: () => undefined, all: () => [] } };

const messageOf = (code: string | undefined) => (code === undefined ? {} : { message: code });

/**
 * The span that a `traceparent` names (W3C Trace Context section 3.2); undefined when the text is not exactly one. A version above
 * 00 is read by the rules of 00. A `tracestate` that is too long, has too many members or is malformed is left out, the parent stays.
 */
export function parseTraceParent(parent: string | undefined, state: string | undefined): SpanContext | undefined {
  if (parent === undefined || parent.length < 55 || parent.length > 512) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = PARENT.exec(parent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return undefined;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
  const kept = state === undefined ? undefined : stateOf(state);
  return kept === undefined ? context : { ...context, traceState: kept };
}

/** The `traceparent` of a span of ours. */
export function toTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & SAMPLED) === 0 ? '00' : '01'}`;
}

function stateOf(text: string): SpanContext['traceState'] {
  if (text.length > MAX_STATE) return undefined;
  const members = text
    .split(',')
    .map(trimOws)
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MAX_MEMBERS || !members.every((member) => MEMBER.test(member))) return undefined;
  return createTraceState(text);
}
