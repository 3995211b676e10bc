import { callerKey } from '../../contract/caller.js';
import type { Clock } from '../../contract/clock.js';
import type { Limits } from '../../contract/limits.js';
import type { AnswerOutcome, AnswerWriter, Call, Exchange, HeaderList } from '../../contract/runtime.js';
import { settledCall } from '../../contract/runtime.js';
import type { BridgeDirection, EndReason, RequestOutcome, Telemetry } from '../../contract/telemetry.js';
import { CallDeadline } from '../../core/run/call-deadline.js';
import { GatewayError } from '../../errors/error.js';
import { errorText } from '../../wire/rpc.js';
import type { Ticking, WorkView } from '../socket/connection.js';
import { AnswerStream, EventStream } from './event-stream.js';
import { type Refusal, sendBytes, sendRefusal, sendWhole } from './reply.js';
import type { RequestContext } from './request-context.js';
import type { StreamSlots } from './stream-slots.js';
import { EVENT_HEADERS, outcomeOf, streamKind } from './stream-slots.js';

/** What all exchanges of one listener share. */
export interface ExchangeEnvironment {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly slots: StreamSlots;
  /** The routing that the request was matched against. */
  readonly snapshot: object;
  failed(call: Call | undefined, error: GatewayError, request_id: string): void;
}

/**
 * The client's half of one call, from the scanned body to the end of the answer. Owned by the connection: `closed` is
 * called once, when the response is over, and is the only place that releases the slot and counts the request.
 */
export class CallExchange implements Exchange, Ticking {
  readonly accepts_events: boolean;
  readonly #asked: RequestContext;
  readonly #env: ExchangeEnvironment;
  #call: Call | undefined;
  /** From `begin` on. */
  #deadline: CallDeadline | undefined;
  #stream: AnswerStream | undefined;
  #answered = false;
  #over = false;
  #slot_owner: string | undefined;
  #outcome: RequestOutcome = 'ok';
  #rpc_code: number | undefined;
  #bridged: BridgeDirection | undefined;
  #out_ms = 0;
  #away_ms = 0;

  constructor(asked: RequestContext, env: ExchangeEnvironment) {
    this.#asked = asked;
    this.#env = env;
    this.accepts_events = asked.accepts_events;
    asked.connection.phase = 'running';
    asked.connection.work = this;
  }

  /** Starts the clock of a call; false when it was refused because it is a stream and no slot is free. */
  begin(call: Call): boolean {
    const { limits, clock } = this.#env;
    const long = call.kind === 'get_stream' || call.method === 'subscriptions/listen';
    this.#call = long ? settledCall(call) : call;
    if (long) {
      const caller = callerKey(call.identity, call.head.peer.client_address);
      const refused = this.#env.slots.take(this.#asked.route, caller);
      if (refused !== undefined) {
        this.fail(new GatewayError(refused));
        return false;
      }
      this.#slot_owner = caller;
    }
    this.#deadline = new CallDeadline(clock, limits);
    return true;
  }

  get ended(): boolean {
    return this.#over || this.#asked.connection.dead;
  }

  upstreamStarted(bridged?: BridgeDirection): void {
    this.#bridged = bridged;
    this.#out_ms = this.#env.clock.mono_ms();
    this.#asked.trace?.upstreamStarted();
  }

