import type { CallSummary } from '../../contract/claims.js';
import type { HeaderInit } from '../../contract/gate.js';
import type { Identity } from '../../contract/identity.js';
import type { HeaderList } from '../../contract/runtime.js';
import type { RequestOutcome } from '../../contract/telemetry.js';
import type { RequestTrace } from '../../contract/tracing.js';
import { type Gated, serveBodiless, serveMessage } from '../../core/serve.js';
import { CODES, type ErrorCode } from '../../errors/codes.js';
import type { ProtocolFault } from '../../errors/error.js';
import type { Admitted, Chain, ChainOutcome } from '../../gate-chain/chain.js';
import type { Connection, Ticking, WorkView } from '../socket/connection.js';
import { AwaitedId } from './awaited-id.js';
import type { ArrivingRequest } from './body.js';
import { readBody } from './body.js';
import { CallExchange } from './exchange.js';
import type { Head } from './head.js';
import { addHeaders, type Refusal, sendRefusal, sendWhole } from './reply.js';
import type { RequestEnvironment, RoutedRequest } from './request-environment.js';
import type { ListenerRoute, McpRoute } from './route.js';

/** One request from its routed head to the moment a runtime has it: gates, body, then the exchange. */
export class IncomingRequest implements Ticking, RoutedRequest {
  /** Set by a chain while a gate waits. */
  abort: (() => void) | undefined;
  readonly head: Head;
  readonly route: ListenerRoute;
  readonly trace: RequestTrace | undefined;
  readonly #connection: Connection;
  readonly #env: RequestEnvironment;
  readonly #extra: HeaderList;
  readonly #started_ms: number;
  /** `head` until the gates are asked; `over` once the request was counted. */
  #stage: 'head' | 'inside' | 'over' = 'head';
  /** Whom the gates have identified so far. */
  #identity: Identity | undefined;
  /** The body is declared too large: the refusal waits for the gates alone. */
  #too_large: ProtocolFault | undefined;
  /** A refusal that waits for the id of its request. */
  #awaited: AwaitedId | undefined;
  /** The id as far as the body was read. */
  #idSoFar: (() => string | undefined) | undefined;
  accepts_json = true;
  accepts_events = true;

  constructor(connection: Connection, head: Head, route: ListenerRoute, extra: HeaderList, env: RequestEnvironment, started_ms: number) {
    this.#connection = connection;
    this.head = head;
    this.route = route;
    this.#extra = extra;
    this.#env = env;
    this.#started_ms = started_ms;
    this.trace = env.tracing?.begin(head, route.info, started_ms);
    connection.work = this;
  }

  /**
   * Runs the listener's gates, then the route's; nothing of the body is read before both admitted the request. A served path's
   * chain holds the listener's gates that need no identity: discovery needs no credential. A body that is declared too large
   * is refused whatever the gates say; they are asked only because a caller whom they know is given the id of the call.
   */
  enter(too_large?: ProtocolFault): void {
    const { listenerChain } = this.#env;
    this.#too_large = too_large;
    this.#stage = 'inside';
    if (listenerChain.size === 0 || this.route.kind === 'served')
      return this.#chain(this.route.chain, undefined, (admitted) => this.#admit(admitted));
    this.#chain(listenerChain, undefined, (before) => this.#chain(this.route.chain, before, (admitted) => this.#admit(admitted)));
  }

