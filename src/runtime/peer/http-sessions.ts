import { callerKey } from '../../contract/caller.js';
import type { Clock, Timer } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { Envelope } from '../../wire/scan.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { ask } from './ask.js';
import { Bridge, type BridgeParts } from './bridge.js';
import { initializeParams, readHandshake } from './handshake.js';
import { type Askable, askableOf, HeldCall } from './held-call.js';
import type { HeldCalls } from './held-calls.js';
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
  /** The calls that wait for their client's answer to a question of the server. */
  readonly held: HeldCalls<HeldCall>;
  /** A request of the server to its client was refused. */
  questionRefused(method: string): void;
  ended(reason: SessionEnd): void;
  /** The server answered `initialize` as one that serves no legacy revision. */
  sessionRefused(): void;
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
  #counted = 0;
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
    const askable = askableOf(call);
    if (askable?.state !== undefined) return this.#resume(call, exchange, askable.state);
    const asked = askable?.text === undefined ? undefined : askable;
    // Two callers whom nobody knows must not meet in one session: the question of one could reach the other.
    const alone = asked !== undefined && call.identity === undefined;
    const key = alone ? `${++this.#counted}` : keyOf(call, asked?.text, this.#deps.identityOf(call));
    const session = this.#all.get(key) ?? this.#open(key, call, asked, alone);
    if (session === undefined) return exchange.fail(new GatewayError('OVERLOADED'));
    this.#all.delete(key);
    this.#all.set(key, session);
    session.handle(call, exchange, asked);
  }

  close(): void {
    this.#sweep.cancel();
    this.#deps.held.close();
    for (const [key] of this.#all) this.#end(key, 'drain');
    for (const session of this.#leaving) session.end('DRAINING');
    this.#leaving.clear();
  }

  #resume(call: Call, exchange: Exchange, state: unknown): void {
    const held = this.#deps.held.find(call, state);
    const problem = held instanceof GatewayError ? held : held.resume(call, exchange);
    if (problem !== undefined) exchange.fail(problem);
  }

  #open(key: string, call: Call, asked: Askable | undefined, alone: boolean): HttpSession | undefined {
    if (this.#all.size >= this.#options.max_sessions) {
      const longest = [...this.#all].find(([, session]) => session.idle);
      if (longest === undefined) return undefined;
      this.#end(longest[0], 'evicted');
    }
    const session: HttpSession = new HttpSession(call, asked?.text, this.#options, {
      ...this.#deps,
      free: () => {
        if (alone && this.#all.get(key) === session) this.#end(key, 'idle');
      },
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
  /** No call that can be asked is left. */
  free(): void;
  again(call: Call, exchange: Exchange): boolean;
}

/** One session of one caller; calls wait until it is open. */
class HttpSession {
  readonly #pipe: HttpPipe;
  readonly #peer: Peer;
  readonly #headers = new ToolHeaders();
  readonly #deps: HttpSessionDeps;
  readonly #calls = new Set<HeldCall>();
  readonly #waiting = new Set<(error: GatewayError | undefined) => void>();
  #bridge: Bridge | undefined;
  #used_ms: number;

  constructor(call: Call, asked: string | undefined, options: HttpSessionsOptions, deps: HttpSessionDeps) {
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
    ask(this.#peer, clock, 'initialize', initializeParams(options.version, asked), options.start_timeout_ms, (reply) => {
      if (reply.kind === 'timeout') return this.#fail(new GatewayError('DEADLINE'));
      if (reply.kind === 'lost' && reply.code !== 'UPSTREAM_ANSWER') return this.#fail(new GatewayError(reply.code));
      const handshake = reply.kind === 'answered' && reply.response.outcome !== 'rpc_error' ? readHandshake(reply.line) : undefined;
      if (handshake === undefined) return this.#fail(new GatewayError('ERA_UNAVAILABLE'));
      this.#peer.notify('notifications/initialized');
      if (asked !== undefined) this.#pipe.listen();
      const relist = (): void => this.#headers.ask(this.#peer, clock, '{}');
      this.#bridge = new Bridge(this.#peer, handshake, this.#parts(asked !== undefined), relist);
      relist();
      for (const told of this.#take()) told(undefined);
    });
  }

  get idle(): boolean {
    return this.#peer.pending === 0 && this.#waiting.size === 0 && this.#calls.size === 0;
  }

  /** Milliseconds since it was last in use. */
  touch(now_ms: number): number {
    if (!this.idle) this.#used_ms = now_ms;
    return now_ms - this.#used_ms;
  }

  handle(call: Call, exchange: Exchange, asked: Askable | undefined): void {
    this.#used_ms = this.#deps.clock.mono_ms();
    if (this.#bridge !== undefined) return this.#run(this.#bridge, call, exchange, asked);
    const told = (error: GatewayError | undefined): void => {
      if (error !== undefined) exchange.fail(error);
      else if (!exchange.ended) this.#run(this.#bridge as Bridge, call, exchange, asked);
    };
    this.#waiting.add(told);
    exchange.onCancel(() => this.#waiting.delete(told));
  }

  end(code: 'DRAINING' | 'UPSTREAM_ENDED'): void {
    this.#peer.close(code);
    for (const told of this.#take()) told(new GatewayError(code));
  }

  #run(bridge: Bridge, call: Call, exchange: Exchange, asked: Askable | undefined): void {
    const mismatch = this.#headers.mismatch(call);
    if (mismatch !== undefined) return exchange.fail(new GatewayError('HEADER_MISMATCH', { detail: mismatch }));
    if (call.method === 'subscriptions/listen') this.#pipe.listen();
    if (asked === undefined) return bridge.handle(call, exchange);
    const { clock, held, again } = this.#deps;
    const own: HeldCall = new HeldCall(this.#peer, call, exchange, asked.capabilities, {
      clock,
      held,
      options: bridge.optionsOf(call),
      again: () => again(call, exchange),
      over: () => {
        this.#calls.delete(own);
        if (this.#calls.size === 0) this.#deps.free();
      },
    });
    this.#calls.add(own);
    own.start();
  }

  /** A question belongs to the call in whose exchange it came; one on the GET stream to the only call that runs. It is never guessed. */
  #asked(line: Uint8Array, envelope: Envelope, about: number | undefined): void {
    const running = [...this.#calls].filter((call) => (about === undefined ? call.runs : call.peer_id === about));
    if (running.length === 1) running[0]?.ask(line, envelope);
    else this.#peer.refuse(envelope, 'No call of this session can be asked this.', -32603);
  }

  #fail(error: GatewayError): void {
    const waiting = this.#take();
    this.#deps.failed();
    if (error.code === 'ERA_UNAVAILABLE') this.#deps.sessionRefused();
    for (const told of waiting) told(error);
  }

  #take(): readonly ((error: GatewayError | undefined) => void)[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  #parts(askable: boolean): BridgeParts {
    const { clock, tools, fieldsOf, again } = this.#deps;
    const learnt: ToolsLearner = {
      learn: (route, message) => {
        tools.learn(route, message);
        this.#headers.learn(message);
      },
    };
    const parts = { clock, tools: learnt, identityOf: () => undefined, fieldsOf, again };
    if (!askable) return parts;
    return {
      ...parts,
      asked: (line, envelope, about) => this.#asked(line, envelope, about),
      withdrawn: (id) => {
        for (const call of this.#calls) call.withdrawn(id);
      },
    };
  }
}

/** Equal for calls that may share a session: one caller on one route, of whom the server is told the same and who can be asked the same. */
function keyOf({ identity, route, head }: Call, asked: string | undefined, told: readonly string[]): string {
  const caller =
    identity === undefined ? [callerKey(undefined, head.peer.client_address)] : [identity.issuer, identity.principal, identity.client];
  return JSON.stringify([route.path, asked ?? '', told, ...caller]);
}

function ignore(): void {}

const SWEEP_MS = 1_000;
