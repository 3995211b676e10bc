// A real gateway process is taken out of service under load: by SIGTERM, by POST /drain, by a second signal, at the timeout, at start.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, readMetric, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { type RawAnswer, rawExchange } from '../support/raw.js';
import { repositoryPath } from '../support/repository.js';
import { INITIALIZE, modern, type Sent, send, tool, whole } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const DELAY_MS = 1000;
const TIMEOUT_MS = 6000;
const HALF_HEAD = 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: applic';

let upstream: Upstream;
let folder: string;

before(async () => {
  upstream = await startMcpUpstream();
  folder = mkdtempSync(join(tmpdir(), 'portcullis-drain-'));
  const module = (name: string, body: string): void =>
    writeFileSync(
      join(folder, `${name}.mjs`),
      `export const gate = { name: '${name}', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, ${body} };\n`,
    );
  // Holds the gateway's end open after the drain, so that the last counts can be read.
  module('slow-close', "open: () => ({ decide: () => ({ kind: 'pass' }), close: () => new Promise((done) => setTimeout(done, 1500)) })");
  module('pass', "open: () => ({ decide: () => ({ kind: 'pass' }) })");
  module('slow-open', "open: () => new Promise((done) => setTimeout(() => done({ decide: () => ({ kind: 'pass' }) }), 4000))");
});

