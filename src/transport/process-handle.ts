import type { ErrorCode } from '../errors/codes.js';
import type { LongLine } from '../wire/line.js';

/** A peer that was started and that its owner has to end. */
export interface ProcessHandle {
  readonly pipe: Pipe;
  /** Undefined for a server in this process, and for a child that could not be started. */
  readonly pid: number | undefined;
  /** Exit code, or the signal that killed it; undefined while it runs and for a server in this process. */
  readonly exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  /** The last things it said beside messages, for the log; empty when nothing. */
  readonly last_words: readonly string[];
  /** Ends it, gently first, at the latest after about `grace_ms`; resolves when nothing of it is left. Safe to call twice. */
  stop(grace_ms: number): Promise<void>;
  /** Resolves when the whole process group has ended, for whatever reason. */
  readonly gone: Promise<void>;
}

/** Why a pipe closed by itself. A closed set: it is a metric label. */
export type PipeEnd = 'spawn' | 'exit' | 'crash' | 'signal' | 'stdin' | 'stdout' | 'timeout' | 'stopped';

/**
 * Two directions of JSON-RPC messages with one peer: the standard streams of a child process, or the memory between us and a server
 * in this process. Whole messages only; framing is the pipe's. The engine sets both listeners before anything can arrive.
 */
export interface Pipe {
  /**
   * Hands one message over, without a line end. False: too much waits in it; nothing was taken. `fields`: header fields that go with this
   * message where messages have any, flat name, value.
   */
  send(line: Uint8Array, fields?: readonly string[]): boolean;
  /** One raw message of the peer; the bytes do not change any more. `about`: it came in the exchange of the request with this id, raw JSON text. */
  onMessage: (line: Uint8Array, about?: string) => void;
  /** A message that is longer than it may be, and dropped: told as soon as it is, and once more when it `ended`. */
  onTooLong: (line: LongLine, ended: boolean) => void;
  /** The peer is gone. Called once; no message comes after it. Not called after `close`. */
  onClose: (end: PipeEnd) => void;
  /** Where each request has an exchange of its own: that of the request with this id, raw JSON text, has failed. */
  onFailed?: (id: string, code: ErrorCode) => void;
  /** Nobody waits for the answer to this request any more. */
  forget?(id: string): void;
  /** Ends our side. Calling it twice does nothing. */
  close(): void;
}
