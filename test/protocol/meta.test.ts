import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { headersOf, messagesIn, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { everyMessage, REQUESTS } from '../support/protocol/requests.js';
import { hub } from '../support/protocol/server.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('base protocol, _meta', () => {
  it('BASE-31 values at reserved keys are taken for nothing that they are not', async () => {
    for (const odd of [null, 7, 'x', [], {}, { name: 7 }, true]) {
      for (const key of [
        'io.modelcontextprotocol/clientInfo',
        'traceparent',
        'baggage',
        'io.modelcontextprotocol/unheard-of',
        'com.mcp/x',
      ]) {
        const { status, message } = await gateway.ask('tools/call', { name: 'client' }, { meta: { [key]: odd } });
        assert.deepEqual([status, message.result?.content[0].text], [200, '{"capabilities":{}}'], `${key} ${JSON.stringify(odd)}`);
      }
    }
  });

  it('BASE-32 BASE-33 BASE-34 the keys of every _meta that is sent are well-formed', async () => {
    const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
    const key_pattern = new RegExp(`^(?:${label}(?:\\.${label})*/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`);
    const keys = new Set((await everyMessage(gateway)).flatMap(({ result, params }) => Object.keys((result ?? params)?._meta ?? {})));
    assert.deepEqual([...keys].sort(), ['io.modelcontextprotocol/serverInfo', 'io.modelcontextprotocol/subscriptionId']);
    for (const key of keys) assert.match(key, key_pattern);
  });

  it('BASE-36 BASE-37 a request without a required field is 400 with -32602', async () => {
    for (const meta of [
      { 'io.modelcontextprotocol/protocolVersion': undefined },
      { 'io.modelcontextprotocol/clientCapabilities': undefined },
      { 'io.modelcontextprotocol/protocolVersion': undefined, 'io.modelcontextprotocol/clientCapabilities': undefined },
    ]) {
      for (const [method, params] of REQUESTS) {
        const { status, message } = await gateway.ask(method, params, { meta, id: '"own"' });
        assert.deepEqual([status, message.id, message.error?.code], [400, 'own', -32602], `${method} ${Object.keys(meta)}`);
      }
    }
    const bare = await gateway.post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', headersOf('tools/list'));
    assert.deepEqual([bare.status, bare.message.error.code], [400, -32602]);
  });

  it('BASE-39 BASE-40 what needs a capability that was not declared is 400 with -32021 and names it', async () => {
    for (const [what, declared, missing] of [
      ['name', {}, { elicitation: { form: {} } }],
      ['name', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
      ['word', { elicitation: {} }, { sampling: {} }],
      ['roots', { elicitation: {}, sampling: {} }, { roots: {} }],
    ] as const) {
      const call = { name: 'ask_for', arguments: { what } };
      const { status, message } = await gateway.ask('tools/call', call, { capabilities: declared, id: '"own"' });
      assert.deepEqual([status, message.id, message.error?.code], [400, 'own', -32021], what);
      assert.deepEqual(message.error.data.requiredCapabilities, missing);
    }
  });

  it('BASE-41 every notification of a subscription has its id', async () => {
    const abort = new AbortController();
    const filter = { toolsListChanged: true, resourceSubscriptions: ['test://text'] };
    const response = await gateway.open('subscriptions/listen', { notifications: filter }, { id: '"s"', signal: abort.signal });
    const reader = response.body!.getReader();
    let text = '';
    const upTo = async (count: number) => {
      while (messagesIn(text, 'text/event-stream').length < count) text += Buffer.from((await reader.read()).value ?? []).toString();
    };
    await upTo(1);
    hub.toolsChanged();
    hub.resourceUpdated('test://text');
    await upTo(3);
    abort.abort();
    assert.deepEqual(
      messagesIn(text, 'text/event-stream').map(({ method, params }) => [method, params._meta['io.modelcontextprotocol/subscriptionId']]),
      [
        ['notifications/subscriptions/acknowledged', 's'],
        ['notifications/tools/list_changed', 's'],
        ['notifications/resources/updated', 's'],
      ],
    );
  });
});
