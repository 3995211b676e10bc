import type { Clock, Timer } from '../contract/clock.js';
import { type ConnectionOwner, UpstreamConnection } from './connection.js';
import { type Connector, createConnector } from './connector.js';
import type { TunnelEgress } from './egress.js';
import type { UpstreamHandle, UpstreamListener, UpstreamRequest } from './exchange.js';
import { UpstreamFailure } from './exchange.js';
import { ConnectionList, IdleQuarantine } from './idle-connections.js';

export interface UpstreamPoolOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** PEM of the certificate authorities that the upstream must chain to; undefined: the public ones. */
  readonly ca?: string | undefined;
  /** The way to the origin; default: directly. */
  readonly egress?: TunnelEgress | undefined;
  /** Beyond so many open ones an exchange waits for one that rests instead of opening another. */
  readonly connections: number;
  /** Time to open a connection, TLS included; default 10 000. Beyond it the exchange fails with `CONNECT_TIMEOUT`. */
  readonly connect_timeout_ms?: number | undefined;
  /** A connection older than this, ± 20 % drawn for each, is closed after its answer. The next one looks the name up again. */
  readonly connection_max_age_ms: number;
  readonly clock: Clock;
  readonly onConnected: (seconds: number) => void;
}

/**
 * The connections to one origin: one exchange each, the one used last is used next, idle ones are closed before the upstream would, and all at a
 * certain age, so that a change of the name's addresses is followed while calls flow.
 * It sets no bound: a `RequestQueue` in front bounds what is under way, and a connection is opened only for an exchange that
 * finds none. Nothing is ever sent twice.
 */
export class UpstreamPool implements ConnectionOwner {
  readonly #connector: Connector;
  readonly #options: UpstreamPoolOptions;
  readonly #all = new Set<UpstreamConnection>();
  readonly #idle = new ConnectionList();
  readonly #rest = new IdleQuarantine((connection) => this.#offer(connection));
  /** Those that are being opened, with what ends the attempt. */
  readonly #opening = new Map<UpstreamConnection, { readonly began_ms: number; readonly limit: Timer }>();
  /** Exchanges that wait for one of `#opening` or `#rest`, oldest first. */
  readonly #waiting = new Set<PendingExchange>();
  #sweep: Timer | undefined;
  #emptied: (() => void)[] = [];
  #closed = false;

  constructor(options: UpstreamPoolOptions) {
    this.#options = options;
    this.#connector = createConnector(options.origin, options.ca, options.egress);
  }

