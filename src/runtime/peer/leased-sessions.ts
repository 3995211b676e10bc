import { callerKey } from '../../contract/caller.js';
import type { Timer } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import { type Askable, askableOf } from './askable.js';
import { type Lease, LeasedSession, type LeasedSessionDeps, type LeasedSessionOptions } from './leased-session.js';

export interface LeasedSessionsOptions extends LeasedSessionOptions {
  /** Sessions in all. One more ends the one that was idle longest; when none is idle the call is 503 `OVERLOADED`. */
  readonly max_sessions: number;
  /** Sessions of one caller whom a gate identified; the same rule. */
  readonly max_sessions_per_caller: number;
  /** Without a call. Then the server is told that the session is over. */
  readonly session_idle_ms: number;
}

export interface LeasedSessionsDeps
  extends Pick<LeasedSessionDeps, 'clock' | 'tools' | 'headers' | 'held' | 'identityOf' | 'fieldsOf' | 'refused'> {
  /**
   * The server tells in whose exchange a question comes, so that calls share a session. Else a call that can be asked has its session alone while it
   * runs.
   */
  readonly attributes: boolean;
  /** Opens a way to the server; `ended` runs when it ends by itself. An error: none can be opened. */
  open(call: Call, ended: () => void): Lease | GatewayError;
  /** What the server is told of the caller beside the calls: sessions are shared by calls of whom it is told the same. */
  toldOf(call: Call): readonly string[];
  /** Sessions of another kind that count against `max_sessions`. */
  others?(): number;
  ended(reason: SessionEnd): void;
}

/** Why a session toward a server ended. A closed set: it is a metric label. */
export type SessionEnd = 'idle' | 'evicted' | 'lost' | 'drain' | 'failed' | 'flip';

/**
 * Modern clients on a legacy server: the gateway holds one session for each caller of each route and for what its clients can be asked, opens it with its own `initialize`,
 * and ends it when it is idle. A server that has lost a session gets a new one, and the call that noticed is sent again, once: it was not begun.
 */
export class LeasedSessions {
  readonly #options: LeasedSessionsOptions;
  readonly #deps: LeasedSessionsDeps;
  /** Oldest use first. */
  readonly #all = new Set<LeasedSession>();
  /** Out of use; their last calls still run. */
  readonly #leaving = new Set<LeasedSession>();
  readonly #repeated = new WeakSet<Exchange>();
  /** Sessions that were opened for one call each. */
  #counted = 0;
  /** Runs while there are sessions. */
  #sweep: Timer | undefined;

