// Legacy official SDK clients use an SDK v2 server that rejects legacy clients, through a route with `protocol: auto`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GREETING, WATCHED } from '../support/e2e/client-tour.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { type ModernServer, startModernServer } from '../support/e2e/modern-server.js';
import { openV1Current, openV2, openV12 } from '../support/e2e/sdk-clients.js';
import { methodOf, startTap, type Tap } from '../support/e2e/tap.js';
import { until } from '../support/e2e/until.js';

let server: ModernServer;
let tap: Tap;
let gateway: RunningGateway;
let url: string;
let completed: readonly string[];

before(async () => {
  server = await startModernServer('reject');
  const direct = await openV2({ pin: '2026-07-28' })(server.url);
  completed = await direct.complete(GREETING, 'arg1', 'pa');
  await direct.close();
  tap = await startTap(server.url);
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
runtimes: { modern: { kind: proxied, url: "${tap.url}", protocol: auto } }
routes: [{ path: /mcp, public: true, runtime: modern }]
`);
  url = `${gateway.url}/mcp`;
  await until('the verdict', async () => (await gateway.metric('portcullis_upstream_era', { era: 'modern' })) === 1);
});

after(async () => {
  assert.equal(await gateway?.stop(), 0);
  await tap?.close();
  await server?.close();
});

const CLIENTS = [
  ['SDK 1.12', openV12, false],
  ['SDK 1 current', openV1Current, true],
  ['SDK 2 legacy', openV2('legacy'), true],
] as const;

describe('legacy clients of a modern server over HTTP', () => {
  it('are refused by the server itself', async () => {
    await assert.rejects(openV1Current(server.url));
  });

  for (const [name, open, elicits] of CLIENTS)
    it(`${name} lists, reads, calls, sees progress, hears logs, is asked`, { timeout: 40_000 }, async () => {
      const client = await open(url);
      try {
        assert.notEqual(client.session, undefined);
        assert.ok((await client.tools()).includes('hang'));
        assert.ok((await client.resources()).includes(WATCHED));
        assert.ok((await client.prompts()).length >= 4);
        assert.equal(await client.read(WATCHED), 'Watched resource content');
        assert.equal(
          await client.prompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' }),
          "Prompt with arguments: arg1='a', arg2='b'",
        );
        assert.deepEqual(await client.complete(GREETING, 'arg1', 'pa'), completed);
        const progress: number[] = [];
        await client.call('test_tool_with_progress', {}, { onprogress: (step) => void progress.push(step.progress) });
        assert.deepEqual(progress, [0, 50, 100]);
        await client.setLevel('debug');
        await client.call('test_tool_with_logging');
        assert.ok(client.notified.filter((method) => method === 'notifications/message').length > 0);
        assert.match(await client.call('test_input_required_result_sampling'), /sampled text/);
        assert.match(await client.call('test_input_required_result_list_roots'), /root/);
        if (elicits) assert.match(await client.call('test_input_required_result_multi_round'), /./);
        assert.ok(client.asked.length >= (elicits ? 4 : 2), `${client.asked}`);
      } finally {
        await client.terminate();
        await client.close();
      }
    });

  it('a change and an update reach the client that listens', { timeout: 20_000 }, async () => {
    const client = await openV1Current(url);
    try {
      await until('the subscription', () => server.listener_count === 1);
      await client.subscribe(WATCHED);
      await until('one subscription is left', () => server.listener_count === 1);
      server.notify.toolsChanged();
      server.notify.resourceUpdated(WATCHED);
      await until('both notices', () => client.notified.length === 2);
      assert.deepEqual([...client.notified].sort(), [
        'notifications/resources/updated test://watched-resource',
        'notifications/tools/list_changed',
      ]);
    } finally {
      await client.terminate();
      await client.close();
    }
    await until('the subscription is over', () => server.listener_count === 0);
  });

  it('a call that is cancelled stops in the server', { timeout: 20_000 }, async () => {
    const client = await openV1Current(url);
    try {
      const abort = new AbortController();
      const call = client.call('hang', { label: 'bridged', talk: true }, { signal: abort.signal, onprogress: () => abort.abort('enough') });
      await assert.rejects(call, /enough|abort/i);
      await until('the handler notices', () => server.hanging.some(({ label, aborted }) => label === 'bridged' && aborted));
    } finally {
      await client.close();
    }
  });

  it('the server was asked once for legacy revisions, and never saw a session', () => {
    assert.equal(tap.seen.filter((seen) => methodOf(seen) === 'initialize').length, 1);
    assert.ok(tap.seen.every(({ headers }) => headers['mcp-session-id'] === undefined));
  });
});
