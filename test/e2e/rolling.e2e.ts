// Three gateways behind a real HAProxy with the config of docs/scale-out.md: each is replaced in turn while clients of every kind call.
// No call is lost, and every open stream ends with its completion. Needs haproxy.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { folderWith } from '../support/config-files.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { type RunningHaproxy, startHaproxy } from '../support/e2e/haproxy.js';
import { startLoad } from '../support/e2e/load.js';
import { openV1Current, openV2, type SdkClient } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { repositoryPath } from '../support/repository.js';
import { INITIALIZE, legacy, modern, type Sent, send, tool, whole } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const TICKS = { notifications: { resourceSubscriptions: ['demo://ticks'] } };
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
// Holds a gateway's end open after the drain, so that the last counts can be read.
const { folder, remove } = folderWith({
  'gate.mjs': `export const gate = { name: 'gate', contract: 1, options: { type: 'object', properties: {} }, authorizes: true,
  open: () => ({ decide: () => ({ kind: 'pass' }), close: () => new Promise((done) => setTimeout(done, 1500)) }) };\n`,
});
const replicas: RunningGateway[] = [];
const clients: SdkClient[] = [];
let ports: readonly [traffic: number, ops: number];
let upstream: Upstream;
let haproxy: RunningHaproxy;

before(async () => {
  upstream = await startMcpUpstream();
  ports = [await freePort(), await freePort()];
  for (const host of HOSTS) replicas.push(await replica(host));
  haproxy = await startHaproxy(...ports);
  await until('HAProxy has found a replica', async () => (await whole(`${haproxy.url}/mcp`, tool('echo'))).status === 200);
});

after(async () => {
  await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
  await haproxy?.stop();
  await Promise.all(replicas.map((each) => each.stop('SIGKILL')));
  await upstream?.close();
  remove();
});

function replica(host: string): Promise<RunningGateway> {
  const [port, ops_port] = ports;
  return startGateway(`
listener:
  host: ${host}
  port: ${port}
  sessions: { keys: [a-session-key-of-more-than-32-characters] }
  limits: { drain_delay_ms: 3000, drain_timeout_ms: 10000 }
ops: { host: ${host}, port: ${ops_port} }
gates: { it: { use: "file:${folder}/gate.mjs" } }
runtimes:
  server: { kind: proxied, url: "${upstream.url}/mcp" }
  demo: { kind: hosted, module: ${repositoryPath('dist/src/demo/server.js')} }
  tools: { kind: stdio, command: ${process.execPath}, args: [${repositoryPath('dist/test/support/stdio/server.js')}, legacy] }
routes:
  - { path: /mcp, gates: [it], runtime: server }
  - { path: /demo/mcp, gates: [it], runtime: demo }
  - { path: /tools/mcp, gates: [it], runtime: tools }
`);
}

async function opened(client: Promise<SdkClient>): Promise<SdkClient> {
  clients.push(await client);
  return client;
}

