import { PassThrough } from 'node:stream';
import { buildProgram, runProgram } from '../../src/cli/program.js';
import type { RunIo } from '../../src/cli/run-io.js';

/** What one command line printed and returned. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process. */
export async function runCli(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  let stdout = '';
  let stderr = '';
  const io = cliIo({ env, cwd, stdout: (text: string) => void (stdout += text), stderr: (text: string) => void (stderr += text) });
  const code = await runProgram(buildProgram(io), args, io);
  return { code, stdout, stderr };
}

/** The io of a test: no terminal, no signal. */
export function cliIo(parts: Pick<RunIo, 'env' | 'cwd' | 'stdout' | 'stderr'>): RunIo {
  const process = { version: 'v0', cpuUsage: () => ({ user: 0, system: 0 }), memoryUsage: { rss: () => 0 } };
  return {
    ...parts,
    terminal: false,
    stdoutStream: new PassThrough(),
    process,
    onSignal: () => () => undefined,
    onHangup: () => () => undefined,
    claimStdio: () => ({ input: new PassThrough(), output: new PassThrough() }),
  };
}
