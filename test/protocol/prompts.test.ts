import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Json, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('prompts', () => {
  it('PROM-05 PROM-06 PROM-07 media and embedded resources come whole', async () => {
    const { messages } = (await gateway.ask('prompts/get', { name: 'media' })).message.result;
    const contents = messages.map(({ content }: Json) => content);
    const bytes = (text: string) => Buffer.from(text, 'base64').length;
    assert.deepEqual([contents[0].type, contents[0].mimeType, bytes(contents[0].data)], ['image', 'image/png', 256]);
    assert.deepEqual([contents[1].type, contents[1].mimeType, bytes(contents[1].data)], ['audio', 'audio/wav', 256]);
    assert.deepEqual(contents[2].resource, { uri: 'test://text', mimeType: 'text/plain', text: 'words' });
    assert.deepEqual([contents[3].resource.uri, bytes(contents[3].resource.blob)], ['test://bytes', 256]);
  });

  it('PROM-08 messages that are none are not sent', async () => {
    assert.equal((await gateway.ask('prompts/get', { name: 'odd' })).message.error?.code, -32603);
  });

  it('PROM-08 arguments are declared texts, and the required ones are there', async () => {
    assert.equal(
      (await gateway.ask('prompts/get', { name: 'greet', arguments: { who: 'Ada' } })).message.result.messages[0].content.text,
      'Hello, Ada',
    );
    for (const given of [{}, { who: 7 }, { who: null }, { who: 'Ada', more: 'x' }, [], 'x'])
      assert.equal(
        (await gateway.ask('prompts/get', { name: 'greet', arguments: given })).message.error?.code,
        -32602,
        JSON.stringify(given),
      );
  });
});
