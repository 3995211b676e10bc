import { type ChildProcess, spawn } from 'node:child_process';
import type { ProcessHost } from '../contract/process-host.js';

/**
 * Has the process groups of children ended even when this process is killed: a separate small process, one for all children of a
 * host, waits at the other end of a pipe that closes with us, and then sends SIGTERM and two seconds later SIGKILL to every group
 * that is left. It runs before the first child does. Undefined for a host without `execPath`.
 */
export function guardOf(host: ProcessHost): Guard | undefined {
  if (host.execPath === undefined) return undefined;
  let guard = GUARDS.get(host);
  if (guard === undefined) GUARDS.set(host, (guard = new Guard(host.execPath)));
  guard.start();
  return guard;
}

/** One for each process that runs children: every runtime of it shares the guard. */
const GUARDS = new WeakMap<ProcessHost, Guard>();

export class Guard {
  readonly #execPath: string;
  readonly #groups = new Set<number>();
  #guard: ChildProcess | undefined;

  constructor(execPath: string) {
    this.#execPath = execPath;
  }

  add(pid: number): void {
    this.#groups.add(pid);
    this.#guard?.stdin?.write(`+${pid}\n`);
  }

  remove(pid: number): void {
    this.#groups.delete(pid);
    this.#guard?.stdin?.write(`-${pid}\n`);
  }

  /** Starts it unless it runs. One that was killed is restarted with the next child. It does not keep this process alive. */
  start(): void {
    if (this.#guard !== undefined) return;
    const guard = spawn(this.#execPath, ['--max-old-space-size=16', PROGRAM], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#guard = guard;
    const over = (): void => {
      if (this.#guard === guard) this.#guard = undefined;
    };
    guard.on('error', over).on('exit', over).unref();
    guard.stdin.on('error', over);
    (guard.stdin as unknown as { unref?(): void }).unref?.();
    guard.stdin.write([...this.#groups].map((pid) => `+${pid}\n`).join(''));
  }
}

const PROGRAM = decodeURIComponent(new URL('../child-guard.js', import.meta.url).pathname);
