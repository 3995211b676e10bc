/** How a body ends (RFC 9112 section 6.3). */
export type Framing = 'none' | 'length' | 'chunked' | 'close';

/** The head of one answer. */
export interface ResponseHead {
  readonly status: number;
  /** Flat name, value, name, value … list; names in lower case, values as sent, without white space around them. Latin-1. */
  readonly fields: readonly string[];
  readonly framing: Framing;
  /** Bytes of the body; 0 unless `framing` is `length`. */
  readonly length: number;
  /** The connection may carry another exchange after this one. */
  readonly keeps: boolean;
  /** Seconds that the upstream keeps an idle connection, when it says so (`Keep-Alive: timeout=5`). */
  readonly idle_s: number | undefined;
}
/** One request as it is written. */
export interface UpstreamRequest {
  /** Request line and fields, each line ended by CRLF; Content-Length and the empty line are added by the connection. Latin-1. */
  readonly head: string;
  /** Undefined: no body and no Content-Length. */
  readonly body: Buffer | undefined;
}

/**
 * The handle on a running exchange. It outlives the exchange: `by` is the listener that acts, and one whose exchange is
 * over has no effect, even if the connection serves another exchange now.
 */
export interface UpstreamHandle {
  /** Ends the exchange now with `onError(reason)`. A connection that it used is closed. */
  abort(reason: Error, by: UpstreamListener): void;
  /** Reads on after `onData` said false. */
  resume(by: UpstreamListener): void;
}

/**
 * Hears how one exchange goes: `onConnected`, `onHead`, any number of `onData`, then `onEnd` or `onError`, exactly one of the two.
 * `onError` may come at any point instead. Nothing is heard after it.
 */
export interface UpstreamListener {
  /** A connection was found and the request leaves with this call; `line` replaces the one that `dispatch` gave. */
  onConnected(line: UpstreamHandle): void;
  /** The final answer's head; informational ones (1xx) are passed over. */
  onHead(head: ResponseHead): void;
  /** A piece of the body without its framing, the listener's to keep. False: read no more until `resume`; what was read already still comes. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onError(error: Error): void;
}

/**
 * Why an exchange failed for a reason that is not the system's own: `CLOSED` the upstream closed before the answer was whole,
 * `CONNECT_TIMEOUT` no connection in time, `BAD_ANSWER` the answer is not HTTP/1.1 (RFC 9112), `STOPPED` the pool is closed. `PROXY_…`: the
 * egress proxy opened no tunnel; `PROXY_REFUSED_` is followed by the status that it answered.
 */
type UpstreamFailureCode =
  | 'CLOSED'
  | 'CONNECT_TIMEOUT'
  | 'BAD_ANSWER'
  | 'STOPPED'
  | 'PROXY_UNREACHABLE'
  | 'PROXY_TIMEOUT'
  | 'PROXY_BROKEN'
  | `PROXY_REFUSED_${string}`;

/** A failure of an exchange with a code of ours; the message never holds an address or a byte of the answer. */
export class UpstreamFailure extends Error {
  readonly code: UpstreamFailureCode;

  constructor(code: UpstreamFailureCode, message: string) {
    super(message);
    this.name = 'UpstreamFailure';
    this.code = code;
  }
}

/** The answer breaks a rule of RFC 9112; `what` names it. */
export function badAnswer(what: string): UpstreamFailure {
  return new UpstreamFailure('BAD_ANSWER', what);
}
