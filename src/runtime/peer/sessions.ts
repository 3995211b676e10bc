import { createHash, randomBytes } from 'node:crypto';
import type { Timer } from '../../contract/clock.js';
import type { Call, Exchange, HeaderList } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { PipeEnd, ProcessHandle } from '../../transport/process-handle.js';
import { bindingOf, type SessionSeal } from '../shared/session-seal.js';
import { LegacySession, type SessionParts } from './legacy-session.js';
import { toPeer } from './outgoing.js';
import type { Peer } from './peer.js';
import { startingDetail } from './spawner.js';
import type { Supervisor } from './supervisor.js';

export interface SessionsOptions {
  /** Sessions in all. One more ends the one that was idle longest; when none is idle it is refused. */
  readonly max_sessions: number;
  /** Sessions of one identified caller; the same rule. */
  readonly max_sessions_per_caller: number;
  /** Without a message of the client, an open stream or not. Then the session ends and its id is unknown. */
  readonly idle_ttl_ms: number;
  /** From the start of a child to its answer to `initialize`. */
  readonly start_timeout_ms: number;
}

/** A peer for one session, and the way to end it. */
export interface SessionPeer {
  readonly peer: Peer;
  readonly launched: Pick<ProcessHandle, 'stop'>;
}

export interface SessionsDeps extends SessionParts {
  readonly seal: SessionSeal;
  readonly starter: {
    /** Starts the peer of a new session, that begins with this call. `ended` runs when it ends by itself. An error: none can be started now. */
    start(ended: (end: PipeEnd) => void, call: Call): SessionPeer | GatewayError;
    /** Ends one that did not answer in time. */
    discard(started: SessionPeer, end: PipeEnd): void;
  };
  readonly supervisor: Pick<Supervisor, 'claim'>;
  /** Sessions of another kind that count against `max_sessions`. */
  others(): number;
  /** Ends one of those that is idle, so that another session has its room; false: none is. */
  yields(): boolean;
  /** The id of this call is none of a session here. */
  unknown(call: Call, exchange: Exchange): void;
}

