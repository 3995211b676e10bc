import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { headersOf, META, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { rawExchange } from '../support/raw.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('base protocol, statelessness', () => {
  it('BASE-22 BASE-38 nothing of one request is known to the next one of its connection', async () => {
    const body = (id: number, capabilities: object) => {
      const _meta = {
        ...META,
        'io.modelcontextprotocol/clientCapabilities': capabilities,
        ...(id === 1 ? { 'io.modelcontextprotocol/clientInfo': { name: 'first', version: '1' } } : {}),
      };
      return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'client', _meta } });
    };
    const request = (id: number, capabilities: object) => {
      const json = body(id, capabilities);
      const head = Object.entries({ host: 'x', ...headersOf('tools/call', 'client'), 'content-length': String(json.length) });
      return `POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${json}`;
    };
    const { text } = await rawExchange(gateway.port, [request(1, { sampling: {} }), 150, request(2, {})], 600);
    const answers = [...text.matchAll(/\{"jsonrpc".*\}/g)].map(([json]) => JSON.parse(json));
    assert.deepEqual(
      answers.map(({ id, result }) => [id, JSON.parse(result.content[0].text)]),
      [
        [1, { capabilities: { sampling: {} }, info: { name: 'first', version: '1' } }],
        [2, { capabilities: {} }],
      ],
    );
  });

  it('BASE-23 what a call remembers is in the state that the client passes, not in the server', async () => {
    const capabilities = { elicitation: {} };
    const asked = (await gateway.ask('tools/call', { name: 'ask' }, { capabilities })).message.result;
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    const again = await gateway.ask('tools/call', { name: 'ask', inputResponses, requestState: asked.requestState }, { capabilities });
    assert.equal(again.message.result.content[0].text, '{"asked":true} Ada');
    const stateless = await gateway.ask('tools/call', { name: 'ask', inputResponses }, { capabilities });
    assert.equal(stateless.message.result.content[0].text, 'undefined Ada');
    for (const { headers } of [again, stateless]) assert.equal(headers.get('mcp-session-id'), null);
  });
});
