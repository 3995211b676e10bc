import { type ChildProcess, spawn } from 'node:child_process';
import type { ProcessHost } from '../contract/process-host.js';

/**
 * Has a child's process group ended even when this process is killed: a small process of its own, one for all children of a host,
 * waits at the other end of a pipe that closes with us, and then sends SIGTERM and two seconds later SIGKILL to every group that
 * is left. Returns what says that the group is gone. A host without `execPath` has no guard.
 */
export function guardGroup(host: ProcessHost, pid: number): () => void {
  if (host.execPath === undefined) return () => undefined;
  let guard = GUARDS.get(host);
  if (guard === undefined) GUARDS.set(host, (guard = new Guard(host.execPath)));
  guard.add(pid);
  return () => guard.remove(pid);
}

/** One a process, as the process is: whoever starts children as this host shares it. */
const GUARDS = new WeakMap<ProcessHost, Guard>();

class Guard {
  readonly #execPath: string;
  readonly #groups = new Set<number>();
  #guard: ChildProcess | undefined;

  constructor(execPath: string) {
    this.#execPath = execPath;
  }

  add(pid: number): void {
    this.#groups.add(pid);
    if (this.#guard === undefined) this.#start();
    else this.#guard.stdin?.write(`+${pid}\n`);
  }

  remove(pid: number): void {
    this.#groups.delete(pid);
    this.#guard?.stdin?.write(`-${pid}\n`);
  }

  /** One that was killed is started again with the next child. It keeps nobody from ending. */
  #start(): void {
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
