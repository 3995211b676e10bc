import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { buildConnector, Client } from 'undici';
import type { Clock, Timer } from '../contract/clock.js';
import type { TransportFault } from '../contract/transport.js';
import { CANCELLED, CLOSED } from './outcomes.js';

export interface HttpPoolOptions {
  readonly origin: string;
  /** PEM of the certificate authorities that the server must chain to; undefined: the public ones. */
  readonly ca: string | undefined;
  /** Requests that are under way at once; more wait. */
  readonly pool_size: number;
  readonly pool_idle_timeout_ms: number;
  /** Requests on one connection. Then it is retired. */
  readonly pool_max_requests: number;
  readonly connect_timeout_ms: number;
  readonly clock: Clock;
}

/** One connection, lent for one request. Exactly one of the three is called, once. */
export interface Lease {
  readonly client: Client;
  /** The answer was complete and leaves the connection usable: the next request may have it. */
  reuse(): void;
  /** It must not be reused. */
  discard(): void;
  /** The answer is an event stream: the connection is its own from now on, and the place in the pool is free. Returns its end. */
  detach(): () => void;
}

interface Connection {
  readonly client: Client;
  requests: number;
  idle: Timer | undefined;
}

interface Waiter {
  take(connection: Connection): void;
  refuse(fault: TransportFault): void;
}

/**
 * The connections of one client to one origin: at most `pool_size` carry requests, one each, and who comes later waits in line.
 * A connection is closed when it was idle for too long, has carried its number of requests, or could not be trusted any more.
 */
export class HttpPool {
  readonly #options: HttpPoolOptions;
  /** It returns the socket, which its declaration leaves out. */
  readonly #connect: (...args: Parameters<buildConnector.connector>) => Duplex;
  readonly #sockets = new WeakMap<Client, Duplex>();
  readonly #idle: Connection[] = [];
  readonly #waiting = new Set<Waiter>();
  #lent = 0;
  #closed = false;

  constructor(options: HttpPoolOptions) {
    this.#options = options;
    // Made once: building the trust store for each connection costs milliseconds.
    const secureContext = options.ca === undefined ? undefined : createSecureContext({ ca: options.ca });
    this.#connect = buildConnector({
      rejectUnauthorized: true,
      timeout: options.connect_timeout_ms,
      ...(secureContext === undefined ? {} : { secureContext }),
    }) as (...args: Parameters<buildConnector.connector>) => Duplex;
  }

  /** Live numbers. */
  get stats(): { readonly idle: number; readonly lent: number; readonly waiting: number } {
    return { idle: this.#idle.length, lent: this.#lent, waiting: this.#waiting.size };
  }

  /** A connection, now or within `timeout_ms`. */
  lease(timeout_ms: number, signal: AbortSignal | undefined): Promise<Lease | TransportFault> {
    if (this.#closed) return Promise.resolve(CLOSED);
    if (signal?.aborted === true) return Promise.resolve(CANCELLED);
    if (this.#lent < this.#options.pool_size) return Promise.resolve(this.#lend(this.#idle.pop() ?? this.#open()));
    return new Promise((resolve) => {
      const settle = (value: Lease | TransportFault): void => {
        timer.cancel();
        signal?.removeEventListener('abort', abort);
        this.#waiting.delete(waiter);
        resolve(value);
      };
      const abort = (): void => settle(CANCELLED);
      const waiter: Waiter = { take: (connection) => settle(this.#lend(connection)), refuse: settle };
      const timer = this.#options.clock.timer(timeout_ms, () => settle(this.#busy(timeout_ms)));
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  /** A connection outside the pool, for a stream that is asked for as one. Any of the three ends it. */
  own(): Lease {
    const client = this.#client();
    const end = (): void => this.#destroy(client);
    return { client, reuse: end, discard: end, detach: () => end };
  }

  /** Idle connections are closed, waiting requests refused. What is under way finishes, and closes its connection. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) this.#end(connection);
    for (const waiter of this.#waiting) waiter.refuse(CLOSED);
  }

  #busy(timeout_ms: number): TransportFault {
    const message = `all ${this.#options.pool_size} connections were busy for ${timeout_ms} ms`;
    return { code: 'TIMEOUT', message };
  }

  #lend(connection: Connection): Lease {
    connection.idle?.cancel();
    connection.idle = undefined;
    connection.requests++;
    this.#lent++;
    let returned = false;
    const giveBack = (usable: boolean): void => {
      if (returned) return;
      returned = true;
      this.#lent--;
      if (!usable) this.#end(connection);
      this.#next(usable ? connection : undefined);
    };
    return {
      client: connection.client,
      reuse: () => giveBack(!this.#closed && connection.requests < this.#options.pool_max_requests),
      discard: () => giveBack(false),
      detach: () => {
        returned = true;
        this.#lent--;
        this.#next(undefined);
        return () => this.#end(connection);
      },
    };
  }

  #next(connection: Connection | undefined): void {
    const [waiter] = this.#waiting;
    if (waiter !== undefined) waiter.take(connection ?? this.#open());
    else if (connection !== undefined) this.#keep(connection);
  }

  #keep(connection: Connection): void {
    this.#idle.push(connection);
    connection.idle = this.#options.clock.timer(this.#options.pool_idle_timeout_ms, () => this.#drop(connection));
  }

  #open(): Connection {
    const connection: Connection = { client: this.#client(), requests: 0, idle: undefined };
    // The server closed it while it was idle.
    connection.client.on('disconnect', () => this.#drop(connection));
    return connection;
  }

  #drop(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    this.#end(connection);
  }

  #end({ client, idle }: Connection): void {
    idle?.cancel();
    this.#destroy(client);
  }

  #destroy(client: Client): void {
    if (!client.destroyed) void client.destroy().catch(() => undefined);
    // A socket that is still connecting, or in its TLS handshake, is not yet the client's to end.
    this.#sockets.get(client)?.destroy();
  }

  #client(): Client {
    // Idle time is measured here, so that a clock of tests moves it; undici's own timer only honours what the server asks for.
    const keep_ms = this.#options.pool_idle_timeout_ms + 60_000;
    const client: Client = new Client(this.#options.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 32_768,
      keepAliveTimeout: keep_ms,
      keepAliveMaxTimeout: keep_ms,
      connect: (options, callback) => void this.#sockets.set(client, this.#connect(options, callback)),
    });
    return client;
  }
}
