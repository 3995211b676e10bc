import { callerKey } from '../../contract/caller.js';
import type { Timer } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';
import { type ErrorDetail, GatewayError } from '../../errors/error.js';
import type { ResponseHead, UpstreamHandle, UpstreamListener, UpstreamRequest } from '../../upstream/exchange.js';
import type { UpstreamPool } from '../../upstream/pool.js';
import type { Answer, AnswerHost, OpenSession, ProxiedParts } from '../answer/answer.js';
import { readUpstreamHead } from '../answer/answer.js';
import { openAnswer } from '../answer/open-answer.js';
import type { TaskNames } from '../shared/bound-tasks.js';
import { faultBeforeHead } from '../shared/faults.js';
import type { RequestQueue, Waiter } from './request-queue.js';

/** Told `answered` or `failed` for each call whose upstream was asked and not stopped: a head came, or none. */
export interface UpstreamCallWatch {
  answered(status: number): void;
  failed(code: ErrorCode): void;
  /** A caller's share was used up: its call waits or is refused. */
  limited(route: string, kind: 'wait' | 'call'): void;
}

/**
 * One exchange with the upstream, from waiting for a connection to the last byte. It owns its place in the queue and gives it back
 * in `#leave`, once, on every way out. The pool calls the `on…` methods.
 */
export class UpstreamCall implements UpstreamListener, AnswerHost, Waiter {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly parts: ProxiedParts;
  readonly session: OpenSession | undefined;
  readonly task_names: TaskNames | undefined;
  readonly caller: string;
  place: Waiter['place'];
  #request: UpstreamRequest | undefined;
  readonly #watch: UpstreamCallWatch;
  readonly #queue: RequestQueue;
  readonly #pool: UpstreamPool;
  readonly #streams: SessionStreams;
  readonly #onLeft: (() => void) | undefined;
  #answer: Answer | undefined;
  #line: UpstreamHandle | undefined;
  #sent = false;
  #spoke = false;
  #launched = false;
  #stopped = false;
  #left = false;
  #linger: Timer | undefined;
  #ignored = 0;

  constructor(parts: ProxiedParts, route: UpstreamCallRoute, call: Call, exchange: Exchange, session: OpenSession | undefined) {
    this.parts = parts;
    this.call = call;
    this.exchange = exchange;
    this.session = session;
    this.task_names = route.task_names;
    this.caller = callerKey(call.identity, call.head.peer.client_address);
    this.place = undefined;
    this.#request = route.request;
    this.#watch = route.watch;
    this.#queue = route.queue;
    this.#pool = route.pool;
    this.#streams = route.streams;
    this.#onLeft = route.left;
  }

