import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('logging', () => {
  const logged = async (meta: Readonly<Record<string, unknown>>) => {
    const { messages } = await gateway.ask('tools/call', { name: 'steps' }, { meta });
    return messages.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.level);
  };

  it('LOG-02 without a level nothing is sent, with one what is at or above it', async () => {
    assert.deepEqual(await logged({}), []);
    assert.deepEqual(await logged({ progressToken: 1 }), []);
    assert.deepEqual(await logged({ 'io.modelcontextprotocol/logLevel': 'debug' }), ['debug', 'info', 'error']);
    assert.deepEqual(await logged({ 'io.modelcontextprotocol/logLevel': 'warning' }), ['error']);
    assert.deepEqual(await logged({ 'io.modelcontextprotocol/logLevel': 'emergency' }), []);
  });

  it('LOG-03 messages come on the stream of their own request: neither on another’s nor on a subscription', async () => {
    const abort = new AbortController();
    const listening = await gateway.open(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { meta: { 'io.modelcontextprotocol/logLevel': 'debug' }, signal: abort.signal },
    );
    const [with_level, without] = await Promise.all([logged({ 'io.modelcontextprotocol/logLevel': 'debug' }), logged({})]);
    assert.deepEqual([with_level.length, without.length], [3, 0]);
    const { value } = await listening.body!.getReader().read();
    assert.equal(
      Buffer.from(value ?? [])
        .toString()
        .match(/"method"/g)?.length,
      1,
    );
    abort.abort();
  });

  it('a level that is none is -32602', async () => {
    for (const level of ['loud', '', 7, null, 'none']) {
      const { message } = await gateway.ask('tools/call', { name: 'steps' }, { meta: { 'io.modelcontextprotocol/logLevel': level } });
      assert.equal(message.error?.code, -32602, JSON.stringify(level));
    }
  });
});
