import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Identity } from '../../../src/contract/identity.js';
import { defineTool, elicit, type ServerDefinition } from '../../../src/server.js';
import { type AskInit, type Hosting, hosting, messages } from '../../support/hosted.js';

const SERVER: Partial<ServerDefinition> = {
  tools: [
    { name: 'who', run: (_input, { client, revision }) => JSON.stringify({ ...client, revision }) },
    {
      name: 'log',
      run: (_input, context) => {
        for (const level of ['debug', 'info', 'error'] as const) context.log(level, level);
        return 'logged';
      },
    },
    defineTool({
      name: 'ask',
      run: (_input, context) => context.inputRequired({ requests: { sure: elicit('Sure?', { type: 'object', properties: {} }) } }),
    }),
  ],
};
const KEYS = ['key 1'];
const ALICE: Identity = { principal: 'alice', issuer: 'https://id.example.com', scopes: new Set(), facts: {} };
const INFO = { name: 'Größe', version: '1.2' };

describe('sessions of legacy clients on hosted servers', () => {
  const begin = async (host: Hosting, params: object, init: AskInit = {}): Promise<string> => {
    const { answer } = await host.ask('initialize', { protocolVersion: '2025-11-25', ...params }, { revision: '2025-11-25', ...init });
    return answer.headers[answer.headers.indexOf('mcp-session-id') + 1] as string;
  };
  const inside = (id: string, init: AskInit = {}): AskInit => ({ revision: '2025-11-25', ...init, headers: { 'Mcp-Session-Id': id } });
  const who = async (host: Hosting, init: AskInit): Promise<unknown> =>
    JSON.parse((await host.ask('tools/call', { name: 'who' }, init)).body.result.content[0].text);

  it('tell handlers what the client said of itself, on every replica with the same keys', async () => {
    const [one, two] = [hosting(SERVER, {}, KEYS), hosting(SERVER, {}, ['key 2', ...KEYS])];
    const capabilities = {
      elicitation: { form: {}, url: {}, x: {} },
      sampling: { tools: {} },
      roots: { listChanged: true },
      experimental: {},
    };
    const id = await begin(one, { capabilities, clientInfo: { ...INFO, title: 'T' } });
    assert.match(id, /^[\x21-\x7e]{1,320}$/);
    const told = {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
      info: INFO,
      revision: '2025-11-25',
    };
    for (const host of [one, two, one]) assert.deepEqual(await who(host, inside(id)), told);
    await Promise.all([one.close(), two.close()]);
  });

  it('are bound to their caller; without an id that opens a client is served as one that said nothing', async () => {
    const host = hosting(SERVER);
    const other = hosting(SERVER);
    const id = await begin(host, { capabilities: { roots: {} }, clientInfo: INFO }, { identity: ALICE });
    const nothing = { capabilities: {}, revision: '2025-11-25' };
    assert.deepEqual(await who(host, inside(id, { identity: ALICE })), { capabilities: { roots: {} }, info: INFO, revision: '2025-11-25' });
    for (const init of [inside(id), inside(`${id.slice(0, -1)}!`), inside('x'.repeat(5000)), { revision: '2025-11-25' }])
      assert.deepEqual(await who(host, init), nothing);
    assert.deepEqual(await who(other, inside(id, { identity: ALICE })), nothing);
    assert.deepEqual(await who(host, { headers: { 'Mcp-Session-Id': id }, identity: ALICE }), { capabilities: {}, revision: '2026-07-28' });
    await Promise.all([host.close(), other.close()]);
  });

  it('leave out a name that is too long, and params that are not what they should be', async () => {
    const host = hosting(SERVER);
    for (const params of [
      { clientInfo: { name: 'n'.repeat(200), version: '1' } },
      { clientInfo: { name: 7 }, capabilities: [] },
      { clientInfo: null, capabilities: { roots: true, elicitation: null } },
      {},
    ])
      assert.deepEqual(await who(host, inside(await begin(host, params))), { capabilities: {}, revision: '2025-11-25' });
    await host.close();
  });

  it('keep the log level that was set, each its own, on the replica that was told', async () => {
    const host = hosting(SERVER, {}, KEYS);
    const replica = hosting(SERVER, {}, KEYS);
    const [loud, quiet] = [await begin(host, {}), await begin(host, {})];
    const logged = async (where: Hosting, init: AskInit): Promise<string[]> => {
      const exchange = where.send('tools/call', { name: 'log' }, init);
      await exchange.done;
      return messages(exchange).flatMap(({ params }) => params?.level ?? []);
    };
    await host.ask('logging/setLevel', { level: 'debug' }, inside(loud));
    await host.ask('logging/setLevel', { level: 'error' }, inside(quiet));
    assert.deepEqual(await logged(host, inside(loud)), ['debug', 'info', 'error']);
    assert.deepEqual(await logged(host, inside(quiet)), ['error']);
    assert.deepEqual(await logged(replica, inside(loud)), ['info', 'error']);
    assert.deepEqual(await logged(host, { revision: '2025-11-25' }), ['info', 'error']);
    for (let i = 0; i < 4096; i++) await host.ask('ping', {}, inside(await begin(host, {})));
    assert.deepEqual(await logged(host, inside(quiet)), ['info', 'error'], 'forgotten as the oldest of 4 097');
    await Promise.all([host.close(), replica.close()]);
  });

  it('ask no client for what it did not declare', async () => {
    const host = hosting(SERVER);
    const without = await host.ask('tools/call', { name: 'ask' }, inside(await begin(host, { capabilities: { sampling: {} } })));
    assert.deepEqual(without.body.error.data.requiredCapabilities, { elicitation: { form: {} } });
    const exchange = host.send('tools/call', { name: 'ask' }, inside(await begin(host, { capabilities: { elicitation: {} } })));
    await exchange.wrote(1);
    assert.equal(messages(exchange)[0].method, 'elicitation/create');
    exchange.cancel('client');
    await host.close();
  });

  it('know the revision of a client that declares it at the handshake alone', async () => {
    const host = hosting(SERVER);
    const id = await begin(host, { protocolVersion: '2024-11-05' });
    const call = inside(id, { revision: '2025-03-26', declared: false });
    assert.deepEqual(await who(host, call), { capabilities: {}, revision: '2024-11-05' });
    assert.deepEqual(await who(host, inside(id)), { capabilities: {}, revision: '2025-11-25' });
    await host.close();
  });
});
