import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHub, type ServerDefinition } from '../../../src/server.js';
import { hosting } from '../../support/hosted.js';

const ICONS = [{ src: 'https://example.com/i.png' }];
const LINK = { type: 'resource_link', uri: 'x:1', name: 'one' } as const;
const SERVER: Partial<ServerDefinition> = {
  title: 'Test',
  description: 'A server.',
  icons: ICONS,
  instructions: 'Be kind.',
  tools: [
    {
      name: 'sum',
      title: 'Sum',
      icons: ICONS,
      annotations: { readOnlyHint: true },
      output: { type: 'object' },
      _meta: { 'com.example/a': 1 },
      run: () => ({ content: [LINK], structuredContent: { sum: 3 } }),
    },
    { name: 'list', output: { type: 'array' }, run: () => ({ structuredContent: [1] }) },
  ],
  resources: [{ uri: 'x:1', name: 'one', title: 'One', read: () => 'text' }],
};
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

describe('hosted servers in legacy revisions', () => {
  it('negotiate, and give a session id', async () => {
    const host = hosting(SERVER);
    const initialize = (protocolVersion: unknown, revision = '2025-03-26') => host.ask('initialize', { protocolVersion }, { revision });
    for (const revision of LEGACY) {
      const { status, body, answer } = await initialize(revision);
      assert.deepEqual([status, body.result.protocolVersion, body.result.instructions], [200, revision, 'Be kind.']);
      assert.deepEqual(body.result.capabilities, { tools: {}, resources: {}, logging: {} });
      assert.deepEqual(answer.headers.slice(0, 3), ['content-type', 'application/json', 'mcp-session-id']);
    }
    assert.equal((await initialize('2026-07-28')).body.result.protocolVersion, '2025-11-25');
    assert.equal((await initialize('1900-01-01')).body.result.protocolVersion, '2025-11-25');
    const wrong = await initialize(7);
    assert.deepEqual([wrong.body.error.code, wrong.answer.headers], [-32602, ['content-type', 'application/json']]);
    await host.close();
  });

  it('say of themselves what each revision knows', async () => {
    const host = hosting(SERVER);
    const info = async (revision: string) =>
      (await host.ask('initialize', { protocolVersion: revision }, { revision })).body.result.serverInfo;
    assert.deepEqual(await info('2025-11-25'), { name: 'test', version: '1', title: 'Test', description: 'A server.', icons: ICONS });
    assert.deepEqual(await info('2025-06-18'), { name: 'test', version: '1', title: 'Test' });
    assert.deepEqual(await info('2025-03-26'), { name: 'test', version: '1' });
    await host.close();
  });

  it('list what each revision knows of a component', async () => {
    const host = hosting(SERVER);
    const tools = async (revision: string) => (await host.ask('tools/list', {}, { revision })).body;
    const input = { type: 'object', additionalProperties: false };
    const sum = { name: 'sum', inputSchema: input };
    assert.deepEqual((await tools('2025-11-25')).result, {
      tools: [
        {
          ...sum,
          title: 'Sum',
          icons: ICONS,
          annotations: { readOnlyHint: true },
          outputSchema: { type: 'object' },
          _meta: { 'com.example/a': 1 },
        },
        { name: 'list', inputSchema: input },
      ],
    });
    assert.deepEqual((await tools('2025-06-18')).result.tools[0], {
      ...sum,
      title: 'Sum',
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object' },
      _meta: { 'com.example/a': 1 },
    });
    assert.deepEqual((await tools('2025-03-26')).result.tools[0], { ...sum, annotations: { readOnlyHint: true } });
    assert.deepEqual((await tools('2024-11-05')).result.tools[0], sum);
    assert.deepEqual((await tools('2026-07-28')).result.tools[1].outputSchema, { type: 'array' });
    await host.close();
  });

  it('send what each revision knows of a result', async () => {
    const host = hosting(SERVER);
    const call = async (name: string, revision: string) => (await host.ask('tools/call', { name }, { revision })).body.result;
    assert.deepEqual(await call('sum', '2025-06-18'), { content: [LINK], structuredContent: { sum: 3 } });
    assert.deepEqual(await call('sum', '2025-03-26'), { content: [{ type: 'text', text: 'x:1' }] });
    assert.deepEqual(await call('list', '2025-11-25'), { content: [{ type: 'text', text: '[1]' }] });
    assert.deepEqual((await call('list', '2026-07-28')).structuredContent, [1]);
    await host.close();
  });

  it('tell of no changes, which could not reach a client without a session, and answer its subscribe all the same', async () => {
    const changes = createHub({ tools: true, resources: true, updates: true });
    const host = hosting({ ...SERVER, changes });
    for (const revision of LEGACY) {
      const { body } = await host.ask('initialize', { protocolVersion: revision }, { revision });
      assert.deepEqual(body.result.capabilities, { tools: {}, resources: {}, logging: {} });
      const ask = async (method: string, uri: string) => (await host.ask(method, { uri }, { revision })).body;
      assert.deepEqual((await ask('resources/subscribe', 'x:1')).result, {});
      assert.deepEqual((await ask('resources/unsubscribe', 'x:1')).result, {});
      assert.equal((await ask('resources/subscribe', 'x:2')).error.code, -32002);
    }
    assert.equal(changes.subscribers, 0);
    await host.close();
  });

  it('answer ping, logging/setLevel and errors in HTTP 200', async () => {
    const host = hosting(SERVER);
    for (const revision of LEGACY) {
      const ask = async (method: string, params: object = {}) => {
        const { status, body } = await host.ask(method, params, { revision });
        return [status, body.result ?? body.error.code];
      };
      assert.deepEqual(await ask('ping'), [200, {}]);
      assert.deepEqual(await ask('logging/setLevel', { level: 'debug' }), [200, {}]);
      assert.deepEqual(await ask('logging/setLevel', { level: 'none' }), [200, -32602]);
      assert.deepEqual(await ask('resources/read', { uri: 'x:1' }), [200, { contents: [{ uri: 'x:1', text: 'text' }] }]);
      assert.deepEqual(await ask('resources/read', { uri: 'x:2' }), [200, -32002]);
      assert.deepEqual(await ask('server/discover'), [200, -32601]);
      assert.deepEqual(await ask('subscriptions/listen', { notifications: {} }), [200, -32601]);
      assert.deepEqual(await ask('tools/list', { cursor: 'x' }), [200, -32602]);
    }
    await host.close();
  });
});
