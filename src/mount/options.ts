import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Executor } from '../executor/executor.js';
import { SILENT } from '../silent-log.js';
import { systemClock } from '../system-clock.js';

/** What every mount may be told. Positive integers; a mount throws a RangeError that names another. */
export interface MountOptions {
  /** Shared with other mounts, which then share `max_subscriptions` too; drained by its creator. Default: a private one. */
  readonly executor?: Executor;
  /** A larger body is 413. Default 2 000 000. */
  readonly max_body_bytes?: number;
  /**
   * Bodies without a declared length, as `listener.chunked_requests`. `accept`, the default: counted against `max_body_bytes`, and in
   * the Node mounts 400 for chunks under 16 bytes on average beyond 64 KiB. `refuse`: 411, unread.
   */
  readonly chunked_requests?: 'accept' | 'refuse';
  /** The whole body, from when it is first read; then 408. Default 10 000. */
  readonly body_timeout_ms?: number;
  /** Between two pieces of the body; then 408. Default 5 000. */
  readonly read_timeout_ms?: number;
  /** Then 504; progress starts it again, up to `request_timeout_max_ms`. Default 30 000. */
  readonly request_timeout_ms?: number;
  /** Default 300 000. */
  readonly request_timeout_max_ms?: number;
  /** Open `subscriptions/listen` of all mounts on the same executor; one more is 503. Default 256. */
  readonly max_subscriptions?: number;
  /** Bytes queued for the reader of one stream; more end it. Default 262 144. */
  readonly max_stream_buffer_bytes?: number;
  /** A comment goes over a stream that was silent so long. Default 15 000. */
  readonly sse_keepalive_ms?: number;
  /** A write that the client has not taken after so long ends its stream. Default 5 000. */
  readonly write_timeout_ms?: number;
  /** How long calls may go on when the host closes. Default 5 000. */
  readonly drain_timeout_ms?: number;
  /** Browser origins that may call beside loopback names, as `listener.allowed_origins`. Default: none. */
  readonly allowed_origins?: readonly string[];
  /** Names that `Host` must be one of, as `listener.allowed_hosts`. Default: not checked. */
  readonly allowed_hosts?: readonly string[];
  /** Secrets that seal `requestState` and session ids. Default: one random key. */
  readonly state_keys?: readonly string[];
  /** Gets what handlers threw. Default: silent. */
  readonly log?: Log;
  readonly clock?: Clock;
}

export type MountSettings = Required<Omit<MountOptions, 'executor'>>;

/** Fills the defaults in. */
export function toSettings(options: MountOptions): MountSettings {
  const settings = { ...DEFAULTS, ...options };
  for (const [name, value] of Object.entries(settings))
    if (/_(?:ms|bytes|subscriptions)$/.test(name) && !(Number.isSafeInteger(value) && (value as number) > 0))
      throw new RangeError(`mount: ${name} must be a positive integer, not ${String(value)}`);
  if (!['accept', 'refuse'].includes(settings.chunked_requests))
    throw new RangeError(`mount: chunked_requests must be accept or refuse, not ${String(settings.chunked_requests)}`);
  return settings;
}

const DEFAULTS: MountSettings = {
  max_body_bytes: 2_000_000,
  chunked_requests: 'accept',
  body_timeout_ms: 10_000,
  read_timeout_ms: 5_000,
  request_timeout_ms: 30_000,
  request_timeout_max_ms: 300_000,
  max_subscriptions: 256,
  max_stream_buffer_bytes: 262_144,
  sse_keepalive_ms: 15_000,
  write_timeout_ms: 5_000,
  drain_timeout_ms: 5_000,
  allowed_origins: [],
  allowed_hosts: [],
  state_keys: [],
  log: SILENT,
  clock: systemClock,
};
