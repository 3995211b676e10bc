// Two gateways with one session key are one gateway to a client: a session begun at one goes on at the other, also after a restart.
// A gateway with another key knows nothing of it, and the client begins anew.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EverythingServer, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { openV1Current } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';

const RESOURCE = 'demo://resource/static/document/features.md';
const OLD = 'an-old-session-key-of-32-characters';
const NEW = 'the-new-session-key-of-32-characters';

let everything: EverythingServer;
const running: RunningGateway[] = [];

/** A replica whose first key seals and whose every key opens. */
async function replica(...keys: readonly string[]): Promise<RunningGateway> {
  const gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0, sessions: { keys: ${JSON.stringify(keys)} } }
ops: { port: 0 }
runtimes: { everything: { kind: proxied, url: "${everything.url}" } }
routes: [{ path: /mcp, public: true, runtime: everything }]
`);
  running.push(gateway);
  return gateway;
}

before(async () => void (everything = await startEverything()));

after(async () => {
  await Promise.all(running.map((gateway) => gateway.stop()));
  await everything?.child.stop('SIGKILL');
});

describe('replicas', () => {
  it('a session goes on at a replica that has its key, when the first has gone, and while keys rotate', { timeout: 30_000 }, async () => {
    const [one, two] = await Promise.all([replica(OLD), replica(NEW, OLD)]);
    const first = await openV1Current(`${one.url}/mcp`);
    await first.call('echo', { message: 'at one' });
    const { session = '' } = first;
    await first.close();
    assert.equal(await one.stop(), 0);

    const second = await openV1Current(`${two.url}/mcp`, { session });
    assert.equal(await second.call('echo', { message: 'at two' }), 'Echo: at two');
    await second.subscribe(RESOURCE);
    await second.call('toggle-subscriber-updates');
    assert.equal(second.session, session, 'the id that the client knows stays as it is');
    await second.terminate();
    await until('the server to end the session', () => /Received session termination request/.test(everything.child.output));
    await second.close();
  });

  it('a gateway without the key answers 404, and a client that begins anew is served', { timeout: 30_000 }, async () => {
    const [one, stranger] = await Promise.all([replica(OLD), replica(NEW)]);
    const first = await openV1Current(`${one.url}/mcp`);
    const { session = '' } = first;
    await first.close();

    const lost = await openV1Current(`${stranger.url}/mcp`, { session });
    await assert.rejects(lost.call('echo', { message: 'lost' }), /SESSION_NOT_FOUND/);
    await lost.close();
    const anew = await openV1Current(`${stranger.url}/mcp`);
    assert.equal(await anew.call('echo', { message: 'anew' }), 'Echo: anew');
    assert.notEqual(anew.session, session);
    await anew.close();
  });
});
