import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A child process whose output is kept. */
export interface Child {
  readonly pid: number;
  /** Everything the child has written so far, both streams, at most the last 1 000 000 characters. */
  readonly output: string;
  /** The first match in the output, now or later. Rejects when the child ends or `timeout_ms` (default 15 000) passes without one. */
  says(pattern: RegExp, timeout_ms?: number): Promise<RegExpExecArray>;
  /** Sends a signal (default SIGTERM) and resolves with the exit code, or null when a signal killed the child. SIGKILL follows after 10 s. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves with the exit code once the child has ended. */
  readonly ended: Promise<number | null>;
}

/** Starts a Node program with this Node, or with the binary of `node`. */
export function startChild(args: readonly string[], env: Readonly<Record<string, string>> = {}, node = process.execPath): Child {
  return startProgram(node, args, env);
}

/** Starts a program. Its environment is this one's and `env`. */
export function startProgram(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const listeners = new Set<() => void>();
  let output = '';
  const take = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-1_000_000);
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = exitOf(child);
  return {
    pid: child.pid ?? -1,
    get output() {
      return output;
    },
    says: (pattern, timeout_ms = 60_000) =>
      new Promise((resolve, reject) => {
        const settle = (done: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          done();
        };
        const fail = (why: string): void =>
          settle(() => reject(new Error(`${args.join(' ')} ${why} before it said ${pattern}:\n${output.slice(-4000)}`)));
        const look = (): void => {
          const found = pattern.exec(output);
          if (found !== null) settle(() => resolve(found));
        };
        const timer = setTimeout(() => fail(`ran ${timeout_ms} ms`), timeout_ms);
        listeners.add(look);
        void ended.then(() => fail('ended'));
        look();
      }),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return ended;
      child.kill(signal);
      const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      const code = await ended;
      clearTimeout(killer);
      return code;
    },
    ended,
  };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code as number | null;
}
