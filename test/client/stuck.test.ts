// Whatever a server does, each wait of the client ends: by its timeout, and by the signal of the call or of the end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, type ClientError, connect, type Target } from '../../src/client.js';
import type { Clock } from '../../src/contract/clock.js';
import { systemClock } from '../../src/system-clock.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { BEHAVIOURS, type StuckServer, startMute, startStuck } from '../support/stuck-server.js';

/** Far beyond every timeout below, and beyond the seconds that an open answer is waited for: what is over by then ended by itself. */
const LONG_MS = 30_000;
const SHORT = { timeout_ms: 2_000, timeout_max_ms: 2_000, start_timeout_ms: 2_000 } as const;
/** As a caller that names no timeout has it: only the signal can end a wait. */
const PATIENT = { timeout_ms: 600_000, timeout_max_ms: 600_000, start_timeout_ms: 600_000, probe_timeout_ms: 600_000 } as const;

type Way = 'timeout' | 'signal';

async function ends<T>(what: string, promise: Promise<T>): Promise<T | ClientError> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end`)), LONG_MS);
  });
  const caught = promise.catch((error: ClientError) => error);
  try {
    return await Promise.race([caught, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Connects, lists, calls and closes; says which step failed, and how. `stuck`: the server has come to its stage. */
async function useAll(target: Target, era: 'modern' | 'legacy' | 'auto', way: Way, stuck: () => boolean): Promise<readonly string[]> {
  const { clock, pending } = countedClock();
  const stop = new AbortController();
  const { signal } = stop;
  const options = way === 'timeout' ? SHORT : PATIENT;
  const failed: string[] = [];
  let client: Client | undefined;
  const step = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    const outcome = await ends(name, run());
    if (outcome instanceof Error) failed.push(`${name} ${'code' in outcome ? outcome.code : String(outcome)}`);
  };
  let over = false;
  if (way === 'signal')
    void until('the server is stuck', () => over || stuck(), LONG_MS).then(
      () => stop.abort(),
      () => undefined,
    );
  await step('connect', async () => {
    client = await connect(target, { ...options, era, signal, log_level: 'info', clock });
  });
  if (client !== undefined && !signal.aborted) {
    const connected = client;
    await step('listTools', () => connected.listTools({ signal }));
    if (!signal.aborted) await step('callTool', () => connected.callTool('echo', {}, { signal }));
  }
  await step('close', async () => client?.close({ signal }));
  over = true;
  await until('no timer is left', () => pending() === 0, LONG_MS);
  return failed;
}

/** The real clock, and how many timers of it are set: one that is left keeps a program from ending. */
function countedClock(): { readonly clock: Clock; pending(): number } {
  const set = new Set<object>();
  const clock: Clock = {
    ...systemClock,
    timer: (ms, run) => {
      const timer = setTimeout(() => {
        set.delete(timer);
        run();
      }, ms);
      set.add(timer);
      return { cancel: () => set.delete(timer) && clearTimeout(timer) };
    },
  };
  return { clock, pending: () => set.size };
}

/** Which step is at which stage, in each era. */
const STAGES = {
  modern: { connect: ['server/discover'], listTools: ['tools/list'], callTool: ['tools/call'] },
  legacy: {
    connect: ['server/discover', 'initialize', 'logging/setLevel'],
    listTools: ['tools/list'],
    callTool: ['tools/call'],
    none: ['notifications/initialized', 'GET', 'DELETE'],
  },
} as const;

for (const way of ['timeout', 'signal'] as const)
  describe(`a client of a server that is stuck, ended by a ${way}`, { concurrency: 40 }, () => {
    for (const [behaviour, behave] of Object.entries(BEHAVIOURS))
      for (const [era, steps] of Object.entries(STAGES))
        for (const [step, stages] of Object.entries(steps))
          for (const stage of stages)
            it(`at ${stage} (${era}) and ${behaviour}`, async () => {
              const server = await startStuck(era as 'modern', stage, behave);
              const stuck = () => server.messages.some(({ method }) => method === stage);
              await using(server, async () => {
                const failed = await useAll({ http: server.url }, era === 'legacy' ? 'auto' : 'modern', way, stuck);
                const allowed = expected(step, stage, behaviour, way);
                assert.ok(allowed.includes(failed.join()), `${failed.join() || 'nothing failed'}, not ${allowed.join(' or ')}`);
              });
            });

    it('in its TLS handshake', async () => {
      const server = await startMute();
      await using(server, async () => {
        const failed = await useAll({ http: server.url }, 'auto', way, () => server.open > 0);
        assert.deepEqual(failed, [way === 'timeout' ? 'connect TIMEOUT' : 'connect CANCELLED']);
      });
    });
  });

/** What may fail at this stage: never more than the step that was stuck. */
function expected(step: string, stage: string, behaviour: string, way: Way): readonly string[] {
  // What needs no answer is accepted with the head of one, and the end of a session is always an end.
  if (step === 'none') {
    if (stage !== 'notifications/initialized') return way === 'signal' && stage === 'GET' ? ['', ...cancelled] : [''];
    const refused = /refuses|redirects/.test(behaviour);
    const silent = /nothing$|half a head|early hints/.test(behaviour) && !behaviour.startsWith('opens');
    if (way === 'signal') return silent ? ['connect CANCELLED'] : ['', 'connect CANCELLED', 'connect REFUSED', ...cancelled];
    return silent ? ['connect TIMEOUT'] : refused ? ['connect TIMEOUT', 'connect REFUSED'] : [''];
  }
  // The body of a refusal is not waited for as long as an answer may be.
  const refused = /refuses|redirects/.test(behaviour) ? [`${step} REFUSED`] : [];
  // An error of a server in answer to the probe means the legacy era.
  if (stage === 'server/discover' && behaviour.startsWith('refuses')) refused.push('');
  return [`${step} ${way === 'signal' ? 'CANCELLED' : 'TIMEOUT'}`, ...refused];
}

const cancelled = ['listTools CANCELLED', 'callTool CANCELLED'];

/** Runs the test; then no connection is left. The server is closed in every case. */
async function using(server: StuckServer, test: () => Promise<void>): Promise<void> {
  try {
    await test();
    await until('no connection is left', () => server.open === 0, LONG_MS);
  } finally {
    await server.close();
  }
}

describe('a client of a child process that is stuck', { concurrency: 18 }, () => {
  const script = repositoryPath('dist/test/support/stdio/stuck.js');
  for (const way of ['timeout', 'signal'] as const)
    for (const [stage, behaviour, step] of [
      ['server/discover', 'silence', ''],
      ['initialize', 'silence', 'connect'],
      ['initialize', 'pings', 'connect'],
      ['tools/list', 'half', 'listTools'],
      ['tools/list', 'junk', 'listTools'],
      ['tools/call', 'pings', 'callTool'],
      ['tools/call', 'questions', 'callTool'],
      ['tools/call', 'deaf', 'callTool'],
      ['exit', 'silence', ''],
    ] as const)
      it(`at ${stage} by ${behaviour}, and ignores the end of its input and SIGTERM, ended by a ${way}`, async () => {
        const seen: unknown[] = [];
        const target = { stdio: { command: process.execPath, args: [script, stage, behaviour], stop_timeout_ms: 600 } };
        const stop = new AbortController();
        const timer = setTimeout(() => way === 'signal' && stop.abort(), 3_000);
        const { clock, pending } = countedClock();
        const options = { ...(way === 'timeout' ? SHORT : PATIENT), signal: stop.signal, clock };
        const client = await ends('connect', connect(target, options));
        if (client instanceof Error) seen.push(`connect ${client.code}`);
        else {
          const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
            ['listTools', () => client.listTools({ signal: stop.signal })],
            ['callTool', () => client.callTool('echo', {}, { signal: stop.signal })],
          ];
          for (const [name, run] of steps) {
            if (seen.length > 0) break;
            const outcome = await ends(name, run());
            if (outcome instanceof Error) seen.push(`${name} ${'code' in outcome ? outcome.code : String(outcome)}`);
          }
          await ends('close', client.close({ signal: stop.signal }));
        }
        clearTimeout(timer);
        await until('no timer is left', () => pending() === 0, LONG_MS);
        const code = way === 'timeout' ? 'TIMEOUT' : 'CANCELLED';
        if (stage === 'server/discover' && way === 'signal') assert.deepEqual(seen, ['connect CANCELLED']);
        else if (step !== '') assert.deepEqual(seen, [`${step} ${code}`]);
      });
});
