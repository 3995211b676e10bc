// Children of a gateway do the worst they can, beside a healthy one: afterwards nothing is left of them, nothing waits, the healthy
// one never noticed, and the gateway is the same process.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderWith } from '../support/config-files.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';

const FIXTURE = repositoryPath('dist/test/support/stdio/server.js');
const MARK = `chaos-${process.pid}`;
const MODES = { calm: 'modern', wild: 'modern', old: 'legacy', mute: 'mute', flaky: 'flaky' } as const;
const MAX_SESSIONS = 6;
/** What `fragile` runs: a script that the test spoils. */
const SCRIPT = `#!/bin/sh\nexec "${process.execPath}" "${FIXTURE}" modern ${MARK}\n`;
const files = folderWith({ 'fragile.sh': SCRIPT });

let gateway: RunningGateway;
let calls_of_the_calm = 0;
const troubles_of_the_calm: string[] = [];
let polling = true;
let poll: Promise<void>;

before(async () => {
  const runtimes = Object.entries(MODES).map(
    ([name, mode]) =>
      `  ${name}: { kind: stdio, command: "${process.execPath}", args: ["${FIXTURE}", ${mode}, ${MARK}], max_sessions: ${MAX_SESSIONS}, max_children: 12, idle_ttl_ms: 3000, start_timeout_ms: 3000 }`,
  );
  const routes = [...Object.keys(MODES), 'absent', 'fragile'].map((name) => `  - { path: /${name}/mcp, public: true, runtime: ${name} }`);
  gateway = await startGateway(
    [
      'listener: { host: 127.0.0.1, port: 0, limits: { request_timeout_ms: 4000 } }',
      'ops: { port: 0 }',
      'runtimes:',
      ...runtimes,
      '  absent: { kind: stdio, command: /no/such/command }',
      `  fragile: { kind: stdio, command: /bin/sh, args: [${files.folder}/fragile.sh] }`,
      'routes:',
      ...routes,
    ].join('\n'),
  );
  calm_pid = Number((await modern('calm', 'pid')).result?.content[0]?.text);
  poll = keepCalling();
});

after(async () => {
  polling = false;
  await poll;
  const code = await gateway?.stop();
  assert.equal(code, 0);
  await until('no process is left', () => marked().length === 0, 3000);
  files.remove();
});