  view(): WorkView {
    return { snapshot: this.#env.snapshot, route: this.route.info.path, stream: undefined, buffered_bytes: 0 };
  }

  /** A refusal of this request can be given its id: a gate may find out who calls, and the client sends its body unasked. */
  get mayGetId(): boolean {
    const { route } = this;
    if (route.kind !== 'mcp' || this.head.method !== 'POST' || this.#connection.expects_continue) return false;
    return route.chain.identifies || this.#env.listenerChain.identifies;
  }

  tick(now_ms: number): void {
    this.#awaited?.tick(now_ms);
  }

  closed(finished: boolean): void {
    const { abort } = this;
    this.abort = undefined;
    abort?.();
    this.#awaited?.finish();
    if (!finished) this.#count('cancelled');
  }

  /** A body that is still arriving is refused; a request that is here in full goes on. */
  drain(): void {
    if (this.#connection.request?.complete === true || this.#connection.response?.headersSent !== false) return;
    this.#connection.late = undefined;
    if (this.#awaited !== undefined) return this.#awaited.finish();
    this.refuse('DRAINING');
  }

  kill(): 'call' {
    this.#connection.socket.destroy();
    return 'call';
  }

  /** Refuses before the body was read in full: answers and closes. */
  refuse(code: ErrorCode, detail?: string, data?: Readonly<Record<string, unknown>>, headers?: HeaderInit, id = this.#idSoFar?.()): void {
    const { status, rpc, message } = CODES[code];
    this.#send({ status, rpc, code, message: detail === undefined ? message : `${message} ${detail}`, data, headers }, id);
    this.#deny('', status, code, undefined);
    this.#count('refused');
  }

  #arrivedBadly(code: 'BODY_TIMEOUT' | 'BODY_TOO_LARGE' | 'CHUNKS_TOO_SMALL', detail?: string): void {
    const { dead, response } = this.#connection;
    if (dead || response?.headersSent !== false) return;
    this.#connection.late = undefined;
    this.#env.telemetry.headRefused(code);
    this.refuse(code, detail);
  }

  #chain(chain: Chain, before: Admitted | undefined, next: (admitted: Admitted) => void): void {
    const outcome = chain.decide(this.head, this, before);
    if (outcome instanceof Promise)
      outcome.then(
        (late) => this.#fold(late, next),
        () => this.refuse('GATE_FAILED'),
      );
    else this.#fold(outcome, next);
  }

  #fold(outcome: ChainOutcome, next: (admitted: Admitted) => void): void {
    this.abort = undefined;
    if (this.#connection.dead || this.#connection.work !== this) return;
    if (outcome.kind === 'admit') next(outcome);
    else if (outcome.kind === 'serve') this.#served(outcome);
    else this.#refused(outcome);
  }

  #refused(outcome: ChainOutcome & { kind: 'refuse' }): void {
    this.#identity = outcome.identity;
    if (this.#too_large !== undefined) return this.#tooLarge(this.#too_large, outcome.about_call);
    this.#withId(outcome.about_call, (id) => {
      this.#send(outcome, id);
      this.#deny(outcome.gate, outcome.status, outcome.code, undefined);
      this.#count('refused');
    });
  }

