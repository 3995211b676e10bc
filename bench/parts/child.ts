import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A process that the bench started. */
export interface Child {
  readonly pid: number;
  /** The first message that a node child sends over its channel. */
  message<T>(): Promise<T>;
  send(message: object): void;
  /** Asks it to end, insists after two seconds, and waits until it is gone. */
  close(): Promise<void>;
}

export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A node process with a message channel. */
  readonly channel?: boolean;
}

const running = new Set<ChildProcess>();

/** Starts a process. What it writes is kept and shown only if it ends before it was asked to. */
export function startChild(command: string, args: readonly string[], options: ChildOptions = {}): Child {
  const { cwd, env, channel = false } = options;
  const child = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdio: channel ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let said = '';
  let asked = false;
  const hear = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-4000);
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  child.on('error', (error) => process.stderr.write(`${command}: ${error.message}\n`));
  child.on('exit', (code, signal) => {
    running.delete(child);
    if (!asked) process.stderr.write(`${command} ${args.join(' ')} ended early (${signal ?? code}):\n${said}\n`);
  });
  return {
    pid: child.pid ?? -1,
    send: (message) => void child.send(message),
    async message<T>(): Promise<T> {
      const gone = new AbortController();
      const leave = (): void => gone.abort();
      child.once('exit', leave);
      try {
        const [message] = await once(child, 'message', { signal: gone.signal });
        return message as T;
      } finally {
        child.off('exit', leave);
      }
    },
    async close() {
      asked = true;
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      const insist = setTimeout(() => child.kill('SIGKILL'), 2000);
      await exit;
      clearTimeout(insist);
    },
  };
}

/** Ends at once whatever still runs: for a signal or a failure of the bench itself. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves once something accepts connections on the port. Rejects after ten seconds. */
export async function untilListening(port: number): Promise<void> {
  for (let left = 200; left > 0; left--) {
    if (await accepts(port)) return;
    await wait(50);
  }
  throw new Error(`nothing listens on 127.0.0.1:${port}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
