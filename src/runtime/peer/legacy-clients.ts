import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import { BridgedSessions, type BridgedSessionsDeps, type BridgedSessionsOptions } from '../bridged/bridged-sessions.js';
import { FirstInitialize } from '../bridged/first-initialize.js';
import type { Peer } from './peer.js';
import { Sessions, type SessionsDeps, type SessionsOptions } from './sessions.js';
import { startingDetail } from './spawner.js';
import type { Shared, Supervisor } from './supervisor.js';

export interface LegacyClientsDeps extends Omit<SessionsDeps, 'unknown'>, Pick<BridgedSessionsDeps, 'headers' | 'questioned'> {
  readonly supervisor: Supervisor;
}

/**
 * Legacy clients: each has a server of its own, which speaks to it as it is. Where the server serves the modern revision alone, which the first `initialize` shows, they share the modern
 * clients' server, by modern calls.
 */
export class LegacyClients {
  readonly #start_timeout_ms: number;
  readonly #supervisor: Supervisor;
  readonly #sessions: Sessions;
  readonly #bridged: BridgedSessions;
  /** Undefined: nobody has asked a modern server. */
  #serves: boolean | undefined;
  #shared: Peer | undefined;

  constructor(options: SessionsOptions & BridgedSessionsOptions, deps: LegacyClientsDeps) {
    this.#start_timeout_ms = options.start_timeout_ms;
    this.#supervisor = deps.supervisor;
    this.#sessions = new Sessions(options, { ...deps, unknown: (call, exchange) => this.#unknown(call, exchange) });
    this.#bridged = new BridgedSessions(options, {
      ...deps,
      fieldsOf: () => [],
      doubted: () => undefined,
      open: () => {
        const peer = this.#shared as Peer;
        return {
          peer,
          close: () => undefined,
          cancel: (id) => {
            peer.forget(id);
            peer.notify('notifications/cancelled', `{"requestId":${id}}`);
          },
        };
      },
    });
  }

  /** Servers that sessions have for themselves. */
  get own(): number {
    return this.#sessions.size;
  }

  /** Bridged sessions of which this process remembers something. */
  get bridged(): number {
    return this.#bridged.size;
  }

  handle(call: Call, exchange: Exchange): void {
    if (call.kind !== 'request' || call.method !== 'initialize') return this.#sessions.handle(call, exchange);
    if (this.#supervisor.era === 'modern' && this.#serves === false)
      return this.#withShared(exchange, () => this.#bridged.initialize(call, exchange));
    if (this.#serves === true) return this.#sessions.handle(call, exchange);
    const first = new FirstInitialize(exchange, (serves) => {
      if (this.#supervisor.era !== 'modern') return false;
      this.#serves = serves;
      if (!serves) this.#withShared(exchange, () => this.#bridged.initialize(call, exchange));
      return !serves;
    });
    this.#sessions.handle(call, first);
  }

  tick(now_ms: number): void {
    this.#sessions.tick(now_ms);
  }

  close(grace_ms: number): void {
    this.#sessions.close(grace_ms);
    this.#bridged.close();
  }

  #unknown(call: Call, exchange: Exchange): void {
    const gone = (): void => exchange.fail(new GatewayError('SESSION_NOT_FOUND'));
    if (!this.#bridged.knows(call)) return gone();
    this.#withShared(exchange, ({ handshake }) => {
      if (handshake !== undefined || !this.#bridged.handle(call, exchange)) gone();
    });
  }

  #withShared(exchange: Exchange, ready: (shared: Shared) => void): void {
    let leave = (): void => undefined;
    exchange.onCancel(() => leave());
    exchange.waitsFor(startingDetail(this.#start_timeout_ms));
    leave = this.#supervisor.use({
      ready: (shared) => {
        exchange.waitsFor(undefined);
        this.#shared = shared.peer;
        if (!exchange.ended) ready(shared);
      },
      failed: (error) => exchange.fail(error),
    });
  }
}
