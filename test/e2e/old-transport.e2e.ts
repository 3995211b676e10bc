// The transport of revision 2024-11-05, HTTP+SSE: the reference server in its `sse` mode behind a route, used by official SDK clients that know Streamable HTTP alone; and the
// official client of that transport on routes of every kind with `sse: true`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { everything } from '../support/e2e/client-tour.js';
import { type EverythingServer, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { openV1Current, openV1Sse, openV2, type SdkClient } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';

const RESOURCE = 'demo://resource/static/document/features.md';
const LONG = 'trigger-long-running-operation';

let old: EverythingServer;
let current: EverythingServer;
let gateway: RunningGateway;

before(async () => {
  old = await startEverything('sse');
  current = await startEverything();
  const program = repositoryPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
gates:
  shut: { use: ip-allow, options: { allow: [10.0.0.1] } }
runtimes:
  old: { kind: proxied, url: "${old.url}", transport: sse }
  current: { kind: proxied, url: "${current.url}" }
  child: { kind: stdio, command: "${process.execPath}", args: ["${program}", stdio] }
  hosted: { kind: hosted, module: ${repositoryPath('dist/test/support/e2e/hosted-server.js')} }
routes:
  - { path: /old, gates: [], public: true, runtime: old, sse: true }
  - { path: /current, gates: [], public: true, runtime: current, sse: true }
  - { path: /child, gates: [], public: true, runtime: child, sse: true }
  - { path: /hosted, gates: [], public: true, runtime: hosted, sse: true }
  - { path: /shut, gates: [shut], public: true, runtime: current, sse: true }
  - { path: /off, gates: [], public: true, runtime: current }
`);
});

after(async () => {
  await gateway?.stop();
  await old?.child.stop('SIGKILL');
  await current?.child.stop('SIGKILL');
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
  // The SDK drops a progress that comes together with the answer.
  assert.deepEqual(progress.slice(0, 3), [1, 2, 3]);
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
    const sessions = () => gateway.metric('portcullis_runtime_sessions', { runtime: 'old' });
    const before = (await sessions()) ?? 0;
    const client = await openV1Current(`${gateway.url}/old`);
    assert.equal(await sessions(), before + 1);
    await client.terminate();
    await client.close();
    await until('the session is gone', async () => (await sessions()) === before);
  });
});

describe('a client of HTTP+SSE', () => {
  for (const route of ['current', 'child', 'old']) {
    it(`lists, reads, calls, sees progress and is asked on a route to ${route}`, { timeout: 60_000 }, async () => {
      const client = await openV1Sse(`${gateway.url}/${route}/sse`);
      try {
        await lists(client);
        await isAsked(client);
        await client.subscribe(RESOURCE);
      } finally {
        await client.close();
      }
    });
  }

  it('does all that a client of Streamable HTTP does on a hosted server', { timeout: 60_000 }, async () => {
    const client = await openV1Sse(`${gateway.url}/hosted/sse`);
    try {
      const tour = await everything(client, true, false);
      assert.deepEqual(tour.progress, [0, 50, 100]);
      assert.deepEqual(tour.together.length, 3);
      assert.equal(tour.read.length > 0 && tour.prompt.length > 0 && tour.completed.length > 0, true);
      assert.match(tour.sampled, /sampled text/);
      assert.match(tour.elicited ?? '', /accept/);
      assert.deepEqual(tour.asked, ['sampling/createMessage', 'elicitation/create']);
      assert.ok(tour.logged >= 1);
    } finally {
      await client.close();
    }
  });

  it('leaves nothing behind', { timeout: 20_000 }, async () => {
    await until('no session and no stream is left', async () => {
      const streams = (await gateway.metric('portcullis_streams', { route: '/child', kind: 'get' })) ?? 0;
      return streams === 0 && (await gateway.metric('portcullis_runtime_sessions', { runtime: 'child' })) === 0;
    });
  });

  it('meets the gates of the route at both of its requests', async () => {
    const stream = await fetch(`${gateway.url}/shut/sse`, { headers: { accept: 'text/event-stream' } });
    const headers = { 'content-type': 'application/json' };
    const message = await fetch(`${gateway.url}/shut/sse/message?id=x`, { method: 'POST', headers, body: '{}' });
    assert.deepEqual([stream.status, message.status], [403, 403]);
    assert.equal(await gateway.metric('portcullis_requests_total', { route: '/shut', outcome: 'refused' }), 2);
  });

  it('is not served where the route does not say so', async () => {
    assert.equal((await fetch(`${gateway.url}/off/sse`, { headers: { accept: 'text/event-stream' } })).status, 404);
    const wrong = await fetch(`${gateway.url}/current/sse`, { method: 'POST', body: '{}' });
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET']);
    assert.equal((await fetch(`${gateway.url}/current/sse/message`)).status, 405);
  });

  it('is told by the end of its stream that the gateway drains', { timeout: 20_000 }, async () => {
    const response = await fetch(`${gateway.url}/child/sse`, { headers: { accept: 'text/event-stream' } });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const ended = response.text();
    assert.equal(await gateway.stop(), 0);
    assert.match(await ended, /^event: endpoint\ndata: \/child\/sse\/message\?id=\S+\n\n$/);
  });
});
