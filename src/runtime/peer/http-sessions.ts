import { callerKey } from '../../contract/caller.js';
import type { Clock, Timer } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { ask } from './ask.js';
import { Bridge, type BridgeParts } from './bridge.js';
import { initializeParams, readHandshake } from './handshake.js';
import { HttpPipe } from './http-pipe.js';
import type { HttpSender } from './http-post.js';
import { Peer } from './peer.js';
import { ToolHeaders } from './tool-headers.js';

export interface HttpSessionsOptions {
  /** Sessions in all. One more ends the one that was idle longest; when none is idle the call is 503 `OVERLOADED`. */
  readonly max_sessions: number;
  /** Without a call. Then the server is told that the session is over. */
  readonly session_idle_ms: number;
  /** From the call that needs a session to the server's answer to `initialize`. */
  readonly start_timeout_ms: number;
  /** Requests in one session that wait for an answer. */
  readonly max_pending: number;
  readonly max_message_bytes: number;
  /** What the gateway tells servers of itself. */
  readonly version: string;
}

export interface HttpSessionsDeps {
  readonly clock: Clock;
  readonly tools: ToolsLearner;
  /** The way to the server in the turn of this caller. */
  senderOf(caller: string): HttpSender;
  /** Header fields that tell the server who calls. */
  identityOf(call: Call): readonly string[];
  /** Header fields that go with one call. */
  fieldsOf(call: Call): readonly string[];
  /** A request of the server to its client was refused. */
  questionRefused(method: string): void;
  ended(reason: SessionEnd): void;
}

/** Why a session toward a server ended. A closed set: it is a metric label. */
export type SessionEnd = 'idle' | 'evicted' | 'lost' | 'drain' | 'failed';

/**
 * Modern clients on a legacy server over Streamable HTTP: the gateway holds one session for each caller of each route, opens it with its own
 * `initialize`, and ends it when it is idle. A server that has lost a session gets a new one, and the call that noticed is sent again, once: it was not begun.
 */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #deps: HttpSessionsDeps;
  /** Oldest use first. */
  readonly #all = new Map<string, HttpSession>();
  /** Lost ones whose last calls still run. */
  readonly #leaving = new Set<HttpSession>();
  readonly #repeated = new WeakSet<Exchange>();
  readonly #sweep: Timer;

  constructor(options: HttpSessionsOptions, deps: HttpSessionsDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#sweep = deps.clock.interval(SWEEP_MS, () => this.#tick());
  }

  get size(): number {
    return this.#all.size;
  }

  handle(call: Call, exchange: Exchange): void {
    // Closing its stream is how a modern client cancels; an id that it names here could be anybody's.
    if (call.kind === 'notification') return exchange.accept();
    if (call.kind !== 'request') return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: 'POST' } }));
    const key = keyOf(call);
    const session = this.#all.get(key) ?? this.#open(key, call);
    if (session === undefined) return exchange.fail(new GatewayError('OVERLOADED'));
    this.#all.delete(key);
    this.#all.set(key, session);
    session.handle(call, exchange);
  }

  /** Ends them all. */
  close(): void {
    this.#sweep.cancel();
    for (const [key] of this.#all) this.#end(key, 'drain');
    for (const session of this.#leaving) session.end('DRAINING');
    this.#leaving.clear();
  }

  #open(key: string, call: Call): HttpSession | undefined {
    if (this.#all.size >= this.#options.max_sessions) {
      for (const [other, session] of this.#all) {
        if (!session.idle) continue;
        this.#end(other, 'evicted');
        break;
      }
      if (this.#all.size >= this.#options.max_sessions) return undefined;
    }
    const session: HttpSession = new HttpSession(call, this.#options, {
      ...this.#deps,
      failed: () => {
        if (this.#all.get(key) === session) this.#end(key, 'failed');
      },
      again: (own, exchange) => this.#again(key, session, own, exchange),
    });
    this.#all.set(key, session);
    return session;
  }

  /** The server has lost the session. */
  #again(key: string, session: HttpSession, call: Call, exchange: Exchange): boolean {
    if (this.#all.get(key) === session) {
      this.#all.delete(key);
      this.#leaving.add(session);
      this.#deps.ended('lost');
    }
    if (this.#repeated.has(exchange) || exchange.ended) return false;
    this.#repeated.add(exchange);
    this.handle(call, exchange);
    return true;
  }

  #end(key: string, reason: SessionEnd): void {
    const session = this.#all.get(key);
    this.#all.delete(key);
    session?.end(reason === 'drain' ? 'DRAINING' : 'UPSTREAM_ENDED');
    this.#deps.ended(reason);
  }

  #tick(): void {
    const now_ms = this.#deps.clock.mono_ms();
    for (const session of this.#leaving) {
      if (!session.idle) continue;
      this.#leaving.delete(session);
      session.end('UPSTREAM_ENDED');
    }
    for (const [key, session] of this.#all) {
      if (session.touch(now_ms) >= this.#options.session_idle_ms) this.#end(key, 'idle');
    }
  }
}