  /** Takes a place, or tells the client that there is none. */
  start(): void {
    this.exchange.onCancel((reason) => {
      if (reason === 'drain') this.#answer?.drain?.();
      this.abort();
    });
    const entry = this.#queue.enter(this);
    if (entry === 'refused') return this.displaced();
    if (entry === 'waits_own') this.#watch.limited(this.call.route.path, 'wait');
    if (this.#isSessionStream && !this.#left) this.#streams.add(this.session as OpenSession, this);
  }

  displaced(): void {
    this.#left = true;
    this.#stopped = true;
    if (this.#isSessionStream) this.#streams.delete(this.session as OpenSession, this);
    this.#onLeft?.();
    this.#watch.limited(this.call.route.path, 'call');
    this.fail('OVERLOADED', 'queue');
  }

  launch(): void {
    const request = this.#request as UpstreamRequest;
    this.#launched = true;
    // A quiet stream holds what it was asked with for hours otherwise.
    this.#request = undefined;
    this.exchange.upstreamStarted();
    const line = this.#pool.dispatch(request, this);
    if (!this.#left) this.#line ??= line;
  }

  abort(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (!this.#launched) this.#leave();
    else this.#line?.abort(STOPPED, this);
  }

  resume(): void {
    this.#line?.resume(this);
  }

  release(): void {
    this.#answer = undefined;
    // A body that ends by itself leaves its connection usable; destroying it would cost the next call a handshake.
    this.#linger ??= this.parts.clock.timer(LINGER_MS, () => this.abort());
  }

  sessionEnded(): void {
    if (this.session !== undefined) this.#streams.end(this.session);
  }

  /** Its session is over: an open stream ends as one that the upstream ended, and the upstream's half is let go of. */
  endStream(): void {
    if (this.#stopped) return;
    if (this.#spoke) this.#answer?.end();
    else this.fail('SESSION_NOT_FOUND', 'the session has ended');
    this.abort();
  }

  fail(code: ErrorCode, reason: string, detail?: ErrorDetail): void {
    if (BLAMED.has(code)) this.note(code, reason);
    this.exchange.fail(new GatewayError(code, detail));
  }

  note(code: ErrorCode, reason: string): void {
    const fields = { route: this.call.route.path, request_id: this.call.head.id, code, reason };
    this.parts.log.warn(fields, 'the upstream failed');
  }

  onConnected(line: UpstreamHandle): void {
    this.#line = line;
    this.#sent = true;
  }

  onHead(head: ResponseHead): void {
    this.exchange.upstreamResponded();
    this.#spoke = true;
    this.#watch.answered(head.status);
    this.#answer = openAnswer(this, readUpstreamHead(head.status, head.fields, head.framing === 'length' ? head.length : undefined));
    if (this.#answer === undefined) this.release();
  }

  onData(chunk: Buffer): boolean {
    if (this.#answer !== undefined) return this.#answer.data(chunk);
    this.#ignored += chunk.length;
    if (this.#ignored > LINGER_BYTES) this.abort();
    return true;
  }

  onEnd(): void {
    if (!this.#stopped) {
      this.#stopped = true;
      this.#answer?.end();
    }
    this.#leave();
  }

  onError(error: Error): void {
    if (!this.#stopped) {
      this.#stopped = true;
      this.#failed(error);
    }
    this.#leave();
  }

  #failed(error: Error): void {
    if (this.#spoke) return this.#answer?.broken(error);
    this.exchange.upstreamResponded();
    const { code, reason } = faultBeforeHead(error);
    // Who retries must know that the call may have been carried out.
    const told = this.#sent && code === 'UPSTREAM_UNREACHABLE' ? 'UPSTREAM_ENDED' : code;
    this.#watch.failed(told);
    this.fail(told, reason);
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    // The connection may carry another exchange from here on.
    this.#line = undefined;
    this.#linger?.cancel();
    if (this.#isSessionStream) this.#streams.delete(this.session as OpenSession, this);
    this.#onLeft?.();
    this.#queue.leave(this);
  }

  get #isSessionStream(): boolean {
    return this.session !== undefined && this.call.kind === 'get_stream';
  }
}

/** Where a call goes. */
export interface UpstreamCallRoute {
  readonly request: UpstreamRequest;
  readonly task_names: TaskNames | undefined;
  readonly watch: UpstreamCallWatch;
  readonly queue: RequestQueue;
  readonly pool: UpstreamPool;
  readonly streams: SessionStreams;
  /** Called once when the call has given its place back, or had none. */
  readonly left: (() => void) | undefined;
}

/** The open GET streams of one runtime, by the session that they belong to, as its own client knows it. */
export class SessionStreams {
  readonly #open = new Map<string, Set<UpstreamCall>>();

  add({ sealed }: OpenSession, stream: UpstreamCall): void {
    const own = this.#open.get(sealed);
    if (own === undefined) this.#open.set(sealed, new Set([stream]));
    else own.add(stream);
  }

  delete({ sealed }: OpenSession, stream: UpstreamCall): void {
    const own = this.#open.get(sealed);
    if (own?.delete(stream) === true && own.size === 0) this.#open.delete(sealed);
  }

  /** Ends those of one session. */
  end({ sealed }: OpenSession): void {
    for (const stream of [...(this.#open.get(sealed) ?? [])]) stream.endStream();
  }
}

const LINGER_MS = 250;
const LINGER_BYTES = 65_536;
const STOPPED = new Error('stopped');
const BLAMED: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_ENDED', 'UPSTREAM_BROKEN', 'UPSTREAM_REFUSED']);