after(async () => {
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

function config(limits: string, gate = 'slow-close'): string {
  return `
listener: { port: 0, limits: { ${limits} } }
ops: { port: 0 }
gates: { it: { use: "file:${folder}/${gate}.mjs" } }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
routes: [{ path: /mcp, gates: [it], runtime: server }]
`;
}

/** What was under way when the drain began. */
interface Load {
  readonly call: Promise<Sent>;
  readonly listen: Sent;
  readonly get: Sent;
  readonly half: Promise<RawAnswer>;
  readonly idle: readonly Promise<RawAnswer>[];
}

async function loaded(gateway: RunningGateway, slow_ms: number): Promise<Load> {
  const url = `${gateway.url}/mcp`;
  const port = Number(new URL(gateway.url).port);
  const session = (await whole(url, INITIALIZE)).headers['mcp-session-id'] as string;
  const get = await send(url, {
    headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session },
  });
  const listen = await send(url, modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub-7'));
  await Promise.all([get.shows(/list_changed/), listen.shows(/acknowledged/)]);
  const half = rawExchange(port, [HALF_HEAD], 20_000);
  const idle = Array.from({ length: 50 }, () => rawExchange(port, [], 20_000));
  const call = send(url, tool('slow', { ms: slow_ms }));
  await until('all of it is under way', async () => (await gateway.metric('portcullis_requests_in_flight')) === 3);
  await until('51 connections send nothing', async () => (await gateway.metric('portcullis_connections', { state: 'head' })) === 51);
  return { call, listen, get, half, idle };
}

/** Polls both probes until the ops listener is gone; what they said, without repetitions. */
async function watchProbes(ops_url: string): Promise<{ readonly ready: string[]; readonly live: number[] }> {
  const ready: string[] = [];
  const live: number[] = [];
  for (;;) {
    try {
      const [r, l] = await Promise.all([whole(`${ops_url}/readyz`), whole(`${ops_url}/livez`)]);
      const said = `${r.status} ${JSON.parse(r.text).reason}`;
      if (ready.at(-1) !== said) ready.push(said);
      if (live.at(-1) !== l.status) live.push(l.status);
    } catch {
      return { ready, live };
    }
    await sleep(20);
  }
}

async function expectLoadEndsWell({ call, listen, get, half, idle }: Load): Promise<void> {
  const answered = await call;
  await answered.ended;
  assert.equal(answered.status, 200);
  assert.equal(JSON.parse(answered.text).result.content[0].text, 'slow');
  assert.equal((await listen.ended).how, 'whole');
  const messages = listen.text.split('\n\n').flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);
  assert.deepEqual(JSON.parse(messages.at(-1) ?? ''), {
    jsonrpc: '2.0',
    id: 'sub-7',
    result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub-7' } },
  });
  assert.equal(messages.length, 2);
  assert.equal((await get.ended).how, 'whole');
  const half_head = await half;
  assert.deepEqual([half_head.statuses, half_head.end], [[503], 'closed']);
  assert.match(half_head.text, /"code":"DRAINING"/);
  for (const silent of await Promise.all(idle)) assert.deepEqual([silent.text, silent.end], ['', 'closed']);
}

describe('drain of a gateway process', () => {
  it('SIGTERM: readiness goes at once, new work is taken for the delay, nothing read in full is lost, exit 0', async () => {
    const gateway = await startGateway(config(`drain_delay_ms: ${DELAY_MS}, drain_timeout_ms: ${TIMEOUT_MS}`));
    const url = `${gateway.url}/mcp`;
    const agent = new Agent({ keepAlive: true });
    assert.equal((await whole(url, { ...tool('echo'), agent })).headers.connection, 'keep-alive');
    const load = await loaded(gateway, 2000);
    const started = performance.now();
    process.kill(gateway.pid, 'SIGTERM');
    const probes = watchProbes(gateway.ops_url);
    await until('the drain has begun', () => gateway.output.includes('drain begins'));
    const kept = await whole(url, { ...tool('echo', { text: 'kept' }), agent });
    const fresh = await whole(url, tool('echo', { text: 'fresh' }));
    assert.ok(performance.now() - started < DELAY_MS, 'asked within the delay');
    for (const served of [kept, fresh]) assert.deepEqual([served.status, served.headers.connection], [200, 'close']);
    await until(
      'the delay is over',
      () =>
        whole(url, tool('echo')).then(
          () => false,
          (error) => error.code === 'ECONNREFUSED',
        ),
      5000,
    );
    const closed_ms = performance.now() - started;
    assert.ok(closed_ms >= DELAY_MS - 20, `the listening socket closed after ${closed_ms} ms`);
    await expectLoadEndsWell(load);
    assert.equal(await gateway.stop('SIGCONT'), 0);
    const took_ms = performance.now() - started;
    assert.ok(took_ms < DELAY_MS + TIMEOUT_MS, `exit after ${took_ms} ms`);
    const { ready, live } = await probes;
    // The first probe may be faster than the signal.
    assert.deepEqual(
      ready.filter((state, at) => at > 0 || state !== '200 serving'),
      ['503 draining', '503 closing', '503 closed'],
    );
    assert.deepEqual(live, [200]);
    assert.match(gateway.output, /"killed":0,.*"message":"drain done"/);
    agent.destroy();
  });

  it('POST /drain on the ops listener does the same', async () => {
    const gateway = await startGateway(config(`drain_timeout_ms: ${TIMEOUT_MS}`));
    const load = await loaded(gateway, 1200);
    const probes = watchProbes(gateway.ops_url);
    const [first, again] = [
      await whole(`${gateway.ops_url}/drain`, { method: 'POST' }),
      await whole(`${gateway.ops_url}/drain`, { method: 'POST' }),
    ];
    assert.deepEqual([first.status, first.text, again.status], [202, '{"draining":true}', 202]);
    await expectLoadEndsWell(load);
    assert.equal(await gateway.stop('SIGCONT'), 0);
    const { ready, live } = await probes;
    assert.deepEqual(
      ready.filter((said) => said !== '200 serving'),
      ['503 closing', '503 closed'],
    );
    assert.deepEqual(live, [200]);
    assert.equal(gateway.output.match(/drain begins/g)?.length, 1);
  });

  it('what is still open at the timeout is killed, counted by kind, and the upstream is let go', async () => {
    const gateway = await startGateway(config('drain_timeout_ms: 700'));
    const url = `${gateway.url}/mcp`;
    const aborted = upstream.seen.filter((entry) => entry.aborted).length;
    const call = whole(url, tool('slow', { ms: 60_000 })).catch((error) => error.code);
    const progress = await send(url, tool('count', { n: 1000, ms: 100 }));
    await progress.shows(/notifications\/progress/);
    await until('both are under way', async () => (await gateway.metric('portcullis_requests_in_flight')) === 2);
    process.kill(gateway.pid, 'SIGTERM');
    const killed = async (kind: string): Promise<number> =>
      readMetric(`${gateway.ops_url}/metrics`, 'portcullis_drain_killed_total', { kind });
    await until('the kill is counted', async () => (await killed('connection')) > 0);
    const kinds = await Promise.all(['call', 'stream', 'connection', 'child'].map(killed));
    assert.deepEqual(kinds, [1, 1, 2, 0]);
    const [cancelled, drained, state] = await Promise.all([
      gateway.metric('portcullis_requests_total', { outcome: 'cancelled' }),
      gateway.metric('portcullis_drain_duration_seconds_count'),
      gateway.metric('portcullis_drain_state'),
    ]);
    assert.deepEqual([cancelled, drained, state], [2, 1, 3]);
    assert.equal(await call, 'ECONNRESET');
    assert.equal((await progress.ended).how, 'cut');
    await upstream.aborted(aborted + 2);
    assert.equal(await gateway.stop('SIGCONT'), 0);
    assert.match(gateway.output, /"killed":2,.*"message":"drain done"/);
  });

  it('a second signal ends at once', async () => {
    const gateway = await startGateway(config('drain_timeout_ms: 60000', 'pass'));
    const url = `${gateway.url}/mcp`;
    const call = whole(url, tool('slow', { ms: 60_000 })).catch((error) => error.code);
    await until('it is under way', async () => (await gateway.metric('portcullis_requests_in_flight')) === 1);
    process.kill(gateway.pid, 'SIGTERM');
    await until('the drain has begun', () => gateway.output.includes('drain begins'));
    await sleep(300);
    const started = performance.now();
    assert.equal(await gateway.stop('SIGTERM'), 0);
    assert.ok(performance.now() - started < 3000, 'it ended at once');
    assert.equal(await call, 'ECONNRESET');
    assert.match(gateway.output, /SIGTERM: ending at once/);
  });

  it('a second signal ends the delay too', async () => {
    const gateway = await startGateway(config('drain_delay_ms: 60000', 'pass'));
    process.kill(gateway.pid, 'SIGTERM');
    await until('the drain has begun', () => gateway.output.includes('drain begins'));
    const started = performance.now();
    assert.equal(await gateway.stop('SIGTERM'), 0);
    assert.ok(performance.now() - started < 3000, 'it ended at once');
  });

  it('a signal while gates are being opened ends the start', async () => {
    const file = join(folder, 'start.yaml');
    const port = await freePort();
    writeFileSync(file, config('drain_timeout_ms: 1000', 'slow-open').replace('port: 0', `port: ${port}`));
    const child = startChild([repositoryPath('dist/src/main.js'), 'run', '-c', file]);
    try {
      const url = `http://127.0.0.1:${port}/mcp`;
      await until('it is bound', () =>
        whole(url, tool('echo')).then(
          (answer) => answer.status === 503,
          () => false,
        ),
      );
      const started = performance.now();
      assert.equal(await child.stop('SIGTERM'), 0);
      assert.ok(performance.now() - started < 8000, 'it did not hang');
      assert.doesNotMatch(child.output, /listens on/);
    } finally {
      await child.stop('SIGKILL');
    }
  });

  it('a grace period that is too short for the drain is a warning at start', async () => {
    const limits = 'drain_delay_ms: 10000, drain_timeout_ms: 15000';
    for (const [grace, wanted] of [
      ['30', false],
      ['29', true],
    ] as const) {
      const gateway = await startGateway(config(limits, 'pass'), { TERMINATION_GRACE_PERIOD_SECONDS: grace });
      await until('it is ready', async () => (await whole(`${gateway.ops_url}/readyz`)).status === 200);
      await sleep(200);
      await gateway.stop('SIGKILL');
      assert.equal(/TERMINATION_GRACE_PERIOD_SECONDS leaves 29000 ms; .* need 30000 ms/.test(gateway.output), wanted, grace);
      assert.equal(gateway.output.includes('TERMINATION_GRACE'), wanted);
    }
  });
});
