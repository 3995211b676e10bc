import { randomBytes } from 'node:crypto';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import { bindingOf } from '../open-answer.js';
import type { SessionSeal } from '../session-seal.js';
import type { Supervisor } from '../supervisor.js';
import { LegacySession, type SessionParts } from './legacy-session.js';
import type { Starter } from './starter.js';

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

export interface SessionsDeps extends SessionParts {
  readonly seal: SessionSeal;
  readonly starter: Starter;
  readonly supervisor: Supervisor;
}

/** The legacy sessions of one runtime: each has a peer of its own, and an id that is good for its route and caller only. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #deps: SessionsDeps;
  /** By the id inside the sealed one. */
  readonly #all = new Map<string, LegacySession>();

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
    if (id instanceof GatewayError) return exchange.fail(id);
    const session = this.#all.get(id);
    if (session === undefined) return exchange.fail(new GatewayError('SESSION_NOT_FOUND'));
    if (call.kind !== 'session_end') return session.handle(call, exchange);
    this.#end(id);
    exchange.accept(200);
  }

  /** Begins a session with the client's own handshake. Its id goes out with a good answer; any other end of it ends the session. */
  #begin(call: Call, exchange: Exchange): void {
    const { starter, supervisor, seal, clock } = this.#deps;
    const caller = callerOf(call);
    if (!this.#room(caller)) return exchange.fail(overloaded());
    const id = randomBytes(16).toString('base64url');
    const ended = (): void => this.#end(id);
    const started = supervisor.takeSpare(ended) ?? starter.start(ended);
    if (started instanceof GatewayError) return exchange.fail(started);
    const session = new LegacySession(caller, started.peer, started.launched, this.#deps);
    this.#all.set(id, session);
    const late = clock.timer(this.#options.start_timeout_ms, () => {
      starter.discard(started, 'timeout');
      this.#end(id);
    });
    session.initialize(call, exchange, (answered) => {
      late.cancel();
      const sealed = answered === 'ok' ? seal.seal(id, bindingOf(call)) : undefined;
      if (sealed !== undefined) return ['mcp-session-id', sealed];
      this.#end(id);
      return [];
    });
  }

  tick(now_ms: number): void {
    for (const [id, session] of this.#all) {
      session.tick(now_ms);
      if (session.idle && now_ms - session.used_ms >= this.#options.idle_ttl_ms) this.#end(id);
    }
  }

  /** Ends them all; their peers end in their own time. */
  close(grace_ms: number): void {
    for (const session of this.#all.values()) session.end(grace_ms);
    this.#all.clear();
  }

  #end(id: string): void {
    const session = this.#all.get(id);
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
    return this.#all.size < max_sessions || this.#evict(undefined);
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

/** How long the child of an ended session has to end by itself. */
const STOP_MS = 3000;

function callerOf({ identity }: Call): string {
  return identity === undefined ? '' : JSON.stringify([identity.issuer, identity.principal, identity.client ?? '']);
}

function overloaded(): GatewayError {
  return new GatewayError('OVERLOADED');
}
