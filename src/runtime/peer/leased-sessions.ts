import { callerKey } from '../../contract/caller.js';
import type { Timer } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import { type Askable, askableOf } from './askable.js';
import { type Lease, LeasedSession, type LeasedSessionDeps, type LeasedSessionOptions } from './leased-session.js';

export interface LeasedSessionsOptions extends LeasedSessionOptions {
  /** Sessions in all. One more ends the one that was idle longest; when none is idle the call is 503 `OVERLOADED`. */
  readonly max_sessions: number;
  /** Sessions of one caller whom a gate identified; the same rule, but that a call waits for one of them: 64 at most, in order, up to its deadline. */
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
  /** Calls that wait for a session of their caller, by caller; no line is empty. */
  readonly #lines = new Map<string, Set<Want>>();
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
    const caller = call.identity === undefined ? undefined : callerKey(call.identity, '');
    const want: Want = { call, exchange, asked, text: askable.text, key, caller, alone, once };
    // Whoever came before has the next session that becomes free.
    const line = caller === undefined ? undefined : this.#lines.get(caller);
    if ((line === undefined || !alone) && this.#place(want)) return;
    if (caller === undefined || (line?.size ?? 0) >= MAX_WAITING) return exchange.fail(new GatewayError('OVERLOADED'));
    this.#wait(caller, line ?? new Set(), want);
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
    const waiting = [...this.#lines.values()].flatMap((line) => [...line]);
    this.#lines.clear();
    for (const { exchange } of waiting) exchange.fail(new GatewayError('DRAINING'));
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

  /** Puts a call into a session, or tells it that there can be none; false: its caller has as many as may be, and each is in use. */
  #place(want: Want): boolean {
    const { call, exchange, asked } = want;
    const session = this.#find(want) ?? this.#open(want);
    if (session === undefined) return false;
    if (this.#leaves(want)) exchange.waitsFor(undefined);
    if (session instanceof GatewayError) exchange.fail(session);
    else {
      this.#all.delete(session);
      this.#all.add(session);
      session.handle(call, exchange, asked);
    }
    return true;
  }

  #wait(caller: string, line: Set<Want>, want: Want): void {
    this.#lines.set(caller, line.add(want));
    want.exchange.waitsFor('It waited for other calls of its caller: max_sessions_per_caller sessions are in use.');
    want.exchange.onCancel(() => void this.#leaves(want));
  }

  /** True if it was waiting. */
  #leaves(want: Want): boolean {
    const { caller = '' } = want;
    const line = this.#lines.get(caller);
    if (line?.delete(want) !== true) return false;
    if (line.size === 0) this.#lines.delete(caller);
    return true;
  }

  /** Something of this caller has ended. */
  #serve(caller: string | undefined): void {
    for (const want of this.#lines.get(caller ?? '') ?? []) if (!this.#place(want)) return;
  }

  #find({ key, alone }: Want): LeasedSession | undefined {
    for (const session of this.#all) if (session.key === key && (!alone || session.free)) return session;
    return undefined;
  }

  /** Undefined: not for this caller, now. */
  #open({ call, key, caller, text, once }: Want): LeasedSession | GatewayError | undefined {
    const own = caller === undefined ? [] : [...this.#all].filter((session) => session.caller === caller);
    const { max_sessions, max_sessions_per_caller } = this.#options;
    if (own.length >= max_sessions_per_caller && !this.#evict(own)) return undefined;
    if (this.#all.size + (this.#deps.others?.() ?? 0) >= max_sessions && !this.yields()) return new GatewayError('OVERLOADED');
    const lease = this.#deps.open(call, () => this.#end(session, 'lost'));
    if (lease instanceof GatewayError) return lease;
    const session: LeasedSession = new LeasedSession(call.route.path, key, caller, text, lease, this.#options, {
      ...this.#deps,
      over: () => {
        if (once && session.free) this.#end(session, 'idle');
        else this.#serve(caller);
      },
      failed: () => this.#end(session, 'failed'),
      again: (own, exchange) => this.#again(session, own, exchange),
    });
    this.#all.add(session);
    this.#sweep ??= this.#deps.clock.interval(SWEEP_MS, () => this.#tick());
    return session;
  }

  /** Ends the session that was idle longest, since somebody else needs its room; false: none is idle. */
  yields(): boolean {
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
    if (reason !== 'evicted') this.#serve(session.caller);
  }

  #tick(): void {
    const now_ms = this.#deps.clock.mono_ms();
    for (const session of this.#leaving) if (session.idle) this.#end(session, 'idle');
    for (const session of this.#all) if (session.touch(now_ms) >= this.#options.session_idle_ms) this.#end(session, 'idle');
    for (const caller of this.#lines.keys()) this.#serve(caller);
    if (this.#all.size + this.#leaving.size > 0) return;
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }
}

/** A call that needs a session. */
interface Want {
  readonly call: Call;
  readonly exchange: Exchange;
  /** What its client can be asked in the middle of it. */
  readonly asked: Askable | undefined;
  /** As in `Askable`. */
  readonly text: string | undefined;
  readonly key: string;
  /** Whom a gate identified. */
  readonly caller: string | undefined;
  /** It shares the session with no other call. */
  readonly alone: boolean;
  /** The session ends with it. */
  readonly once: boolean;
}

/** Equal for calls that may share a session: one caller on one route, of whom the server is told the same and who can be asked the same. */
function keyOf({ identity, route, head }: Call, asked: string | undefined, told: readonly string[]): string {
  const caller =
    identity === undefined ? [callerKey(undefined, head.peer.client_address)] : [identity.issuer, identity.principal, identity.client];
  return JSON.stringify([route.path, asked ?? '', told, ...caller]);
}

const SWEEP_MS = 1_000;
const MAX_WAITING = 64;
