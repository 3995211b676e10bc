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
  #process: ChildProcess | undefined;

  constructor(execPath: string) {
    this.#execPath = execPath;
  }

  add(pid: number): void {
    this.#groups.add(pid);
    if (this.#process === undefined) this.#start();
    else this.#process.stdin?.write(`+${pid}\n`);
  }

  remove(pid: number): void {
    this.#groups.delete(pid);
    this.#process?.stdin?.write(`-${pid}\n`);
  }

  /** One that was killed is started again with the next child. It keeps nobody from ending. */
  #start(): void {
    const guard = spawn(this.#execPath, ['--max-old-space-size=16', '-e', SCRIPT], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#process = guard;
    const over = (): void => {
      if (this.#process === guard) this.#process = undefined;
    };
    guard.on('error', over).on('exit', over).unref();
    guard.stdin.on('error', over);
    (guard.stdin as unknown as { unref?(): void }).unref?.();
    guard.stdin.write([...this.#groups].map((pid) => `+${pid}\n`).join(''));
  }
}

/** It ends with its input, by nothing else that is sent to a whole service: a stop ends the gateway first. */
const SCRIPT = `
const groups = new Set();
let held = '';
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);
const signal = (name) => {
  for (const pid of groups) {
    try { process.kill(-pid, name); } catch { groups.delete(pid); }
  }
};
process.stdin.setEncoding('utf8');
process.stdin.on('error', () => undefined);
process.stdin.on('data', (text) => {
  const lines = (held + text).split('\\n');
  held = lines.pop();
  for (const line of lines) groups[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(1)));
});
process.stdin.on('close', () => {
  signal('SIGTERM');
  if (groups.size === 0) process.exit();
  setTimeout(() => { signal('SIGKILL'); process.exit(); }, 2000);
});
`;
