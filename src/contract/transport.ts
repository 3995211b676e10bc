import type { Outcome } from '../errors/error.js';
import type { Clock } from './clock.js';
import type { Log } from './log.js';
import type { TSchema } from './options.js';

/** One JSON-RPC message as a value. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** What a transport's pure callbacks keep between two calls. Only they look into it. */
export type TransportState = unknown;

/** Raw input of a transport: bytes or text, whole messages or parts of them, or any object that its `parse` understands. */
export type RawMessage = Uint8Array | string | object;

/** Why a transport could not do what it was asked to: a value, never thrown. */
export interface TransportFault {
  /**
   * A word in capitals. Known: `CLOSED`, `TIMEOUT`, `CANCELLED`, `UNREACHABLE` (no connection), `REFUSED` (the server answered with a refusal),
   * `ENDED` (no answer will come any more), `TOO_LARGE`, `BROKEN` (no MCP). Any other word is passed on.
   */
  readonly code: string;
  /** What happened, for the user: no token, no stack. */
  readonly message: string;
  /** HTTP status of a refusal. */
  readonly status?: number;
  /** Lower-case names; of a refusal what the caller can act on, e.g. `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON-RPC error in the body of a refusal. */
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A value, or a fault. */
export type TransportOutcome<T> = Outcome<T, TransportFault>;

/** The arguments of `start`. */
export interface TransportOptions {
  /** Takes raw input from the peer. Ignored before `start` has resolved and after `closed`. */
  receive(raw: RawMessage): void;
  /** The peer is gone: told once, and not after `shutdown`. */
  closed(fault: TransportFault): void;
  readonly log: Log;
  readonly clock: Clock;
}

/** Of one message. What a transport does not know it ignores. */
export interface SendOptions {
  /** Until the message is delivered, a wait for a connection included; where its answer comes back on the same way, until that begins. */
  readonly timeout_ms?: number;
  /** What `extractMetadata` last found as `session_id`. */
  readonly session_id?: string;
  /** Lower-case names. A transport whose messages have a head adds them to it; another ignores them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts when the answer is not wanted any more. A transport of `cancels: 'stream'` closes the way that the answer comes back on. */
  readonly signal?: AbortSignal;
}

/** Of the end. What a transport does not know it ignores. */
export interface ShutdownOptions {
  /** Aborts when the caller stops waiting: abandon the messages under way. A second later the transport counts as ended. */
  readonly signal?: AbortSignal;
}

/** A way to one MCP peer. The first four are there always; the pure four are looked up before use. Nothing here throws. */
export interface Transport {
  /** Gets ready to send. Called once. A throw, or a rejection, is a peer that cannot be reached. */
  start(options: TransportOptions): Promise<void>;
  /**
   * Sends one message, JSON text (or what `encode` made of it, which is UTF-8 too). A fault: it was not delivered, or no answer to
   * it can come any more. Where each message has its own answer (HTTP), it settles when that answer ends.
   */
  sendMessage(message: string, options?: SendOptions): Promise<TransportOutcome<void>>;
  /** Ends it; what is under way may finish. Safe to call twice. */
  shutdown(options?: ShutdownOptions): Promise<TransportOutcome<void>>;
  /** Protocol revisions that can be spoken over it. */
  supportedProtocolVersions(): readonly string[] | 'all';
  /** `stream`: a request is cancelled by `signal` alone. Default `message`: by `notifications/cancelled`. */
  readonly cancels?: 'stream' | 'message';
  /** The state that the other three begin with. Without it that is undefined. */
  init?(options: TransportOptions): TransportOutcome<TransportState>;
  /** The messages that `raw` completes, and what is left. Without it each `raw` is one whole message. */
  parse?(raw: RawMessage, state: TransportState): TransportOutcome<readonly [readonly WireMessage[], TransportState]>;
  /** The message as it is sent. Without it that is its JSON text. */
  encode?(message: WireMessage, state: TransportState): TransportOutcome<readonly [Uint8Array, TransportState]>;
  /** What is known of `raw` beside the message, e.g. `session_id`. */
  extractMetadata?(raw: unknown, state: TransportState): Readonly<Record<string, unknown>>;
}

/** The second argument of `open`, besides the options. */
export interface TransportHost {
  readonly log: Log;
  readonly clock: Clock;
}

/** A third party's transport: the named export `transport` of its module. */
export interface TransportModule {
  readonly name: string;
  /** The contract that it was written against: 1. */
  readonly contract: number;
  /** JSON Schema of its options; validated, defaulted and frozen before `open`. Default: there are none. */
  readonly options?: TSchema;
  /** Makes one transport, for one peer. The caller starts it. */
  open(options: Readonly<Record<string, unknown>>, host: TransportHost): Transport | Promise<Transport>;
}