/** The legacy sessions of one runtime: each has its own peer, and an id that is valid for its route and caller only. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #deps: SessionsDeps;
  /** By the id inside the sealed one. */
  readonly #all = new Map<string, LegacySession>();
  /** Those whose server has not answered the handshake, by the same id. */
  readonly #starts = new Map<string, Start>();

  constructor(options: SessionsOptions, deps: SessionsDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  get size(): number {
    return this.#all.size;
  }

  handle(call: Call, exchange: Exchange): void {
    if (call.kind === 'request' && call.method === 'initialize') return this.#begin(call, exchange);
    const id = this.#idOf(call);
    if (id instanceof GatewayError) return id.code === 'SESSION_NOT_FOUND' ? this.#deps.unknown(call, exchange) : exchange.fail(id);
    const session = this.#all.get(id);
    if (session === undefined) return this.#deps.unknown(call, exchange);
    if (call.kind !== 'session_end') return session.handle(call, exchange);
    this.#end(id);
    exchange.accept(200);
  }

  /**
   * Begins a session with the client's own handshake. Its id goes out with a good answer; any other end of it ends the session. A
   * call that ends while the server still starts leaves it to the caller's next try.
   */
  #begin(call: Call, exchange: Exchange): void {
    const { starter, supervisor } = this.#deps;
    exchange.waitsFor(startingDetail(this.#options.start_timeout_ms));
    const key = this.#keyOf(call);
    for (const [id, start] of this.#starts)
      if (start.key === key && start.session.orphaned) return this.#initialize(id, start, call, exchange);
    if (!this.#room(callerOf(call))) return exchange.fail(overloaded());
    const id = randomBytes(16).toString('base64url');
    const ended = (): void => this.#end(id);
    let leave = (): void => undefined;
    exchange.onCancel(() => leave());
    leave = supervisor.claim({
      take: (standby) => {
        this.#open(id, key, standby, call, exchange);
        return ended;
      },
      none: (error) => {
        const started = error ?? starter.start(ended, call);
        if (started instanceof GatewayError) exchange.fail(started);
        else this.#open(id, key, started, call, exchange);
      },
    });
  }

  #open(id: string, key: string, started: SessionPeer, call: Call, exchange: Exchange): void {
    const session = new LegacySession(callerOf(call), started.peer, started.launched, this.#deps);
    this.#all.set(id, session);
    const late = this.#deps.clock.timer(this.#options.start_timeout_ms, () => {
      if (!session.started) this.#deps.starter.discard(started, 'timeout');
      this.#end(id);
    });
    const start: Start = { key, session, late };
    this.#starts.set(id, start);
    this.#initialize(id, start, call, exchange);
  }

  #initialize(id: string, { session }: Start, call: Call, exchange: Exchange): void {
    session.initialize(call, exchange, (how) => {
      if (how === 'left') return this.#leave(id);
      const sealed = how === 'ok' ? this.#deps.seal.seal(id, bindingOf(call)) : undefined;
      if (sealed === undefined) this.#end(id);
      else this.#settled(id);
      return sealed === undefined ? [] : ['mcp-session-id', sealed];
    });
  }

  /** Of each caller one server that starts without a client is kept for the next try; an older one is ended. */
  #leave(id: string): HeaderList {
    const caller = this.#all.get(id)?.caller;
    for (const [other, { session }] of this.#starts) if (other !== id && session.orphaned && session.caller === caller) this.#end(other);
    return [];
  }

  #settled(id: string): void {
    this.#starts.get(id)?.late.cancel();
    this.#starts.delete(id);
  }

  /** Equal for calls that may have each other's server: one caller, and the same handshake. */
  #keyOf(call: Call): string {
    const hash = createHash('sha256').update(`${callerOf(call)}\n`);
    return hash.update(toPeer(call.body, { id: 0, identity: this.#deps.identityOf(call) })).digest('base64url');
  }

  tick(now_ms: number): void {
    for (const [id, session] of this.#all) {
      session.tick(now_ms);
      if (session.idle && now_ms - session.used_ms >= this.#options.idle_ttl_ms) this.#end(id);
    }
  }

  /** Ends them all; their peers end in their own time. */
  close(grace_ms: number): void {
    for (const [id, session] of this.#all) {
      this.#settled(id);
      session.end(grace_ms);
    }
    this.#all.clear();
  }

  #end(id: string): void {
    const session = this.#all.get(id);
    this.#settled(id);
    this.#all.delete(id);
    session?.end(STOP_MS);
  }

  #idOf(call: Call): string | GatewayError {
    const given = call.head.headers.all('mcp-session-id');
    if (given.length > 1) return new GatewayError('SESSION_REQUIRED', { detail: 'It was sent more than once.' });
    const [sealed] = given;
    if (sealed === undefined) return new GatewayError('SESSION_REQUIRED');
    return this.#deps.seal.open(sealed, bindingOf(call)) ?? new GatewayError('SESSION_NOT_FOUND');
  }

  #room(caller: string): boolean {
    const { max_sessions, max_sessions_per_caller } = this.#options;
    if (caller !== '' && this.#count(caller) >= max_sessions_per_caller && !this.#evict(caller)) return false;
    // Nobody notices the end of an idle one of the gateway's own, while a client notices its session's.
    return this.#all.size + this.#deps.others() < max_sessions || this.#deps.yields() || this.#evict(undefined);
  }

  #count(caller: string): number {
    let count = 0;
    for (const session of this.#all.values()) if (session.caller === caller) count += 1;
    return count;
  }

  /** Ends the session that was idle longest; of one caller if there is one. False: none is idle. */
  #evict(caller: string | undefined): boolean {
    let oldest: string | undefined;
    let used_ms = Number.POSITIVE_INFINITY;
    for (const [id, session] of this.#all) {
      if (!session.idle || session.used_ms >= used_ms || (caller !== undefined && session.caller !== caller)) continue;
      oldest = id;
      used_ms = session.used_ms;
    }
    if (oldest === undefined) return false;
    this.#end(oldest);
    return true;
  }
}

interface Start {
  readonly key: string;
  readonly session: LegacySession;
  /** Ends the session when the server has not answered by then. */
  readonly late: Timer;
}

/** How long the child of an ended session has to end by itself. */
const STOP_MS = 3000;

function callerOf({ identity }: Call): string {
  return identity === undefined ? '' : JSON.stringify([identity.issuer, identity.principal, identity.client ?? '']);
}

function overloaded(): GatewayError {
  return new GatewayError('OVERLOADED');
}
