import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Client, connect } from '../../../src/client.js';
import { serveStdio } from '../../../src/server.js';
import { runCli } from '../../support/cli.js';
import { folderWith } from '../../support/config-files.js';
import { server as doors, hub, noticed } from '../../support/doors-server.js';
import { until } from '../../support/e2e/until.js';
import { repositoryPath } from '../../support/repository.js';
import { type Running, running } from '../../support/running.js';

const folder = repositoryPath('test/support/transports');
const misbehaving = (how: string) => ({ kind: 'transport', module: 'file:./misbehaving.mjs', options: { how }, start_timeout_ms: 400 });

/** A gateway with one route to a runtime. */
async function serving(runtime: object): Promise<Running> {
  return running({ runtimes: { far: runtime }, routes: [{ path: '/mcp', public: true, runtime: 'far' }] }, { folder });
}
const calling = (gateway: Running, era: 'modern' | 'legacy', more: object = {}): Promise<Client> =>
  connect({ http: `${gateway.url}/mcp` }, { era, timeout_ms: 5_000, ...more });

describe('a runtime of kind transport', () => {
  let tcp: Server;
  let gateway: Running;
  const sockets = new Set<Socket>();
  before(async () => {
    tcp = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
      void serveStdio(doors, { input: socket, output: socket }).then(() => socket.end());
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    gateway = await serving({ kind: 'transport', module: 'file:../../../dist/examples/transport-tcp.js', options: { port } });
  });
  after(async () => {
    await gateway.close();
    await until('no connection is left', () => sockets.size === 0);
    tcp.close();
  });

  it('serves clients of both eras: calls, progress, questions, subscriptions', async () => {
    for (const era of ['modern', 'legacy'] as const) {
      const client = await calling(gateway, era, { elicit: () => ({ action: 'accept', content: { name: 'x' } }) });
      assert.equal(client.server.era, era);
      assert.equal(JSON.stringify((await client.callTool('say', { text: 'hé' })).content), '[{"type":"text","text":"hé nobody"}]');
      const told: number[] = [];
      await client.callTool('count', {}, { onProgress: ({ progress }) => told.push(progress) });
      assert.deepEqual(told, [1, 2, 3], era);
      assert.equal(JSON.stringify((await client.callTool('ask')).content), '[{"type":"text","text":"asked"}]');
      await client.close();
    }
    const client = await calling(gateway, 'modern');
    const changes = await client.listen({ tools: true });
    assert.deepEqual(changes.agreed, { tools: true });
    hub.toolsChanged();
    for await (const change of changes) {
      assert.deepEqual(change, { kind: 'tools' });
      break;
    }
    await client.close();
  });

  it('cancels what a client cancels', async () => {
    const client = await calling(gateway, 'modern');
    noticed.length = 0;
    const stop = new AbortController();
    const call = client.callTool('hang', {}, { signal: stop.signal }).catch((error: { code: string }) => error.code);
    await until('it runs', () => noticed.includes('began'));
    stop.abort();
    assert.equal(await call, 'CANCELLED');
    await until('it stopped', () => noticed.includes('aborted'));
    await client.close();
  });

  it('answers whoever waits when the connection breaks, and connects anew', async () => {
    const client = await calling(gateway, 'modern');
    noticed.length = 0;
    const call = client.callTool('hang').catch((error: { status: number }) => error.status);
    await until('it runs', () => noticed.includes('began'));
    for (const socket of sockets) socket.destroy();
    assert.equal(await call, 502);
    await until('it answers again', async () => (await client.callTool('say', { text: 'back' }).catch(() => undefined)) !== undefined);
    assert.ok((await gateway.metric('portcullis_runtime_restarts_total', { runtime: 'far', reason: 'exit' })) >= 1);
    await client.close();
  });
});

describe('a runtime whose transport misbehaves', () => {
  for (const [how, wanted] of Object.entries({
    nothing: 'ok',
    'start throws': 503,
    'start never ends': 503,
    'init fails': 503,
    'versions are a number': 503,
    'send throws': -32603,
    'send returns nothing': -32603,
    'send fails': -32603,
    'encode throws': -32603,
    'receive gets junk': 'ok',
    'closes in a call': 502,
    'answers twice': 'ok',
    'open throws': 503,
    'opens half': 503,
  })) {
    it(how, async () => {
      const gateway = await serving(misbehaving(how));
      const client = await calling(gateway, 'modern').catch((error: { status?: number }) => error.status);
      if (typeof client !== 'object') assert.equal(client, wanted);
      else {
        const called = await client
          .callTool('any')
          .catch((error: { status?: number; rpc?: { code: number } }) => error.status ?? error.rpc?.code);
        assert.equal(typeof called === 'object' ? (called.content as readonly { text: string }[])[0]?.text : called, wanted);
        await client.close();
      }
      await gateway.close();
    });
  }

  it('a module that cannot be loaded is a problem of the config', async () => {
    const told = (runtime: object) =>
      serving(runtime).then(
        () => assert.fail('it started'),
        (error: Error) => error.message,
      );
    assert.match(await told({ kind: 'transport', module: 'file:./none.mjs' }), /^runtimes\.far\.module: could not be loaded: /);
    assert.match(await told({ kind: 'transport', module: 'file:./contract-2.mjs' }), /^runtimes\.far\.module: speaks transport contract 2/);
    assert.match(
      await told({ kind: 'transport', module: 'file:./misbehaving.mjs', options: { hows: 1 } }),
      /runtimes\.far\.options\.hows: unknown key; did you mean how\?/,
    );
    assert.match(await told({ kind: 'transport', module: 'file:./throws.mjs' }), /^runtimes\.far\.module: cannot be looked at: null$/);
    assert.match(await told({ kind: 'transport', module: 'none' }), /runtimes\.far\.module/);
  });

  it('validate tells it, with the place', async () => {
    const yaml = `runtimes:\n  far: { kind: transport, module: file:./misbehaving.mjs, options: { how: 'nothin' } }\nroutes: [{ path: /mcp, public: true, runtime: far }]\n`;
    const files = folderWith({ 'portcullis.yaml': yaml, 'misbehaving.mjs': readFileSync(`${folder}/misbehaving.mjs`, 'utf8') });
    const { code, stderr } = await runCli(['validate', '-c', 'portcullis.yaml'], files.folder);
    files.remove();
    assert.equal(code, 78);
    assert.match(stderr, /portcullis\.yaml:2:\d+ runtimes\.far\.options\.how: must be one of nothing, /);
  });
});
