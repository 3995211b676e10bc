import { buildProgram, runProgram } from '../../src/cli/program.js';

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
  const io = { env, cwd, stdout: (text: string) => void (stdout += text), stderr: (text: string) => void (stderr += text) };
  const code = await runProgram(buildProgram(io), args, io);
  return { code, stdout, stderr };
}