describe('three replicas behind HAProxy', () => {
  it('a legacy session of a stdio server stays with the replica that has its child', { timeout: 30_000 }, async () => {
    const url = `${haproxy.url}/tools/mcp`;
    const six = await Promise.all(Array.from({ length: 6 }, () => opened(openV1Current(url))));
    for (let count = 1; count <= 5; count++) {
      assert.deepEqual(
        await Promise.all(six.map((client) => client.call('count'))),
        six.map(() => String(count)),
      );
    }
    const held = await Promise.all(replicas.map((each) => each.metric('portcullis_runtime_sessions', { runtime: 'tools' })));
    assert.deepEqual(held, [2, 2, 2]);
    for (const { session } of six) {
      const elsewhere = await Promise.all(replicas.map(({ url }) => whole(`${url}/tools/mcp`, legacy('tools/list', {}, session))));
      assert.deepEqual(elsewhere.map(({ status }) => status).sort(), [200, 404, 404]);
    }
    await Promise.all(six.map((client) => client.terminate()));
  });

  it('are replaced one by one: no call is lost, every stream ends with its completion, nothing is killed', {
    timeout: 150_000,
  }, async () => {
    const { url } = haproxy;
    const sdk: Record<string, () => Promise<unknown>> = {};
    for (const [name, open, route] of [
      ['SDK 2, hosted', openV2({ pin: '2026-07-28' }), '/demo/mcp'],
      ['SDK 2, proxied', openV2({ pin: '2026-07-28' }), '/mcp'],
      ['SDK 1, sealed session', openV1Current, '/mcp'],
      ['SDK 1, another session', openV1Current, '/mcp'],
    ] as const) {
      const client = await opened(open(`${url}${route}`));
      sdk[name] = async () => assert.equal(await client.call('echo', { text: name }), name);
    }
    const streams = watchStreams(url);
    const load = startLoad({
      ...sdk,
      'raw, slow': async () => assert.match((await answered(`${url}/mcp`, tool('slow', { ms: 150 }))).text, /"text":"slow"/),
      'raw, streamed': async () =>
        assert.match((await answered(`${url}/demo/mcp`, tool('countdown', { from: 3 }))).text, /"resultType":"complete"/),
    });
    for (const [i, host] of HOSTS.entries()) {
      const old = replicas[i] as RunningGateway;
      await until('streams are open', async () => (await old.metric('portcullis_streams')) > 0, 20_000);
      process.kill(old.pid, 'SIGTERM');
      await until('it is not ready', async () => (await fetch(`${old.ops_url}/readyz`)).status === 503);
      await until('its drain is over', async () => (await old.metric('portcullis_drain_duration_seconds_count')) === 1, 20_000);
      const [killed, state, left] = await Promise.all(
        ['drain_killed_total', 'drain_state', 'drain_remaining'].map((name) => old.metric(`portcullis_${name}`)),
      );
      assert.deepEqual([killed, state, left], [0, 3, 0], host);
      assert.equal(await old.stop('SIGCONT'), 0);
      replicas[i] = await replica(host);
      await until('it is called', async () => ((await replicas[i]?.metric('portcullis_requests_total')) ?? 0) > 20, 20_000);
    }
    const ended = await streams.stop();
    await load.stop();
    assert.deepEqual([load.lost, ended.broken], [[], []]);
    assert.ok(load.done > 300, `${load.done} calls`);
    // Each of the twelve ends when its replica goes, so three times at most.
    assert.ok(ended.completed >= 12 && ended.completed <= 36, `${ended.completed} streams`);
  });
});

async function answered(url: string, options: Parameters<typeof whole>[1]): Promise<Sent> {
  const sent = await whole(url, options);
  assert.deepEqual([sent.status, (await sent.ended).how], [200, 'whole'], sent.text);
  return sent;
}

/** Eight subscriptions and four legacy GET streams, opened anew as often as they end. */
function watchStreams(url: string): { stop(): Promise<{ readonly completed: number; readonly broken: readonly string[] }> } {
  const open = new Set<Sent>();
  const broken: string[] = [];
  let completed = 0;
  let going = true;
  const watch = async (begin: () => Promise<Sent>, last: RegExp): Promise<void> => {
    while (going) {
      const stream = await begin();
      open.add(stream);
      const { how } = await stream.ended;
      open.delete(stream);
      if (!going) return;
      if (stream.status === 200 && how === 'whole' && last.test(stream.text)) completed += 1;
      else broken.push(`${stream.status} ${how} ${stream.text}`);
    }
  };
  const subscribe = (): Promise<Sent> => send(`${url}/demo/mcp`, modern('subscriptions/listen', TICKS, 's'));
  const listen = async (): Promise<Sent> => {
    const session = String((await whole(`${url}/mcp`, INITIALIZE)).headers['mcp-session-id']);
    return send(`${url}/mcp`, {
      headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session },
    });
  };
  const all = [
    ...Array.from({ length: 8 }, () => watch(subscribe, /"id":"s","result":\{"resultType":"complete"[^\n]*\n\n$/)),
    ...Array.from({ length: 4 }, () => watch(listen, /list_changed/)),
  ];
  return {
    async stop() {
      going = false;
      for (const stream of open) stream.leave();
      await Promise.all(all);
      return { completed, broken };
    },
  };
}