  /** Connections that are idle and being opened, and exchanges that wait for a connection. */
  get stats(): { readonly free: number; readonly pending: number; readonly waiting: number } {
    return { free: this.#idle.size + this.#rest.size, pending: this.#opening.size, waiting: this.#waiting.size };
  }

  /** Begins an exchange. After `close` it fails at once with `STOPPED`. */
  dispatch(request: UpstreamRequest, listener: UpstreamListener): UpstreamHandle {
    const free = this.#take();
    if (free !== undefined) {
      free.send(request, listener);
      return free;
    }
    const waiting = new PendingExchange(request, listener, this.#waiting);
    if (this.#closed) waiting.fail(stopped());
    else this.#provide();
    return waiting;
  }

  /** Lets what is under way finish, at most `deadline_ms`; then it fails with `STOPPED`. */
  async close(deadline_ms: number): Promise<void> {
    this.#closed = true;
    this.#sweep?.cancel();
    const unused = this.#waiting.size > 0 ? [] : [...this.#rest.all(), ...this.#opening.keys()];
    for (const connection of [...this.#idle.all(), ...unused]) connection.end(stopped());
    if (this.#all.size === 0) return;
    let limit: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#emptied.push(resolve);
      limit = this.#options.clock.timer(deadline_ms, resolve);
    });
    limit?.cancel();
    for (const waiting of this.#waiting) waiting.fail(stopped());
    for (const connection of this.#all) connection.end(stopped());
  }

  opened(connection: UpstreamConnection): void {
    const attempt = this.#attempted(connection);
    if (attempt !== undefined) this.#options.onConnected((this.#options.clock.mono_ms() - attempt.began_ms) / 1000);
    const now_ms = this.#options.clock.mono_ms();
    connection.retires_at_ms = now_ms + this.#options.connection_max_age_ms * (0.8 + 0.4 * Math.random());
    connection.expires_at_ms = Math.min(now_ms + IDLE_MS, connection.retires_at_ms);
    this.#offer(connection);
  }

  released(connection: UpstreamConnection, idle_s: number | undefined): void {
    const keep_ms = idle_s === undefined ? IDLE_MS : Math.min(idle_s * 1000 - MARGIN_MS, MOST_IDLE_MS);
    const now_ms = this.#options.clock.mono_ms();
    connection.expires_at_ms = Math.min(now_ms + keep_ms, connection.retires_at_ms);
    if (this.#closed || connection.expires_at_ms <= now_ms) return connection.end(stopped());
    this.#rest.add(connection);
  }

  gone(connection: UpstreamConnection, error: Error | undefined): void {
    this.#all.delete(connection);
    if (this.#rest.delete(connection)) this.#provide();
    else if (this.#attempted(connection) === undefined) {
      this.#idle.delete(connection);
    } else if (this.#waiting.size > this.#opening.size + this.#rest.size) {
      // One attempt, one failure: the other exchanges have their own attempts.
      for (const waiting of this.#waiting) {
        waiting.fail(error ?? stopped());
        break;
      }
    }
    if (this.#all.size > 0) return;
    for (const resolve of this.#emptied) resolve();
  }

  /** Gives a connection that may be used to the exchange that waits longest. */
  #offer(connection: UpstreamConnection): void {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting);
      return connection.send(waiting.request, waiting.listener);
    }
    if (this.#closed) return connection.end(stopped());
    this.#idle.push(connection);
    this.#sweep ??= this.#options.clock.interval(SWEEP_MS, () => this.#expire());
  }

  /** Sees to it that every exchange that waits will have a connection. */
  #provide(): void {
    if (this.#waiting.size <= this.#opening.size) return;
    if (this.#all.size < this.#options.connections || this.#waiting.size > this.#opening.size + this.#rest.size) this.#open();
    else this.#rest.hurry();
  }

  #take(): UpstreamConnection | undefined {
    const now_ms = this.#idle.size === 0 ? 0 : this.#options.clock.mono_ms();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || connection.expires_at_ms > now_ms) return connection;
      connection.end(stopped());
    }
  }

  #open(): void {
    const { clock, connect_timeout_ms } = this.#options;
    const connection = new UpstreamConnection(this.#connector, this);
    const late = (): void => connection.end(new UpstreamFailure('CONNECT_TIMEOUT', 'no connection in time'));
    this.#all.add(connection);
    this.#opening.set(connection, { began_ms: clock.mono_ms(), limit: clock.timer(connect_timeout_ms ?? 10_000, late) });
  }

  #attempted(connection: UpstreamConnection): { readonly began_ms: number } | undefined {
    const attempt = this.#opening.get(connection);
    attempt?.limit.cancel();
    this.#opening.delete(connection);
    return attempt;
  }

  #expire(): void {
    const now_ms = this.#options.clock.mono_ms();
    for (const connection of this.#idle.all()) if (connection.expires_at_ms <= now_ms) connection.end(stopped());
    if (this.#idle.size > 0) return;
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }
}

/** An exchange without a connection yet. */
class PendingExchange implements UpstreamHandle {
  readonly request: UpstreamRequest;
  readonly listener: UpstreamListener;
  readonly #queue: Set<PendingExchange>;

  constructor(request: UpstreamRequest, listener: UpstreamListener, queue: Set<PendingExchange>) {
    this.request = request;
    this.listener = listener;
    this.#queue = queue;
    queue.add(this);
  }

  abort(reason: Error, by: UpstreamListener): void {
    if (this.listener === by) this.fail(reason);
  }

  fail(reason: Error): void {
    if (this.#queue.delete(this)) this.listener.onError(reason);
  }

  resume(): void {}
}

function stopped(): UpstreamFailure {
  return new UpstreamFailure('STOPPED', 'the pool is closed');
}

/** How long an idle connection is kept when the upstream does not say; when it does, a margin before its own end. */
const IDLE_MS = 4000;
const MARGIN_MS = 2000;
const MOST_IDLE_MS = 600_000;
const SWEEP_MS = 1000;
