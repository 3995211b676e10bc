// Modern official SDK clients, one that speaks no legacy revision and one that speaks both, use the reference server, which speaks no modern one, through
// a route: lists, reads, prompts, calls, progress, cancel, a lost session.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EverythingServer, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { openV1Current, openV2 } from '../support/e2e/sdk-clients.js';
import { methodOf, startTap, type Tap } from '../support/e2e/tap.js';
import { until } from '../support/e2e/until.js';

const RESOURCE = 'demo://resource/static/document/features.md';
const LONG = 'trigger-long-running-operation';
const MODERN = [
  ['pinned to 2026-07-28', openV2({ pin: '2026-07-28' })],
  ['of both eras', openV2('auto')],
] as const;

let everything: EverythingServer;
let tap: Tap;
let gateway: RunningGateway;
let url: string;

before(async () => {
  everything = await startEverything();
  tap = await startTap(everything.url);
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
gates: {}
runtimes: { everything: { kind: proxied, url: "${tap.url}" } }
routes: [{ path: /mcp, gates: [], public: true, runtime: everything }]
`);
  url = `${gateway.url}/mcp`;
});

after(async () => {
  assert.equal(await gateway?.stop(), 0);
  await tap?.close();
  await everything?.child.stop('SIGKILL');
});

for (const [name, openModern] of MODERN)
  describe(`a modern client of a legacy server over HTTP, ${name}`, () => {
    it('lists, reads, calls, sees progress, cancels', { timeout: 40_000 }, async () => {
      const client = await openModern(url);
      try {
        assert.equal(client.revision, '2026-07-28');
        const [tools, resources, prompts] = [await client.tools(), await client.resources(), await client.prompts()];
        assert.ok(tools.includes('trigger-sampling-request'), 'a tool that the server shows to clients that can be asked');
        assert.ok(tools.includes(LONG) && resources.includes(RESOURCE) && prompts.length >= 4);
        assert.match(await client.read(RESOURCE), /Everything/);
        assert.equal(await client.call('echo', { message: 'a — b 😀' }), 'Echo: a — b 😀');
        const progress: number[] = [];
        const done = await client.call(LONG, { duration: 0.2, steps: 4 }, { onprogress: (step) => void progress.push(step.progress) });
        assert.match(done, /Steps: 4/);
        assert.deepEqual(progress, [1, 2, 3, 4]);
        const abort = new AbortController();
        const call = client.call(LONG, { duration: 3, steps: 30 }, { signal: abort.signal, onprogress: () => abort.abort('enough') });
        await assert.rejects(call, /enough|abort/i);
        await until('the server is told of the cancellation', () => tap.seen.some((seen) => methodOf(seen) === 'notifications/cancelled'));
      } finally {
        await client.close();
      }
      assert.equal(await gateway.metric('portcullis_upstream_era', { era: 'legacy' }), 1);
      assert.equal(await gateway.metric('portcullis_bridge_sessions'), 1);
    });

    it('is asked by the server: elicitation, sampling, roots, one call at the server for each', { timeout: 40_000 }, async () => {
      const client = await openModern(url);
      try {
        const from = tap.seen.length;
        assert.match(await client.call('trigger-sampling-request', { prompt: 'a poem', maxTokens: 20 }), /sampled text/);
        assert.match(await client.call('trigger-elicitation-request'), /accept|User/i);
        assert.match(await client.call('get-roots-list'), /e2e root/);
        assert.ok(
          ['elicitation/create', 'sampling/createMessage', 'roots/list'].every((method) => client.asked.includes(method)),
          `${client.asked}`,
        );
        assert.equal(tap.seen.slice(from).filter((seen) => methodOf(seen) === 'tools/call').length, 3);
      } finally {
        await client.close();
      }
      await until('no call is held', async () => (await gateway.metric('portcullis_held_calls')) === 0);
    });

    it('a legacy client beside it is forwarded as before', { timeout: 20_000 }, async () => {
      const client = await openV1Current(url);
      assert.equal(await client.call('echo', { message: 'x' }), 'Echo: x');
      await client.close();
    });
  });
