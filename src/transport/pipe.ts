import type { LongLine } from '../wire/line.js';

/** Why a pipe closed by itself. A closed set: it is a metric label. */
export type PipeEnd = 'spawn' | 'exit' | 'crash' | 'signal' | 'stdin' | 'stdout' | 'timeout' | 'stopped';

/**
 * Two directions of JSON-RPC messages with one peer: the standard streams of a child process, or the memory between us and a server
 * in this process. Whole messages only; framing is the pipe's. The engine sets both listeners before anything can arrive.
 */
export interface Pipe {
  /** Hands one message over, without a line end. False: too much waits in it; nothing was taken. */
  send(line: Uint8Array): boolean;
  /** One message of the peer, as it came; the bytes are not written to any more. */
  onMessage: (line: Uint8Array) => void;
  /** A message that is longer than it may be, and dropped: told as soon as it is, and once more when it `ended`. */
  onTooLong: (line: LongLine, ended: boolean) => void;
  /** The peer is gone. Called once; no message comes after it. Not called after `close`. */
  onClose: (end: PipeEnd) => void;
  /** Ends our side. Calling it twice does nothing. */
  close(): void;
}