  #tooLarge({ code, detail, data }: ProtocolFault, known: boolean): void {
    this.#env.telemetry.headRefused(code);
    this.#withId(known, (id) => this.refuse(code, detail, data, undefined, id));
  }

  /** Sends a refusal, to a caller who is known once the id of its call has come. */
  #withId(known: boolean, send: (id: string | undefined) => void): void {
    const { request } = this.#connection;
    if (!known || request === undefined || !this.mayGetId) return send(undefined);
    this.#awaited = new AwaitedId(request, this.#env.clock.mono_ms(), send);
  }

  #served(outcome: ChainOutcome & { kind: 'serve' }): void {
    const { response, content_length, transfer_encoding } = this.#connection;
    if (response === undefined) return;
    const headers = ['x-request-id', this.head.id, ...this.#extra];
    // RFC 9110 section 8.6: a 204 has no Content-Length.
    if (outcome.status !== 204) headers.push('content-length', String(Buffer.byteLength(outcome.body)));
    addHeaders(headers, outcome.headers);
    sendWhole(response, outcome.status, headers, outcome.body, content_length > 0 || transfer_encoding);
  }

  #admit(admitted: Admitted): void {
    const { route } = this;
    this.#identity = admitted.identity;
    if (this.#too_large !== undefined) return this.#tooLarge(this.#too_large, admitted.identity !== undefined);
    this.#env.admitted(this, admitted);
    if (route.kind === 'served') return this.refuse('NO_ROUTE');
    const { request } = this.#connection;
    if (request === undefined) return;
    if (route.kind === 'http') return this.#pass(request, admitted);
    if (this.head.method === 'POST') return this.#read(request, route, admitted);
    serveBodiless(this.#gated(route, admitted), this.#exchange(route));
  }

  #read(request: ArrivingRequest, route: McpRoute, admitted: Admitted): void {
    const { limits, admission } = this.#env;
    admission.admitBody(this.#connection, () => this.#arrivedBadly('BODY_TIMEOUT'));
    if (this.#connection.chunked) request.onTinyChunks(() => this.#arrivedBadly('CHUNKS_TOO_SMALL'));
    this.#idSoFar = readBody(request, limits.max_body_bytes, (body) => {
      this.#connection.late = undefined;
      if (this.#connection.dead || this.#connection.response?.headersSent !== false) return;
      if (body === undefined) return this.#arrivedBadly('BODY_TOO_LARGE', `At most ${limits.max_body_bytes} bytes are accepted.`);
      if (!this.#connection.transfer_encoding && !this.#connection.headFits(limits.max_header_bytes)) return this.refuse('HEAD_TOO_LARGE');
      this.#idSoFar = undefined;
      const exchange = this.#exchange(route);
      serveMessage(this.#gated(route, admitted, exchange), body, exchange);
    });
  }

  #pass(request: ArrivingRequest, admitted: Admitted): void {
    const { route } = this;
    const { response } = this.#connection;
    if (route.kind !== 'http' || response === undefined) return;
    this.#connection.phase = 'running';
    const arrivedBadly = (code: 'BODY_TIMEOUT' | 'CHUNKS_TOO_SMALL'): void => {
      if (response.headersSent) this.#connection.socket.destroy();
      else this.#arrivedBadly(code);
    };
    this.#env.admission.admitBody(this.#connection, () => arrivedBadly('BODY_TIMEOUT'));
    if (this.#connection.chunked) request.onTinyChunks(() => arrivedBadly('CHUNKS_TOO_SMALL'));
    if (response.headersSent) return;
    const ours_ms = this.#env.clock.mono_ms() - this.#started_ms;
    response.on('finish', () => this.#count(response.statusCode >= 500 ? 'upstream_error' : 'ok', ours_ms));
    for (let i = 0; i < this.#extra.length; i += 2) response.setHeader(this.#extra[i] as string, this.#extra[i + 1] as string);
    response.setHeader('x-request-id', this.head.id);
    const prefix = route.path.endsWith('/') ? route.path.slice(0, -1) : route.path;
    route.runtime.serve(request, response, {
      head: this.head,
      identity: admitted.identity,
      facts: admitted.facts,
      trace: this.trace,
      prefix,
      forward_identity_header: route.forward_identity_header,
    });
  }

  #exchange(route: McpRoute): CallExchange {
    return new CallExchange(
      {
        connection: this.#connection,
        request_id: this.head.id,
        route: route.info.path,
        accepts_json: this.accepts_json,
        accepts_events: this.accepts_events,
        extra: this.#extra,
        started_ms: this.#started_ms,
        claims: this.head.claims,
        trace: this.trace,
      },
      this.#env,
    );
  }

  #gated(route: McpRoute, admitted: Admitted, exchange?: CallExchange): Gated {
    const judge =
      exchange === undefined || !route.chain.judges_calls
        ? undefined
        : (summary: CallSummary, id: string | undefined, proceed: () => void) =>
            this.#judge(route, summary, admitted, exchange, id, proceed);
    const { head, trace } = this;
    return { head, identity: admitted.identity, facts: admitted.facts, route: route.call_route, runtime: route.runtime, trace, judge };
  }

  #judge(route: McpRoute, summary: CallSummary, admitted: Admitted, exchange: CallExchange, id: string | undefined, proceed: () => void) {
    const settle = (outcome: ChainOutcome): void => {
      if (outcome.kind === 'admit') return proceed();
      const { status, rpc, message } = CODES.GATE_FAILED;
      const refusal: Refusal = outcome.kind === 'refuse' ? outcome : { status, rpc, code: 'GATE_FAILED', message };
      exchange.refuse(refusal, 'refused', id);
      this.#deny(outcome.gate, refusal.status, refusal.code, summary);
    };
    const outcome = route.chain.decideCall(summary, this.head, this, admitted);
    if (outcome instanceof Promise) {
      outcome.then(settle, () => settle({ kind: 'serve', status: 500, headers: undefined, body: '', gate: '' }));
    } else settle(outcome);
  }

  #send(refusal: Refusal, id: string | undefined): void {
    sendRefusal(this.#connection, refusal, id, this.head.id, this.#extra, true);
  }

  #deny(gate: string, status: number, code: string, summary: CallSummary | undefined): void {
    const { head, trace } = this;
    const method = summary?.method ?? head.claims.method ?? '';
    const tool = method === 'tools/call' ? (summary?.name ?? head.claims.name) : undefined;
    this.#env.denied({ head, route: this.route.info.path, gate, status, code, method, tool, identity: this.#identity, trace });
  }

  /** Counts a request that passed the head checks, once. `ours_ms` is our own part of it; undefined: all of it. */
  #count(outcome: RequestOutcome, ours_ms?: number): void {
    if (this.#stage !== 'inside' || this.route.kind === 'served') return;
    this.#stage = 'over';
    const { method = '', era, revision } = this.head.claims;
    const seconds = (this.#env.clock.mono_ms() - this.#started_ms) / 1000;
    const overhead_seconds = ours_ms === undefined ? seconds : ours_ms / 1000;
    this.#env.telemetry.requestEnded({
      request_id: this.head.id,
      route: this.route.info.path,
      method,
      era,
      revision,
      outcome,
      seconds,
      overhead_seconds,
      tool: undefined,
      rpc_code: undefined,
      trace: this.trace,
    });
  }
}
