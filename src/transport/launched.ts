import type { Pipe } from './pipe.js';

/** A peer that was started and that its owner has to end. */
export interface Launched {
  readonly pipe: Pipe;
  /** Undefined for a server in this process, and for a child that could not be started. */
  readonly pid: number | undefined;
  /** Exit code, or the signal that killed it; undefined while it runs and for a server in this process. */
  readonly exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  /** The last things it said beside messages, for the log; empty when nothing. */
  readonly last_words: readonly string[];
  /** Ends it, gently first, at the latest after about `grace_ms`; resolves when nothing of it is left. Safe to call twice. */
  stop(grace_ms: number): Promise<void>;
  /** Resolves when nothing of it is left, whoever ended it. */
  readonly gone: Promise<void>;
}
