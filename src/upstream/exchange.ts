import type { ResponseHead } from './response-head.js';

/** One request as it is written. */
export interface UpstreamRequest {
  /** Request line and fields, each line ended by CRLF; Content-Length and the empty line are added by the connection. Latin-1. */
  readonly head: string;
  /** Undefined: no body and no Content-Length. */
  readonly body: Buffer | undefined;
}

/**
 * What acts on an exchange that is under way. It outlives the exchange: `by` is the listener that acts, and one whose exchange is
 * over acts on nothing, whoever uses the connection now.
 */
export interface UpstreamLine {
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
  onConnected(line: UpstreamLine): void;
  /** The final answer's head; informational ones (1xx) are passed over. */
  onHead(head: ResponseHead): void;
  /** A piece of the body without its framing, the listener's to keep. False: read no more until `resume`; what was read already still comes. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onError(error: Error): void;
}
