// `portcullis call` and `portcullis doctor` against servers that are stuck: --timeout, SIGINT and SIGTERM each end the process, and
// nothing that it started is left.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { folderWith } from '../support/config-files.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { BEHAVIOURS, startMute, startStuck } from '../support/stuck-server.js';

const MAIN = repositoryPath('dist/src/main.js');
const STUCK = repositoryPath('dist/test/support/stdio/stuck.js');
/** A signal ends a command within 2 s on a quiet machine. */
const SOON_MS = 6_000;
const LATE_MS = 60_000;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  /** From the signal, or the start, to the end. */
  readonly ms: number;
}

/** Runs a command; `signal` is sent once `stuck` holds. */
async function run(args: readonly string[], signal: NodeJS.Signals | undefined, stuck: () => boolean): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdout.resume();
  let began = performance.now();
  const ended = new Promise<Ended>((resolve) => {
    child.on('exit', (code, by) => resolve({ code, signal: by, stderr, ms: performance.now() - began }));
  });
  try {
    if (signal !== undefined) {
      await until(`the server is stuck: ${stderr}`, stuck, LATE_MS);
      began = performance.now();
      child.kill(signal);
    }
    const late = setTimeout(() => child.kill('SIGKILL'), LATE_MS);
    const outcome = await ended;
    clearTimeout(late);
    assert.notEqual(outcome.signal, 'SIGKILL', `${args.join(' ')} did not end: ${outcome.stderr}`);
    return outcome;
  } finally {
    child.kill('SIGKILL');
  }
}

const slowest = { ms: 0 };
function check({ code, ms, stderr }: Ended, signal: NodeJS.Signals | undefined): void {
  if (signal === undefined) return assert.ok(code === 69 || code === 76 || code === 0, `${code}: ${stderr}`);
  assert.deepEqual([code, stderr.trim().split('\n').at(-1)], [signal === 'SIGINT' ? 130 : 143, 'stopped']);
  slowest.ms = Math.max(slowest.ms, ms);
  assert.ok(ms < SOON_MS, `it took ${Math.round(ms)} ms`);
}

const WAYS = [undefined, 'SIGINT', 'SIGTERM'] as const;
/** One that is answered and one that is not; test/client/stuck.test.ts has all of them, in one process. */
const STAGES = { modern: ['tools/call'], legacy: ['notifications/initialized'] } as const;

describe('portcullis call of a server that is stuck', { concurrency: 6 }, () => {
  for (const signal of WAYS)
    for (const [behaviour, behave] of Object.entries(BEHAVIOURS))
      for (const [era, stages] of Object.entries(STAGES))
        for (const stage of stages)
          it(`at ${stage} and ${behaviour} ends by ${signal ?? '--timeout'}`, async () => {
            const server = await startStuck(era as 'modern', stage, behave);
            const stuck = () => server.messages.some(({ method }) => method === stage);
            const timeout = signal === undefined ? '1000' : '600000';
            const ended = await run(['call', server.url, 'echo', '{}', '--era', era, '--timeout', timeout], signal, stuck);
            // What needs no answer is not waited for: the call may be over before the signal comes.
            const unanswered = stage === 'notifications/initialized';
            if (signal === undefined || !unanswered || (ended.code !== 0 && ended.signal !== signal)) check(ended, signal);
            await server.close();
          });

  for (const signal of WAYS) {
    it(`in its TLS handshake ends by ${signal ?? '--timeout'}`, async () => {
      const server = await startMute();
      check(await run(['call', server.url, '--timeout', signal === undefined ? '1000' : '600000'], signal, () => server.open > 0), signal);
      await server.close();
    });

    for (const [stage, behaviour] of [
      ['initialize', 'silence'],
      ['tools/call', 'pings'],
      ['tools/call', 'deaf'],
      ['exit', 'silence'],
    ] as const)
      it(`over stdio, at ${stage} by ${behaviour}, ends by ${signal ?? '--timeout'} with all that it started`, async () => {
        const mark = `mark-${process.pid}-${stage}-${behaviour}-${signal}`;
        const args = ['call', 'echo', '{}', '--era', 'legacy', '--timeout', signal === undefined ? '3000' : '600000'];
        const started = () => processesWith(mark);
        let since = 0;
        const stuck = async () => (await started()) > 0 && (since ||= performance.now()) < performance.now() - 2_000;
        const ended = await run([...args, '--', process.execPath, STUCK, stage, behaviour, mark], signal, stuck as never);
        if (ended.code !== 0) check(ended, signal);
        await until('its child is gone', async () => (await started()) === 0);
      });
  }
});

describe('portcullis doctor of an upstream that is stuck', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`ends by ${signal}`, async () => {
      const server = await startStuck('modern', 'server/discover', BEHAVIOURS['says half a head'] as (typeof BEHAVIOURS)[string]);
      const mute = await startMute();
      const { folder, remove } = folderWith({
        'portcullis.yaml': `listener: { host: 127.0.0.1, port: 0 }
ops: { enabled: false }
runtimes:
  up: { kind: proxied, url: "${server.url}" }
  mute: { kind: proxied, url: "${mute.url}" }
  child: { kind: stdio, command: "${process.execPath}", args: ["${STUCK}", initialize, silence] }
routes:
  - { path: /a, public: true, runtime: up }
  - { path: /b, public: true, runtime: mute }
  - { path: /c, public: true, runtime: child }
`,
      });
      const stuck = () => server.messages.some(({ method }) => method === 'server/discover') && mute.open > 0;
      const args = ['doctor', '-c', `${folder}/portcullis.yaml`, '--timeout', '600000'];
      const { code, ms, stderr } = await run(args, signal, stuck);
      assert.equal(code, signal === 'SIGINT' ? 130 : 143, stderr);
      assert.ok(ms < SOON_MS, `it took ${Math.round(ms)} ms`);
      slowest.ms = Math.max(slowest.ms, ms);
      remove();
      await server.close();
      await mute.close();
      console.log(`# the slowest end after a signal took ${Math.round(slowest.ms)} ms`);
    });
});

/** Processes whose command line holds the text, as an argument of its own. */
async function processesWith(mark: string): Promise<number> {
  const { readdirSync, readFileSync } = await import('node:fs');
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words.includes(mark) && words[1] === STUCK;
    } catch {
      return false;
    }
  }).length;
}
