import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock, Timer } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { ProcessHost } from '../contract/process-host.js';
import { LineFramer } from '../wire/line.js';
import type { Pipe, PipeEnd, ProcessHandle } from './process-handle.js';
import { createRatedLog } from './rated-log.js';
import { guardOf } from './stdio-child-guard.js';
import { type LastWords, listenToStderr, throttle } from './stdio-stderr.js';

const POLL_MS = 50;
/** A killed process that its parent does not reap stays in the group; it is not waited for. */
const KILL_MS = 500;

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Longest message of the child. */
  readonly max_line_bytes: number;
}

export interface ChildDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly host: ProcessHost;
  /** It had to be killed to end. */
  killed(): void;
}

/**
 * Starts one MCP server as a child process: without a shell, in its own session and process group, with the given environment
 * and no descriptor of ours but its three pipes. Never throws: a command that cannot be started is a pipe that closes.
 */
export function startChild(options: ChildOptions, deps: ChildDeps): ProcessHandle {
  return new StdioChild(options, deps);
}

/** One child process from start to the last of its group. Owns the process, its pipes and the timers of its end. */
class StdioChild implements ProcessHandle, Pipe {
  onMessage: (line: Uint8Array) => void = ignore;
  onTooLong: Pipe['onTooLong'] = ignore;
  onClose: (end: PipeEnd) => void = ignore;
  readonly gone: Promise<void>;
  readonly #command: string;
  readonly #deps: ChildDeps;
  readonly #child: ChildProcess | undefined;
  readonly #framer: LineFramer;
  readonly #words: LastWords | undefined;
  #tellGone: () => void = ignore;
  /** Nothing is read or written any more. */
  #closed = false;
  #end: PipeEnd | undefined;
  #exit: ProcessHandle['exit'];
  #ladder: Timer | undefined;
  #grace_ms = LADDER_MS;
  #killed = false;

