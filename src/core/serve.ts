import type { CallSummary } from '../contract/claims.js';
import type { RequestHead } from '../contract/head.js';
import type { Facts, Identity } from '../contract/identity.js';
import type { Call, CallRoute, Exchange, Runtime } from '../contract/runtime.js';
import type { RequestTrace } from '../contract/tracing.js';
import { admitMessage } from '../dialect/admit.js';
import { CODES } from '../errors/codes.js';
import type { ProtocolFault } from '../errors/error.js';
import { type Envelope, scanMessage } from '../wire/scan.js';
import { toText } from '../wire/text.js';

/** An error for the JSON-RPC peer, ready for the exchange. */
export interface ServeRefusal {
  readonly status: number;
  readonly rpc: number;
  /** Stable name, `error.data.code`. */
  readonly code: string;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** What the pipeline asks of the listener's half of a call. */
export interface ServedExchange extends Exchange {
  /** Starts the deadline; false when no subscription slot was free and the refusal is sent. */
  begin(call: Call): boolean;
  refuse(refusal: ServeRefusal, outcome: 'refused', id?: string): void;
}

/** Everything the gates and the listener found before the body was looked at. */
export interface Gated {
  readonly head: RequestHead;
  readonly identity: Identity | undefined;
  readonly facts: Facts;
  readonly route: CallRoute;
  readonly runtime: Runtime;
  readonly trace?: RequestTrace | undefined;
  /**
   * The gates' second look at a message whose method or name no header binds: a legacy one, a modern notification that came without
   * `Mcp-Method`, or a modern request that names a task in its body alone. Undefined when no gate takes one. It calls `proceed` to go on; a refusal is its own to send.
   */
  readonly judge: ((summary: CallSummary, id: string | undefined, proceed: () => void) => void) | undefined;
}

/**
 * The pipeline behind the gates, written once: scan, dialect, the gates' second look, runtime. Every way out goes through
 * the exchange. Bytes judged are bytes sent: `body` reaches the runtime unchanged.
 */
export function serveMessage(gated: Gated, body: Buffer, exchange: ServedExchange): void {
  const admitted = admitCall(body, gated);
  if (!admitted.ok) return exchange.refuse(toRefusal(admitted.fault), 'refused', admitted.id);
  const { call, envelope } = admitted;
  const { era, name, kind, id } = call;
  const { claims } = gated.head;
  if (gated.trace !== undefined) traceCall(gated.trace, call, envelope.meta);
  // The header of a task may be left out: then the body alone names it.
  const unnamed = era === 'legacy' || claims.method === undefined || (name !== undefined && claims.name === undefined);
  if (gated.judge !== undefined && unnamed)
    gated.judge(call, kind === 'request' ? id : undefined, () => run(call, gated.runtime, exchange));
  else run(call, gated.runtime, exchange);
}

/** The same for the legacy GET stream and DELETE, which have no body. */
export function serveBodiless(gated: Gated, exchange: ServedExchange): void {
  const { head, identity, facts, route, trace } = gated;
  const kind = head.method === 'GET' ? 'get_stream' : 'session_end';
  const { era, revision } = head.claims;
  const call: Call = {
    era,
    revision,
    method: '',
    name: undefined,
    kind,
    id: undefined,
    progress_token: undefined,
    body: EMPTY,
    head,
    identity,
    facts,
    route,
    trace,
  };
  trace?.called(call, undefined, undefined);
  run(call, gated.runtime, exchange);
}

const EMPTY = Buffer.alloc(0);

function run(call: Call, runtime: Runtime, exchange: ServedExchange): void {
  // A subscription lives for hours: the exchange keeps the call, and with it the body, as long.
  const kept = call.method === 'subscriptions/listen' ? { ...call, body: EMPTY } : call;
  if (exchange.ended || !exchange.begin(kept)) return;
  runtime.handle(call, exchange);
}

function traceCall(trace: RequestTrace, call: Call, { traceparent, tracestate }: Envelope['meta']): void {
  const text = (span: readonly [number, number] | undefined): string | undefined =>
    span === undefined || span[1] - span[0] > MAX_TRACE_BYTES ? undefined : toText(call.body, span[0], span[1]);
  trace.called(call, text(traceparent), text(tracestate));
}

/** The longest W3C trace context; a longer value is ignored. */
const MAX_TRACE_BYTES = 1_024;

function toRefusal(fault: ProtocolFault): ServeRefusal {
  const { status, rpc, message } = CODES[fault.code];
  return { status, rpc, code: fault.code, message: fault.detail === undefined ? message : `${message} ${fault.detail}`, data: fault.data };
}

/** What of a call its bytes do not say: how it came, and who sent it. */
interface Sender extends Pick<Call, 'identity' | 'facts' | 'route' | 'trace'> {
  /** Made of the envelope where the transport has no header fields. */
  readonly head: RequestHead | ((envelope: Envelope) => RequestHead);
}

/** The call, or why the message is none. */
type AdmittedCall =
  | { readonly ok: true; readonly call: Call; readonly envelope: Envelope }
  | {
      readonly ok: false;
      readonly fault: ProtocolFault;
      /** The raw id for the error answer, if that of a request was read. */
      readonly id: string | undefined;
      /** Undefined: the bytes are no message. */
      readonly kind: Envelope['kind'] | undefined;
    };

/** Scans one message, decides its era, and makes a call of it; pure. Every transport lets messages in this way, bytes unchanged. */
export function admitCall(body: Buffer, sender: Sender): AdmittedCall {
  const scanned = scanMessage(body);
  if (!scanned.ok) return { ok: false, fault: scanned.fault, id: scanned.id, kind: undefined };
  const envelope = scanned.value;
  const { identity, facts, route, trace } = sender;
  const head = typeof sender.head === 'function' ? sender.head(envelope) : sender.head;
  const admitted = admitMessage(envelope, head.claims);
  if (!admitted.ok)
    return { ok: false, fault: admitted.fault, id: envelope.kind === 'request' ? envelope.id : undefined, kind: envelope.kind };
  const { era, revision, method, name, kind, id, progress_token } = admitted.value;
  return { ok: true, call: { era, revision, method, name, kind, id, progress_token, body, head, identity, facts, route, trace }, envelope };
}
