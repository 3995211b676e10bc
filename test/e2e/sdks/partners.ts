import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { repositoryPath } from '../../support/repository.js';
import type { Era } from './refusals.js';

/** One client of one SDK in one era: a row of the table. */
export interface Partner {
  readonly name: string;
  readonly era: Era;
  /** Rows of these run only when the command line names them. */
  readonly flag?: 'go' | 'rust';
  readonly command: readonly [string, ...string[]];
}

const sources = repositoryPath('test/e2e/sdks');
const home = repositoryPath('.tmp/sdks');

const node = (version: string, era: Era): Partner => ({
  name: `TypeScript ${version}`,
  era,
  command: [process.execPath, repositoryPath('dist/test/e2e/sdks/driver.js'), version, era],
});

/** `set` is the name of a file in `python/requirements` and of its virtual environment. */
const python = (name: string, set: string, kind: string, era: Era): Partner => ({
  name,
  era,
  command: [`${home}/${set}/bin/python`, `${sources}/python/driver.py`, kind, era],
});

export const PARTNERS: readonly Partner[] = [
  node('v1.12', 'legacy'),
  node('v1.32', 'legacy'),
  node('v2.4', 'legacy'),
  node('v2.4', 'modern'),
  python('Python mcp 1.8.1', 'mcp-1.8', 'mcp1', 'legacy'),
  python('Python mcp 1.30.0', 'mcp-1.30', 'mcp1', 'legacy'),
  python('Python mcp 2.3.0', 'mcp-2.3', 'mcp2', 'legacy'),
  python('Python mcp 2.3.0', 'mcp-2.3', 'mcp2', 'modern'),
  python('fastmcp 4.2.3', 'fastmcp-4.2', 'fastmcp', 'legacy'),
  python('fastmcp 4.2.3', 'fastmcp-4.2', 'fastmcp', 'modern'),
  { name: 'Go go-sdk v1.8.0', era: 'legacy', flag: 'go', command: [`${home}/go-driver`, 'legacy'] },
  { name: 'Go go-sdk v1.8.0', era: 'modern', flag: 'go', command: [`${home}/go-driver`, 'modern'] },
  { name: 'Rust rmcp 3.11.0', era: 'legacy', flag: 'rust', command: [`${home}/rust-driver/debug/driver`, 'legacy'] },
  { name: 'Rust rmcp 3.11.0', era: 'modern', flag: 'rust', command: [`${home}/rust-driver/debug/driver`, 'modern'] },
];

/** Installs and builds what the drivers of these languages need, below `.tmp/sdks`; what is there stays. */
export async function prepare(flags: readonly string[]): Promise<void> {
  await mkdir(home, { recursive: true });
  const uv = `${home}/uv/bin/uv`;
  const wheels = ['--require-hashes', '--no-deps', '--only-binary', ':all:'];
  if (!existsSync(uv)) {
    await run('python3', ['-m', 'venv', `${home}/uv`]);
    await run(`${home}/uv/bin/python`, ['-m', 'pip', 'install', '-q', ...wheels, '-r', `${sources}/python/requirements/uv.txt`]);
  }
  for (const set of ['mcp-1.8', 'mcp-1.30', 'mcp-2.3', 'fastmcp-4.2']) {
    await run(uv, ['venv', '-q', '--allow-existing', `${home}/${set}`]);
    const file = `${sources}/python/requirements/${set}.txt`;
    await run(uv, ['pip', 'sync', '-q', '--python', `${home}/${set}`, '--require-hashes', '--only-binary', ':all:', file]);
  }
  if (flags.includes('go')) await run('go', ['build', '-C', `${sources}/go`, '-o', `${home}/go-driver`, '.']);
  if (flags.includes('rust')) {
    await run('cargo', ['build', '-q', '--locked', '--manifest-path', `${sources}/rust/Cargo.toml`, '--target-dir', `${home}/rust-driver`]);
  }
}

const run = promisify(execFile);

/** What a driver says of one command. `unanswered` when it said nothing in time. */
export interface Outcome {
  readonly kind: 'ok' | 'error' | 'unanswered';
  readonly text: string;
}

/** A running driver process. */
export interface Driver {
  open(url: string, headers: Readonly<Record<string, string>>): Promise<Outcome>;
  call(tool: string, text: string): Promise<Outcome>;
  /** Closes the client; the process can open another. */
  close(): Promise<Outcome>;
  /** Ends the process. */
  stop(): void;
}

/** A call that is not answered after this counts as unanswered; it takes some ms on an idle machine. */
const PATIENCE_MS = 8_000;
/** The first `open` imports the SDK, which takes a cold fastmcp 10 s on two busy cores. */
const OPEN_PATIENCE_MS = 60_000;

export function startDriver(partner: Partner): Driver {
  const [command, ...args] = partner.command;
  const child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting = new Map<number, (outcome: Outcome) => void>();
  let last_id = 0;
  let said = '';
  child.stderr?.on('data', (data: Buffer) => void (said = (said + data.toString()).slice(-2_000)));
  child.on('error', (error) => void (said += String(error)));
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<Outcome>((resolve) => {
    child.on('close', () => resolve({ kind: 'error', text: `the process has ended: ${said}` }));
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { id, ok, text } = JSON.parse(line);
    waiting.get(id)?.({ kind: ok ? 'ok' : 'error', text });
    waiting.delete(id);
  });
  const ask = async (command: object, patience_ms = PATIENCE_MS): Promise<Outcome> => {
    const id = ++last_id;
    const answered = new Promise<Outcome>((resolve) => void waiting.set(id, resolve));
    child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    const late = new AbortController();
    const timer = sleep(patience_ms, { kind: 'unanswered', text: '' } as const, { signal: late.signal });
    timer.catch(() => undefined);
    const outcome = await Promise.race([answered, ended, timer]);
    late.abort();
    return outcome;
  };
  return {
    open: (url, headers) => ask({ do: 'open', url, headers }, OPEN_PATIENCE_MS),
    call: (tool, text) => ask({ do: 'call', tool, text }),
    close: () => ask({ do: 'close' }),
    stop: () => void child.kill('SIGKILL'),
  };
}
