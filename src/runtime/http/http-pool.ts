import { createSecureContext } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import type { Clock, Timer } from '../../contract/clock.js';
import type { Egress } from '../../contract/egress.js';

export interface HttpPoolOptions {
  readonly origin: string;
  /** Connections that may be open at once; each carries one exchange at a time. */
  readonly connections: number;
  /** PEM of the certificate authorities that the upstream must chain to; undefined: the public ones. */
  readonly ca?: string | undefined;
  /** The way to the origin; default: directly. */
  readonly egress?: Egress | undefined;
  /** Age at which a connection takes no more requests, ± 20 % drawn once. */
  readonly connection_max_age_ms: number;
  /** Time to the answer's head. */
  readonly headers_timeout_ms: number;
  readonly clock: Clock;
  readonly onConnected: (seconds: number) => void;
}

/**
 * Opens the undici pool of one plain HTTP upstream: verified TLS always, one exchange a connection, no idle timer on answers (a quiet event
 * stream is not cut, a slow call not cancelled), answer heads bounded to 32 KiB.
 */
export function openHttpPool(options: HttpPoolOptions): Pool {
  // Made once: building the trust store for each connection costs milliseconds.
  const secureContext = options.ca === undefined ? undefined : createSecureContext({ ca: options.ca });
  const direct = buildConnector({
    rejectUnauthorized: true,
    timeout: CONNECT_TIMEOUT_MS,
    ...(secureContext === undefined ? {} : { secureContext }),
  });
  const connect = options.egress?.connector(direct) ?? direct;
  return new Pool(options.origin, {
    connections: options.connections,
    pipelining: 1,
    headersTimeout: options.headers_timeout_ms,
    bodyTimeout: 0,
    clientTtl: options.connection_max_age_ms * (0.8 + 0.4 * Math.random()),
    maxHeaderSize: 32_768,
    connect: (target, callback) => {
      const began = options.clock.mono_ms();
      connect(target, (...result) => {
        if (result[0] === null) options.onConnected((options.clock.mono_ms() - began) / 1000);
        callback(...result);
      });
    },
  });
}

/** Lets what is under way finish, at most `deadline_ms`; then every connection is destroyed. */
export async function closePool(pool: Pool, clock: Clock, deadline_ms: number): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<void>((resolve) => {
    timer = clock.timer(deadline_ms, resolve);
  });
  await Promise.race([pool.close(), late]);
  timer?.cancel();
  if (!pool.destroyed) await pool.destroy();
}

/** Time to open a connection, TLS included. */
const CONNECT_TIMEOUT_MS = 10_000;