  constructor(options: LeasedSessionsOptions, deps: LeasedSessionsDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  get size(): number {
    return this.#all.size;
  }

  handle(call: Call, exchange: Exchange, askable: Askable = this.askableOf(call)): void {
    // Closing its stream is how a modern client cancels; an id that it names here could be anybody's.
    if (call.kind === 'notification') return exchange.accept();
    if (call.kind !== 'request') return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: 'POST' } }));
    if (askable.state !== undefined && !this.#deps.held.isAsked(call, askable.state)) return this.#resume(call, exchange, askable.state);
    const asked = askable.asks && askable.text !== undefined ? askable : undefined;
    // Two callers whom nobody knows must not meet in one session: the question of one could reach the other.
    const once = asked !== undefined && call.identity === undefined;
    const key = once ? `${++this.#counted}` : keyOf(call, askable.text, this.#deps.toldOf(call));
    const alone = asked !== undefined && !this.#deps.attributes;
    const session = this.#find(key, alone) ?? this.#open(key, call, askable.text, once);
    if (session instanceof GatewayError) return exchange.fail(session);
    this.#all.delete(session);
    this.#all.add(session);
    session.handle(call, exchange, asked);
  }

  /** What a call says of its client that matters here; `text` is undefined too when no call may be held. */
  askableOf(call: Call): Askable {
    const askable = askableOf(call);
    return this.#deps.held.options.max_held > 0 ? askable : { ...askable, text: undefined };
  }

  /** Continues a held call whose state this is, also when calls go another way by now; false: it is none of ours. */
  resumes(call: Call, exchange: Exchange): boolean {
    const { state } = askableOf(call);
    if (state === undefined || !this.#deps.held.knows(call, state)) return false;
    this.#resume(call, exchange, state);
    return true;
  }

  /** The server speaks another era by now: calls that run or are held finish, nothing new begins. */
  leave(): void {
    for (const session of this.#all) {
      this.#leaving.add(session);
      this.#deps.ended('flip');
    }
    this.#all.clear();
    this.#tick();
  }

  close(): void {
    this.#sweep?.cancel();
    this.#deps.held.close();
    for (const session of this.#all) this.#end(session, 'drain');
    for (const session of this.#leaving) session.end('DRAINING');
    this.#leaving.clear();
  }

  #resume(call: Call, exchange: Exchange, state: unknown): void {
    const held = this.#deps.held.find(call, state);
    const problem = held instanceof GatewayError ? held : held.resume(call, exchange);
    if (problem !== undefined) exchange.fail(problem);
  }

  #find(key: string, alone: boolean): LeasedSession | undefined {
    for (const session of this.#all) if (session.key === key && (!alone || session.free)) return session;
    return undefined;
  }

  /** `once`: it ends with the call that it is opened for. */
  #open(key: string, call: Call, asked: string | undefined, once: boolean): LeasedSession | GatewayError {
    const { identity } = call;
    const caller = identity === undefined ? undefined : callerKey(identity, '');
    if (!this.#room(caller)) return new GatewayError('OVERLOADED');
    const lease = this.#deps.open(call, () => this.#end(session, 'lost'));
    if (lease instanceof GatewayError) return lease;
    const session: LeasedSession = new LeasedSession(call.route.path, key, caller, asked, lease, this.#options, {
      ...this.#deps,
      over: () => {
        if (once && session.free) this.#end(session, 'idle');
      },
      failed: () => this.#end(session, 'failed'),
      again: (own, exchange) => this.#again(session, own, exchange),
    });
    this.#all.add(session);
    this.#sweep ??= this.#deps.clock.interval(SWEEP_MS, () => this.#tick());
    return session;
  }

  /** Makes room for one more if it has to. */
  #room(caller: string | undefined): boolean {
    const { max_sessions, max_sessions_per_caller } = this.#options;
    const own = caller === undefined ? [] : [...this.#all].filter((session) => session.caller === caller);
    if (own.length >= max_sessions_per_caller) return this.#evict(own);
    if (this.#all.size + (this.#deps.others?.() ?? 0) < max_sessions) return true;
    return this.#evict(this.#all);
  }

  #evict(of: Iterable<LeasedSession>): boolean {
    for (const session of of) {
      if (!session.idle) continue;
      this.#end(session, 'evicted');
      return true;
    }
    return false;
  }

  /** The server has lost the session. */
  #again(session: LeasedSession, call: Call, exchange: Exchange): boolean {
    if (this.#all.delete(session)) {
      this.#leaving.add(session);
      this.#deps.ended('lost');
    }
    if (this.#repeated.has(exchange) || exchange.ended) return false;
    this.#repeated.add(exchange);
    this.handle(call, exchange);
    return true;
  }

  #end(session: LeasedSession, reason: SessionEnd): void {
    if (this.#leaving.delete(session)) return session.end('UPSTREAM_ENDED');
    if (!this.#all.delete(session)) return;
    session.end(reason === 'drain' ? 'DRAINING' : 'UPSTREAM_ENDED');
    this.#deps.ended(reason);
  }

  #tick(): void {
    const now_ms = this.#deps.clock.mono_ms();
    for (const session of this.#leaving) if (session.idle) this.#end(session, 'idle');
    for (const session of this.#all) if (session.touch(now_ms) >= this.#options.session_idle_ms) this.#end(session, 'idle');
    if (this.#all.size + this.#leaving.size > 0) return;
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }
}

/** Equal for calls that may share a session: one caller on one route, of whom the server is told the same and who can be asked the same. */
function keyOf({ identity, route, head }: Call, asked: string | undefined, told: readonly string[]): string {
  const caller =
    identity === undefined ? [callerKey(undefined, head.peer.client_address)] : [identity.issuer, identity.principal, identity.client];
  return JSON.stringify([route.path, asked ?? '', told, ...caller]);
}

const SWEEP_MS = 1_000;