interface HttpSessionDeps extends HttpSessionsDeps {
  /** The server gave no session: whoever waited was told. */
  failed(): void;
  again(call: Call, exchange: Exchange): boolean;
}

/** One session of one caller; calls wait until it is open. */
class HttpSession {
  readonly #pipe: HttpPipe;
  readonly #peer: Peer;
  readonly #headers = new ToolHeaders();
  readonly #deps: HttpSessionDeps;
  readonly #waiting = new Set<(error: GatewayError | undefined) => void>();
  #bridge: Bridge | undefined;
  #used_ms: number;

  constructor(call: Call, options: HttpSessionsOptions, deps: HttpSessionDeps) {
    const { clock } = deps;
    this.#deps = deps;
    this.#used_ms = clock.mono_ms();
    this.#pipe = new HttpPipe({
      sender: deps.senderOf(callerKey(call.identity, call.head.peer.client_address)),
      clock,
      max_message_bytes: options.max_message_bytes,
      fields: deps.identityOf(call),
    });
    this.#peer = new Peer(this.#pipe, { max_pending: options.max_pending, junk: ignore, refused: deps.questionRefused, ended: ignore });
    ask(this.#peer, clock, 'initialize', initializeParams(options.version), options.start_timeout_ms, (reply) => {
      if (reply.kind !== 'answered') return this.#fail(new GatewayError(reply.kind === 'timeout' ? 'DEADLINE' : reply.code));
      const handshake = reply.response.outcome === 'rpc_error' ? undefined : readHandshake(reply.line);
      if (handshake === undefined) return this.#fail(new GatewayError('ERA_UNAVAILABLE'));
      this.#peer.notify('notifications/initialized');
      const relist = (): void => this.#headers.ask(this.#peer, clock, undefined);
      this.#bridge = new Bridge(this.#peer, handshake, this.#parts(), relist);
      relist();
      for (const told of this.#take()) told(undefined);
    });
  }

  get idle(): boolean {
    return this.#peer.pending === 0 && this.#waiting.size === 0;
  }

  /** Milliseconds since it was last in use. */
  touch(now_ms: number): number {
    if (!this.idle) this.#used_ms = now_ms;
    return now_ms - this.#used_ms;
  }

  handle(call: Call, exchange: Exchange): void {
    this.#used_ms = this.#deps.clock.mono_ms();
    if (this.#bridge !== undefined) return this.#run(this.#bridge, call, exchange);
    const told = (error: GatewayError | undefined): void => {
      if (error !== undefined) exchange.fail(error);
      else if (!exchange.ended) this.#run(this.#bridge as Bridge, call, exchange);
    };
    this.#waiting.add(told);
    exchange.onCancel(() => this.#waiting.delete(told));
  }

  end(code: 'DRAINING' | 'UPSTREAM_ENDED'): void {
    this.#peer.close(code);
    for (const told of this.#take()) told(new GatewayError(code));
  }

  #run(bridge: Bridge, call: Call, exchange: Exchange): void {
    const mismatch = call.method === 'tools/call' ? this.#headers.mismatch(call) : undefined;
    if (mismatch !== undefined) return exchange.fail(new GatewayError('HEADER_MISMATCH', { detail: mismatch }));
    if (call.method === 'subscriptions/listen') this.#pipe.listen();
    bridge.handle(call, exchange);
  }

  #fail(error: GatewayError): void {
    const waiting = this.#take();
    this.#deps.failed();
    for (const told of waiting) told(error);
  }

  #take(): readonly ((error: GatewayError | undefined) => void)[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  #parts(): BridgeParts {
    const { clock, tools, fieldsOf, again } = this.#deps;
    const learnt: ToolsLearner = {
      learn: (route, message) => {
        tools.learn(route, message);
        this.#headers.learn(message);
      },
    };
    return { clock, tools: learnt, identityOf: () => undefined, fieldsOf, again };
  }
}

/** Equal for calls that may share a session: one caller on one route. */
function keyOf({ identity, route, head }: Call): string {
  const caller =
    identity === undefined ? [callerKey(undefined, head.peer.client_address)] : [identity.issuer, identity.principal, identity.client];
  return JSON.stringify([route.path, ...caller]);
}

function ignore(): void {}

const SWEEP_MS = 1_000;
