// The transport of revision 2024-11-05, HTTP+SSE: the reference server in its `sse` mode behind a route, used by official SDK clients that know Streamable HTTP alone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EverythingServer, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { openV1Current, openV2, type SdkClient } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';

const RESOURCE = 'demo://resource/static/document/features.md';
const LONG = 'trigger-long-running-operation';

let old: EverythingServer;
let gateway: RunningGateway;

before(async () => {
  old = await startEverything('sse');
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
gates: {}
runtimes: { old: { kind: proxied, url: "${old.url}", transport: sse } }
routes: [{ path: /old, gates: [], public: true, runtime: old }]
`);
});

after(async () => {
  assert.equal(await gateway?.stop(), 0);
  await old?.child.stop('SIGKILL');
});

async function lists(client: SdkClient): Promise<void> {
  assert.ok((await client.tools()).includes(LONG));
  assert.ok((await client.resources()).includes(RESOURCE));
  assert.ok((await client.prompts()).length >= 4);
  assert.match(await client.read(RESOURCE), /Everything/);
  assert.equal(await client.call('echo', { message: 'a — b 😀' }), 'Echo: a — b 😀');
  const progress: number[] = [];
  const done = await client.call(LONG, { duration: 0.2, steps: 4 }, { onprogress: (step) => void progress.push(step.progress) });
  assert.match(done, /Steps: 4/);
  assert.deepEqual(progress, [1, 2, 3, 4]);
}

async function isAsked(client: SdkClient): Promise<void> {
  assert.match(await client.call('trigger-sampling-request', { prompt: 'a poem', maxTokens: 20 }), /sampled text/);
  assert.match(await client.call('trigger-elicitation-request'), /accept|User/i);
  assert.match(await client.call('get-roots-list'), /e2e root/);
}

describe('a server of HTTP+SSE', () => {
  for (const [name, open] of [
    ['a legacy client', openV1Current],
    ['a modern client', openV2({ pin: '2026-07-28' })],
  ] as const) {
    it(`${name} lists, reads, calls, sees progress and is asked`, { timeout: 60_000 }, async () => {
      const client = await open(`${gateway.url}/old`);
      try {
        await lists(client);
        await isAsked(client);
      } finally {
        await client.close();
      }
    });
  }

  it('a client that ends its session ends that on the server', { timeout: 20_000 }, async () => {
    const before = (await gateway.metric('portcullis_bridge_sessions')) ?? 0;
    const client = await openV1Current(`${gateway.url}/old`);
    assert.equal(await gateway.metric('portcullis_bridge_sessions'), before + 1);
    await client.terminate();
    await client.close();
    await until('the session is gone', async () => (await gateway.metric('portcullis_bridge_sessions')) === before);
  });
});
