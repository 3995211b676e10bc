// A gateway process is reloaded a hundred times under load, by ConfigMap swaps, SIGHUP and POST /reload in turn: gates and runtimes that
// change are replaced, those that do not are kept, children with their sessions, streams stay open, and no call fails.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { folderWith } from '../support/config-files.js';
import { type RunningGateway, startCommand } from '../support/e2e/gateway.js';
import { startLoad } from '../support/e2e/load.js';
import { openV1Current, openV2, type SdkClient } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { repositoryPath } from '../support/repository.js';
import { modern, send, tool, whole } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const RELOADS = 100;
const TICKS = { notifications: { resourceSubscriptions: ['demo://ticks'] } };
const { folder, remove } = folderWith({});
const clients: SdkClient[] = [];
let upstream: Upstream;
let gateway: RunningGateway;

before(async () => {
  upstream = await startMcpUpstream();
  swap(0);
  symlinkSync('..data/portcullis.yaml', `${folder}/portcullis.yaml`);
  gateway = await startCommand(['run', '-c', `${folder}/portcullis.yaml`]);
});

after(async () => {
  await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
  await gateway?.stop();
  await upstream?.close();
  remove();
});

/** Puts a version of the config in place as a kubelet does. The gate and the runtime `changing` are others each time. */
function swap(version: number): void {
  mkdirSync(`${folder}/..${version}`);
  writeFileSync(
    `${folder}/..${version}/portcullis.yaml`,
    `
listener: { port: 0 }
ops: { port: 0 }
gates: { from: { use: ip-allow, options: { allow: [127.0.0.1, 10.0.0.0/8, 10.1.${version}.0/24] } } }
runtimes:
  kept: { kind: proxied, url: "${upstream.url}/mcp" }
  changing: { kind: proxied, url: "${upstream.url}/mcp", headers: { x-version: "${version}" } }
  demo: { kind: hosted, module: ${repositoryPath('dist/src/demo/server.js')} }
  modern: { kind: stdio, command: ${process.execPath}, args: [${repositoryPath('dist/test/support/stdio/server.js')}, modern] }
  legacy: { kind: stdio, command: ${process.execPath}, args: [${repositoryPath('dist/test/support/stdio/server.js')}, legacy] }
routes:
  - { path: /kept/mcp, gates: [from], runtime: kept }
  - { path: /changing/mcp, gates: [from], runtime: changing }
  - { path: /demo/mcp, gates: [from], runtime: demo }
  - { path: /modern/mcp, gates: [from], runtime: modern }
  - { path: /legacy/mcp, gates: [from], runtime: legacy }
  - { path: /v${version}/mcp, gates: [from], runtime: changing }
`,
  );
  symlinkSync(`..${version}`, `${folder}/..data_tmp`);
  renameSync(`${folder}/..data_tmp`, `${folder}/..data`);
}

async function opened(client: Promise<SdkClient>): Promise<SdkClient> {
  clients.push(await client);
  return client;
}

describe('a hundred reloads under load', () => {
  it('fail no call, keep what did not change, and end no stream', { timeout: 120_000 }, async () => {
    const { url, ops_url } = gateway;
    const [two, one, bound] = await Promise.all([
      opened(openV2({ pin: '2026-07-28' })(`${url}/demo/mcp`)),
      opened(openV1Current(`${url}/kept/mcp`)),
      opened(openV1Current(`${url}/legacy/mcp`)),
    ]);
    const subscription = await send(`${url}/demo/mcp`, modern('subscriptions/listen', TICKS, 's'));
    await subscription.shows(/acknowledged/);
    const pid = async (): Promise<string> => text(await whole(`${url}/modern/mcp`, tool('pid')));
    const [child, session_child] = [await pid(), await bound.call('pid')];
    let count = 0;
    const load = startLoad({
      'SDK 2, hosted': async () => assert.equal(await two.call('echo', { text: 'a' }), 'a'),
      'SDK 1, proxied': async () => assert.equal(await one.call('echo', { text: 'b' }), 'b'),
      'SDK 1, its own child': async () => assert.equal(await bound.call('count'), String(++count)),
      'raw, shared child': async () => assert.equal(await pid(), child),
      'raw, slow, at a runtime that changes': async () =>
        assert.equal(text(await whole(`${url}/changing/mcp`, tool('slow', { ms: 200 }))), 'slow'),
      'raw, streamed': async () => assert.match((await whole(`${url}/kept/mcp`, tool('count', { n: 3, ms: 50 }))).text, /"text":"counted"/),
    });
    for (let version = 1; version <= RELOADS; version++) {
      swap(version);
      if (version % 3 === 1) process.kill(gateway.pid, 'SIGHUP');
      if (version % 3 === 2) assert.equal((await whole(`${ops_url}/reload`, { method: 'POST' })).status, 200);
      await until(`version ${version}`, async () => (await whole(`${url}/v${version}/mcp`, tool('echo'))).status === 200);
    }
    assert.equal(text(await whole(`${url}/changing/mcp`, tool('whoami')), /"x-version\\":\\"(\d+)/), String(RELOADS));
    await load.stop();
    assert.deepEqual(load.lost, []);
    assert.ok(load.done > 200, `${load.done} calls`);
    assert.deepEqual([await pid(), await bound.call('pid')], [child, session_child]);
    const metric = (name: string, labels = {}): Promise<number> => gateway.metric(`portcullis_${name}`, labels);
    assert.ok((await metric('config_reloads_total', { outcome: 'succeeded' })) >= RELOADS);
    assert.equal(await metric('config_reloads_total', { outcome: 'failed' }), 0);
    assert.equal(await metric('runtime_restarts_total'), 0);
    assert.equal(await metric('streams', { kind: 'listen' }), 1);
    const failed = (outcome: string): Promise<number> => metric('requests_total', { outcome });
    assert.deepEqual(await Promise.all(['upstream_error', 'overloaded', 'timeout', 'cancelled'].map(failed)), [0, 0, 0, 0]);
    process.kill(gateway.pid, 'SIGTERM');
    assert.equal((await subscription.ended).how, 'whole');
    assert.match(subscription.text, /"id":"s","result":\{"resultType":"complete"/);
  });
});

function text({ text }: { readonly text: string }, pattern = /"text":"([^"]*)"/): string {
  return pattern.exec(text)?.[1] ?? text;
}
