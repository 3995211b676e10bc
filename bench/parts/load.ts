import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startChild } from './child.js';
import type { LoadOrder, LoadResult } from './loader.js';
import { findTool, Missing } from './tool.js';

/** What one round came to. Latencies in µs. */
export interface Round {
  readonly requests: number;
  readonly seconds: number;
  readonly p50_us: number;
  readonly p99_us: number;
}

/** The load on one port. Both reject when an answer was wrong: a proxy that fails fast must not look cheap. */
export interface Load {
  /** What makes the load of a round. */
  readonly name: string;
  /** Sends so many requests, but for no longer than `most_s`, and compares every answer with the upstream's, or with `answer`. */
  warmUp(port: number, count: number, most_s: number, answer?: string): Promise<void>;
  /** Sends for so many seconds. */
  round(port: number, seconds: number): Promise<Round>;
  close(): Promise<void>;
}

/**
 * The rounds are wrk's where it is installed: it leaves the processors to the proxies. Else they are the loader's, which takes
 * as much time of its own as nginx does and makes every number higher.
 */
export function startLoad(request: string, connections: number, folder: string): Load {
  const child = startChild(process.execPath, [fileURLToPath(new URL('./loader.js', import.meta.url))], { channel: true });
  const run = async (order: Pick<LoadOrder, 'port' | 'count' | 'seconds' | 'answer'>): Promise<LoadResult> => {
    const answer = child.message<LoadResult>();
    child.send({ ...order, request, connections });
    const result = await answer;
    if (result.fault !== undefined) throw new Error(`the load broke off: ${result.fault}`);
    return result;
  };
  const wrk = findWrk();
  const script = join(folder, 'request.lua');
  if (wrk !== undefined) writeFileSync(script, toLua(request));
  return {
    name: wrk === undefined ? 'a node:net loader (wrk is not installed)' : 'wrk',
    warmUp: async (port, count, seconds, answer) => void (await run({ port, count, seconds, ...(answer === undefined ? {} : { answer }) })),
    round: (port, seconds) => (wrk === undefined ? run({ port, seconds }) : runWrk(wrk, script, port, connections, seconds)),
    close: () => child.close(),
  };
}

function findWrk(): string | undefined {
  try {
    return findTool('wrk', [], 'apt-get install wrk');
  } catch (error) {
    if (error instanceof Missing) return undefined;
    throw error;
  }
}

/** The same request for wrk, which counts the body's bytes itself. */
function toLua(request: string): string {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const fields = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ', 2));
  const lines = fields.map(([name, value]) => (name === 'Content-Length' ? '' : `wrk.headers["${name}"] = [[${value}]]\n`));
  return `wrk.method = "POST"\nwrk.body = [[${body}]]\n${lines.join('')}`;
}

async function runWrk(wrk: string, script: string, port: number, connections: number, seconds: number): Promise<Round> {
  const args = ['-t', '1', '-c', `${connections}`, '-d', `${seconds}s`, '--latency', '-s', script, `http://127.0.0.1:${port}/mcp`];
  const { stdout } = await promisify(execFile)(wrk, args);
  const read = (pattern: RegExp): RegExpExecArray => {
    const found = pattern.exec(stdout);
    if (found === null || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk says:\n${stdout}`);
    return found;
  };
  const [, requests, took] = read(/(\d+) requests in ([\d.]+)s/);
  const micros = (share: number): number => {
    const [, value, unit] = read(new RegExp(`${share}%\\s+([\\d.]+)(us|ms|s)`));
    return Number(value) * (unit === 'us' ? 1 : unit === 'ms' ? 1000 : 1_000_000);
  };
  return { requests: Number(requests), seconds: Number(took), p50_us: micros(50), p99_us: micros(99) };
}