  constructor({ command, args, cwd, env, max_line_bytes }: ChildOptions, deps: ChildDeps) {
    this.#command = command;
    this.#deps = deps;
    this.gone = new Promise((resolve) => {
      this.#tellGone = resolve;
    });
    const rated = createRatedLog(deps.log, deps.clock);
    this.#framer = new LineFramer({
      max_line_bytes,
      onLine: (line) => !this.#closed && this.onMessage(line),
      onTooLong: (line) => !this.#closed && this.onTooLong(line, false),
      onLongEnd: (line) => {
        const message = 'a message of the MCP server was longer than max_line_bytes and was dropped';
        rated.warn({ pid: this.pid, bytes: line.bytes, max_line_bytes }, message);
        if (!this.#closed) this.onTooLong(line, true);
      },
    });
    const guard = guardOf(deps.host);
    try {
      this.#child = spawn(command, [...args], { cwd, env, detached: true, shell: false, stdio: ['pipe', 'pipe', 'pipe'] });
    } catch (error) {
      // A NUL in an argument, or an argument list that is too long, is thrown.
      this.#later(() => this.#notStarted(error));
      return;
    }
    const { pid } = this.#child;
    if (pid !== undefined) guard?.add(pid);
    if (pid !== undefined) void this.gone.then(() => guard?.remove(pid));
    this.#words = this.#listen(this.#child, env);
  }

  get pipe(): Pipe {
    return this;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get exit(): ProcessHandle['exit'] {
    return this.#exit;
  }

  get last_words(): readonly string[] {
    return this.#words?.lines ?? [];
  }

  send(line: Uint8Array): boolean {
    const stdin = this.#child?.stdin;
    // The end of a child that is gone, or never started, is reported in a moment, and fails its pending calls.
    if (this.#closed || stdin === null || stdin === undefined || !stdin.writable) return true;
    if (stdin.writableLength + line.length > MAX_UNREAD_BYTES) return false;
    const framed = Buffer.allocUnsafe(line.length + 1);
    framed.set(line);
    framed[line.length] = LF;
    stdin.write(framed);
    return true;
  }

  close(): void {
    this.#closed = true;
    void this.stop(LADDER_MS);
  }

  stop(grace_ms: number): Promise<void> {
    this.#closed = true;
    const hurry = grace_ms < this.#grace_ms;
    if (hurry) this.#grace_ms = grace_ms;
    if (this.#end === undefined && this.#child?.pid !== undefined && (hurry || this.#ladder === undefined)) this.#descend();
    return this.gone;
  }

  #listen(child: ChildProcess, env: ChildOptions['env']): LastWords | undefined {
    const { stdin, stdout, stderr } = child;
    child.on('error', (error) => {
      // Later errors come from signals to an ended process.
      if (child.pid === undefined) this.#notStarted(error);
    });
    child.on('exit', (code, signal) => this.#exited(signal !== null ? 'signal' : code === 0 ? 'exit' : 'crash', code, signal));
    stdin?.on('error', () => this.#later(() => this.#lost(this.#end ?? 'stdin')));
    stdout?.on('error', ignore);
    stdout?.on('data', (chunk: Buffer) => this.#framer.push(chunk));
    stdout?.on('end', () => {
      this.#framer.end();
      // A child that exits closes its output a moment before.
      if (this.#end === undefined) this.#later(() => this.#lost(this.#end ?? 'stdout'));
      else this.#lost(this.#end);
    });
    if (stdout !== null) throttle(stdout, this.#deps.clock);
    return stderr === null ? undefined : listenToStderr(stderr, { ...this.#deps, pid: child.pid, env });
  }

  #notStarted(error: unknown): void {
    const code = (error as { readonly code?: unknown }).code;
    this.#deps.log.error({ code: typeof code === 'string' ? code : 'unknown', command: this.#command }, 'the command could not be started');
    this.#end = 'spawn';
    this.#lost('spawn');
    this.#tellGone();
  }

  #exited(end: PipeEnd, code: number | null, signal: string | null): void {
    this.#end = end;
    this.#exit = { code, signal };
    this.#ladder?.cancel();
    const { pid } = this;
    this.#deps.log.debug({ pid, code, signal }, 'a child ended');
    if (this.#killed) this.#deps.killed();
    // Its last output is still on its way, unless a grandchild holds the pipe open.
    this.#later(() => this.#lost(end));
    if (pid === undefined) return this.#tellGone();
    killGroup(pid, this.#deps, Math.min(GROUP_MS, this.#grace_ms / 2), () => {
      this.#child?.stdout?.destroy();
      this.#child?.stderr?.destroy();
      this.#tellGone();
    });
  }

  /** The child ended the pipe: reported once. The rest of the process group is ended. */
  #lost(end: PipeEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#end === undefined) void this.stop(LADDER_MS);
    this.onClose(end);
  }

  /** EOF, then SIGTERM, then SIGKILL, each to the whole group, a third of the grace apart. */
  #descend(): void {
    const { clock, host } = this.#deps;
    const pid = this.#child?.pid as number;
    this.#ladder?.cancel();
    this.#child?.stdin?.end();
    const step = this.#grace_ms / 3;
    this.#ladder = clock.timer(step, () => {
      signalGroup(host, pid, 'SIGTERM');
      this.#ladder = clock.timer(step, () => {
        this.#killed = signalGroup(host, pid, 'SIGKILL');
      });
    });
  }

  #later(run: () => void): void {
    this.#deps.clock.timer(LAST_WORDS_MS, run);
  }
}

const LF = 0x0a;
/** What a child that does not read may have waiting for it. */
const MAX_UNREAD_BYTES = 16_000_000;
/** From EOF to SIGKILL, unless there is less time. */
const LADDER_MS = 4500;
const LAST_WORDS_MS = 250;
const GROUP_MS = 1000;

function ignore(): void {}

/**
 * Ends what the leader of a process group left behind: SIGTERM, and SIGKILL `grace_ms` later. `done` runs once, when nothing is
 * left to signal. The group keeps its number as long as one member lives, so no other process can be hit.
 */
function killGroup(pid: number, { clock, host }: { clock: Clock; host: ProcessHost }, grace_ms: number, done: () => void): void {
  if (!signalGroup(host, pid, 'SIGTERM')) return done();
  let waited_ms = 0;
  const poll = clock.interval(POLL_MS, () => {
    waited_ms += POLL_MS;
    if (waited_ms < grace_ms ? signalGroup(host, pid, 0) : signalGroup(host, pid, 'SIGKILL') && waited_ms < grace_ms + KILL_MS) return;
    poll.cancel();
    done();
  });
}

/** False when the group is empty. */
function signalGroup(host: ProcessHost, pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return host.kill(-pid, signal);
  } catch {
    return false;
  }
}
