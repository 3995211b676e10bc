import type { Readable, Writable } from 'node:stream';
import type { ProcessView } from '../telemetry/process-metrics.js';
import type { Prompt } from './init/prompt.js';

/** Everything that a long-running command needs. */
export interface RunIo extends CliIo {
  /** True when standard output is a terminal: the log is then written for people. */
  readonly terminal: boolean;
  readonly stdoutStream: Writable;
  readonly process: ProcessView;
  /** Calls `handle` at every SIGTERM and SIGINT. Returns the way to stop that. */
  onSignal(handle: (signal: string) => void): () => void;
  /** The same for SIGHUP, which reloads. */
  onHangup(handle: () => void): () => void;
  /**
   * Standard input and output for messages alone: whatever else writes to standard output from then on, a module that it loads
   * for one, writes to standard error.
   */
  claimStdio(): { readonly input: Readable; readonly output: Writable };
  /** Asks the person at the terminal; undefined when input or output is none. */
  readonly openPrompt?: (() => Prompt) | undefined;
}

/** All that a command sees of the process it runs in. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative file names on the command line start at. */
  readonly cwd: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}
