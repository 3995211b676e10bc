import { buildProgram, runProgram } from '../../src/cli/program.js';
import { cliIo } from './cli.js';
import { until } from './e2e/until.js';

/** A command line that runs in this process until it is told to stop. */
export interface RunningCli {
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  /** Sends what a SIGTERM or SIGINT would. */
  signal(name: string): void;
  hangup(): void;
  /** True while the command listens for signals. */
  readonly listening: boolean;
  /** The first match of the standard output, now or soon. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts one command line. */
export function startCli(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): RunningCli {
  let stdout = '';
  let stderr = '';
  let onSignal: ((name: string) => void) | undefined;
  let onHangup: (() => void) | undefined;
  const io = {
    ...cliIo({ env, cwd, stdout: (text) => void (stdout += text), stderr: (text) => void (stderr += text) }),
    onSignal(handle: (name: string) => void) {
      onSignal = handle;
      return () => void (onSignal = undefined);
    },
    onHangup(handle: () => void) {
      onHangup = handle;
      return () => void (onHangup = undefined);
    },
  };
  return {
    ended: runProgram(buildProgram(io), args, io),
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    signal: (name) => onSignal?.(name),
    hangup: () => onHangup?.(),
    get listening() {
      return onSignal !== undefined || onHangup !== undefined;
    },
    async says(pattern) {
      await until(`it says ${pattern}: ${stderr}`, () => pattern.test(stdout));
      return pattern.exec(stdout) as RegExpExecArray;
    },
  };
}