  upstreamResponded(): void {
    if (this.#out_ms !== 0) this.#away_ms += this.#env.clock.mono_ms() - this.#out_ms;
    if (this.#out_ms !== 0 && !this.#over) this.#asked.trace?.upstreamResponded();
    this.#out_ms = 0;
  }

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#deadline?.onCancel(cancel);
  }

  waitsFor(detail: string | undefined): void {
    this.#deadline?.waitsFor(detail);
  }

  progressed(): void {
    this.#deadline?.progressed();
  }

  inputRequested(): void {
    this.#deadline?.inputRequested();
  }

  respond(status: number, headers: HeaderList, body: Uint8Array, outcome: AnswerOutcome, rpc_code?: number): void {
    const response = this.#take(outcome, rpc_code);
    this.#asked.trace?.answered();
    if (response === undefined) return;
    if (!this.#asked.accepts_json && status === 200) return this.#respondAsEvent(headers, body);
    const list = [...headers, 'content-length', String(body.length), 'x-request-id', this.#asked.request_id, ...this.#asked.extra];
    sendBytes(response, status, list, body);
  }

  stream(status: number, headers: HeaderList, length: number | undefined): AnswerWriter {
    const response = this.#take('ok', undefined);
    if (response === undefined) return GONE;
    const list = [...headers, 'x-request-id', this.#asked.request_id, ...this.#asked.extra];
    if (length !== undefined) list.push('content-length', String(length));
    response.writeHead(status, list);
    this.#stream = new AnswerStream(
      response,
      this.#env.limits,
      (reason, result, code) => this.#streamEnded(reason, result, code),
      () => this.progressed(),
    );
    return this.#stream;
  }

  events(headers: HeaderList): EventStream | undefined {
    const response = this.#take('ok', undefined);
    if (response === undefined) return undefined;
    const kind = streamKind(this.#call);
    const list = [...headers, ...EVENT_HEADERS, 'x-request-id', this.#asked.request_id, ...this.#asked.extra];
    response.writeHead(200, list);
    response.flushHeaders();
    this.#asked.connection.phase = 'streaming';
    if (kind !== 'response') this.#asked.connection.forgetArrival();
    const stream = new EventStream(response, {
      limits: this.#env.limits,
      clock: this.#env.clock,
      telemetry: this.#env.telemetry,
      route: this.#asked.route,
      kind,
      expires_at_ms: kind === 'response' ? undefined : this.#call?.identity?.expires_at_ms,
      ended: (reason, result, code) => this.#streamEnded(reason, result, code),
    });
    this.#stream = stream;
    return stream;
  }

  accept(status = 202, headers: HeaderList = []): void {
    const response = this.#take('ok', undefined);
    if (response === undefined) return;
    const list = [...headers, 'content-length', '0', 'x-request-id', this.#asked.request_id, ...this.#asked.extra];
    sendWhole(response, status, list, '', false);
  }

  fail(error: GatewayError): void {
    this.refuse(
      { status: error.status, rpc: error.rpc, code: error.code, message: error.message, data: error.data, headers: error.headers },
      outcomeOf(error),
    );
    this.#env.failed(this.#call, error, this.#asked.request_id);
  }

  /** Answers with an error, or ends a stream that had begun with an error event. */
  refuse(refusal: Refusal, outcome: RequestOutcome, id: string | undefined = idOf(this.#call)): void {
    if (this.#over) return;
    this.#outcome = outcome;
    this.#rpc_code = refusal.rpc;
    if (!this.#answered) {
      this.#answered = true;
      sendRefusal(this.#asked.connection, refusal, id, this.#asked.request_id, this.#asked.extra, false);
    } else if (this.#stream instanceof EventStream && id !== undefined) {
      this.#stream.last(errorText(refusal, id, this.#asked.request_id), 'error');
    } else this.#asked.connection.socket.destroy();
  }

  view(): WorkView {
    const stream = this.#stream instanceof EventStream ? streamKind(this.#call) : undefined;
    return { snapshot: this.#env.snapshot, route: this.#asked.route, stream, buffered_bytes: this.#stream?.buffered_bytes ?? 0 };
  }

  tick(now_ms: number): void {
    if (this.#stream !== undefined) this.#stream.tick(now_ms);
    const deadline = this.#deadline;
    if (deadline === undefined || !deadline.isLate(now_ms)) return;
    if (this.#stream instanceof EventStream && streamKind(this.#call) !== 'response') return;
    if (this.#answered && this.#stream === undefined) return;
    this.#deadline = undefined;
    deadline.stop('deadline');
    this.fail(deadline.error);
  }

  drain(): void {
    const stream = this.#stream;
    if (this.#slot_owner !== undefined && !this.#answered) {
      this.#deadline?.stop('drain');
      return this.fail(new GatewayError(this.#env.slots.refused(this.#asked.route)));
    }
    if (!(stream instanceof EventStream) || streamKind(this.#call) === 'response') return;
    // Who answers ends the stream as its protocol says; what is left open ends here.
    this.#deadline?.stop('drain');
    stream.end('drain');
  }

  kill(): 'call' | 'stream' {
    // No last words: the connection is destroyed.
    this.#stream?.gone('drain');
    this.#deadline?.stop('drain');
    if (this.#stream !== undefined) this.#asked.trace?.streamEnded('drain');
    this.#asked.connection.socket.destroy();
    return this.#stream instanceof EventStream ? 'stream' : 'call';
  }

  closed(finished: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.upstreamResponded();
    if (!finished) {
      if (this.#outcome === 'ok') this.#outcome = 'cancelled';
      this.#deadline?.stop('client');
      this.#stream?.gone('client');
      if (this.#stream !== undefined) this.#asked.trace?.streamEnded('client');
    }
    if (this.#slot_owner !== undefined) this.#env.slots.give(this.#slot_owner);
    this.#count();
    this.#deadline = undefined;
    this.#call = undefined;
  }

  #take(outcome: AnswerOutcome, rpc_code: number | undefined) {
    const { response, dead } = this.#asked.connection;
    if (this.#answered || this.#over || dead || response === undefined) return undefined;
    this.#answered = true;
    this.#outcome = outcome;
    this.#rpc_code = rpc_code;
    return response;
  }

  #respondAsEvent(headers: HeaderList, body: Uint8Array): void {
    this.#answered = false;
    const outcome = this.#outcome === 'cancelled' ? 'ok' : (this.#outcome as AnswerOutcome);
    const code = this.#rpc_code;
    const writer = this.events(headers.filter((_, i) => headers[i - (i % 2)] !== 'content-type'));
    writer?.last(body, 'source', outcome, code);
  }

  #streamEnded(reason: EndReason, outcome: AnswerOutcome | undefined, rpc_code: number | undefined): void {
    this.#asked.trace?.streamEnded(reason);
    if (outcome !== undefined) this.#outcome = outcome;
    if (rpc_code !== undefined) this.#rpc_code = rpc_code;
    if (reason === 'slow_consumer') this.#outcome = 'cancelled';
    if (reason === 'slow_consumer' || reason === 'identity_expired') this.#deadline?.stop(reason);
    if (reason === 'slow_consumer') this.#asked.connection.socket.destroy();
  }

  #count(): void {
    const call = this.#call;
    const { method = '', era, revision } = call ?? this.#asked.claims;
    const seconds = (this.#env.clock.mono_ms() - this.#asked.started_ms) / 1000;
    this.#env.telemetry.requestEnded({
      request_id: this.#asked.request_id,
      route: this.#asked.route,
      method,
      era,
      revision,
      outcome: this.#outcome,
      seconds,
      overhead_seconds: Math.max(0, seconds - this.#away_ms / 1000),
      tool: call?.method === 'tools/call' ? call.name : undefined,
      rpc_code: this.#rpc_code,
      bridged: this.#bridged,
      trace: this.#asked.trace,
    });
  }
}

/** An error answers a request; the id of a client's response is one that the server chose. */
function idOf(call: Call | undefined): string | undefined {
  return call?.kind === 'request' ? call.id : undefined;
}

const GONE: AnswerWriter = { write: () => false, onDrain: () => undefined, end: () => undefined };
