import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createHub, defineServer } from '../../src/server.js';
import { type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('versioning', () => {
  it('BASE-01 VER-02 DISC-01 server/discover says what is served and who serves', async () => {
    const { result } = (await gateway.ask('server/discover')).message;
    assert.deepEqual(result, {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        extensions: { 'com.example/echo': {} },
      },
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'protocol', version: '1.0.0' } },
    });
  });

  it('VER-03 an extension id is a prefix and a name of _meta', () => {
    const define = (id: string) =>
      defineServer({ name: 's', version: '1', changes: createHub(), extensions: { [id]: { methods: { 'x/y': { run: () => ({}) } } } } });
    for (const id of ['com.example/thing', 'a/b', 'a-1.b2/x_y.z-1']) define(id);
    for (const id of [
      'thing',
      '/thing',
      'com.example/',
      'com..example/x',
      '1a/b',
      'a-/b',
      'a.b-/x',
      'com.example/x-',
      'com.example/-x',
      'a b/c',
    ])
      assert.throws(() => define(id), /extension id/, id);
  });

  it('VER-04 a method of an extension is not there for a client that did not declare it', async () => {
    const declared = { extensions: { 'com.example/echo': {} } };
    const said = await gateway.ask('echo/say', { text: 'x' }, { capabilities: declared });
    assert.deepEqual([said.status, said.message.result.text], [200, 'x']);
    for (const capabilities of [{}, { extensions: {} }, { extensions: { 'com.example/other': {} } }]) {
      const { status, message } = await gateway.ask('echo/say', { text: 'x' }, { capabilities });
      assert.deepEqual([status, message.error.code], [404, -32601]);
    }
  });
});