describe('chaos', () => {
  it('kill -9 at any moment: every call is answered, with a result or an error of its own', { timeout: 60_000 }, async () => {
    let answered = 0;
    for (let round = 0; round < 10; round++) {
      const calls = Array.from({ length: 20 }, (_, i) => modern('wild', 'sleep_echo', { ms: i * 5, v: `v${i}` }));
      await sleep(round * 9);
      for (const pid of marked('modern').filter((pid) => pid !== calm_pid)) kill(pid);
      for (const [i, answer] of (await Promise.all(calls)).entries()) {
        assert.equal(answer.id, 1);
        if (answer.result === undefined) assert.match(answer.error?.data.code ?? '', /^UPSTREAM_(ENDED|DOWN)$/);
        else assert.equal(answer.result.content[0]?.text, `v${i}`);
        answered++;
      }
    }
    assert.equal(answered, 200);
    await until('it is up again', async () => (await modern('wild', 'pid')).result !== undefined, 40_000);
  });

  for (const [what, tool, args] of [
    ['floods its output', 'flood', { mb: 30 }],
    ['floods its standard error', 'noise', { mb: 30 }],
    ['ends in half a line', 'half', {}],
    ['closes its input', 'close_stdin', {}],
    ['closes its output and lives', 'close_stdout', {}],
    ['ignores SIGTERM', 'stubborn', {}],
    ['leaves grandchildren', 'grandchild', {}],
    ['crashes', 'crash', {}],
    ['never answers', 'hang', {}],
  ] as const)
    it(`a child that ${what}`, { timeout: 60_000 }, async () => {
      const answer = await modern('wild', tool, args);
      assert.ok(answer.result !== undefined || answer.error !== undefined);
      await until('it works again', async () => (await modern('wild', 'count')).result !== undefined, 40_000);
      await until('nothing waits', async () => (await pendingOf('wild')) === 0);
    });

  it('children that never speak, end at once or do not exist cost their callers an error in time', { timeout: 30_000 }, async () => {
    for (const name of ['mute', 'flaky', 'absent']) {
      const started = performance.now();
      const answer = await modern(name, 'hang');
      assert.match(answer.error?.data.code ?? '', /^(UPSTREAM_(ENDED|DOWN)|DEADLINE)$/, name);
      assert.ok(performance.now() - started < 13_000, name);
    }
    const spawned = await gateway.metric('portcullis_runtime_restarts_total', { runtime: 'flaky' });
    assert.ok(spawned < 40, `${spawned} starts`);
  });

  it('a child that is gone and whose command fails: calls fail, a metric says so, the probes stay, and it comes back', {
    timeout: 60_000,
  }, async () => {
    const state = (name: string) => gateway.metric('portcullis_runtime_state', { runtime: 'fragile', state: name });
    const probes = () =>
      Promise.all(['livez', 'healthz', 'readyz'].map(async (path) => (await fetch(`${gateway.ops_url}/${path}`)).status));
    const pid = Number((await modern('fragile', 'pid')).result?.content[0]?.text);
    writeFileSync(`${files.folder}/fragile.sh`, 'exit 1\n');
    kill(pid);
    await until('the metric says so', async () => (await state('degraded')) === 1 && (await state('ready')) === 0);
    const { result, error } = await modern('fragile', 'pid');
    assert.equal(result, undefined);
    assert.match(error?.data.code ?? '', /^UPSTREAM_(ENDED|DOWN)$/);
    assert.deepEqual(await probes(), [200, 200, 200]);
    writeFileSync(`${files.folder}/fragile.sh`, SCRIPT);
    await until('it is back', async () => (await modern('fragile', 'pid')).result !== undefined, 40_000);
    assert.equal(await state('ready'), 1);
  });

  it('100 sessions that are opened and abandoned: bounded at any time, and all gone after their TTL', { timeout: 60_000 }, async () => {
    let opened = 0;
    for (let i = 0; i < 100; i++) {
      const answer = await post('old', INIT, { 'MCP-Protocol-Version': '2025-11-25' });
      if (answer.status === 200) opened++;
      else assert.equal(answer.status, 503);
      assert.ok(marked('legacy').length <= 12, `${marked('legacy').length} processes`);
    }
    assert.ok(opened >= MAX_SESSIONS, `${opened} opened`);
    assert.ok((await gateway.metric('portcullis_runtime_sessions', { runtime: 'old' })) <= MAX_SESSIONS);
    await until('they are gone', async () => (await gateway.metric('portcullis_runtime_sessions', { runtime: 'old' })) === 0, 20_000);
    await until('their processes too', () => marked('legacy').length <= 1, 20_000);
  });

  it('the healthy route never noticed, nothing waits, and the gateway is the same process', { timeout: 20_000 }, async () => {
    assert.deepEqual(troubles_of_the_calm, []);
    assert.ok(calls_of_the_calm > 50, `${calls_of_the_calm} calls`);
    for (const name of ['wild', 'old', 'mute', 'flaky', 'absent'])
      await until(`nothing waits at ${name}`, async () => (await pendingOf(name)) <= (name === 'mute' ? 1 : 0));
    assert.equal((await fetch(`${gateway.ops_url}/livez`)).status, 200);
    assert.ok(process.kill(gateway.pid, 0));
    assert.equal(await gateway.metric('portcullis_streams'), 0);
  });
});

interface Rpc {
  readonly id: unknown;
  readonly result?: { readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly data: { readonly code: string } };
}

const INIT = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};
const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
let calm_pid = 0;

function post(route: string, message: object, headers: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(`${gateway.url}/${route}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(message),
  });
}

async function modern(route: string, name: string, args: object = {}): Promise<Rpc> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: META } };
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
  return (await (await post(route, message, headers)).json()) as Rpc;
}

/** One client of the healthy route, all the time. */
async function keepCalling(): Promise<void> {
  while (polling) {
    const started = performance.now();
    const { result, error } = await modern('calm', 'pid');
    calls_of_the_calm++;
    const took_ms = performance.now() - started;
    if (result?.content[0]?.text !== String(calm_pid)) troubles_of_the_calm.push(JSON.stringify(error ?? result));
    else if (took_ms > 2000) troubles_of_the_calm.push(`${took_ms} ms`);
    await sleep(100);
  }
}

/** Processes of this test's children, by mode; grandchildren count to none. */
function marked(mode = ''): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return line.includes(MARK) && (mode === '' || line.includes(mode));
      } catch {
        return false;
      }
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

const pendingOf = (runtime: string): Promise<number> => gateway.metric('portcullis_runtime_pending', { runtime });
