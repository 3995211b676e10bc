import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A shell with everything that it started. */
export interface Shell {
  /** What it has written so far, both streams. */
  readonly output: string;
  /** Resolves with the exit code once the shell has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Sends a signal to all of its processes, as a terminal does, and resolves with the exit code. SIGKILL follows after 10 s. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs a script with bash as a process group of its own. The environment is this one's and `env`. */
export function startShell(script: string, cwd: string, env: Readonly<Record<string, string>> = {}): Shell {
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const group = -(child.pid as number);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(group, signal);
    } catch {
      // All of it has ended.
    }
  };
  return {
    get output() {
      return output;
    },
    ended,
    async stop(signal = 'SIGTERM') {
      kill(signal);
      const killer = setTimeout(() => kill('SIGKILL'), 10_000);
      const code = await ended;
      clearTimeout(killer);
      return code;
    },
  };
}
