import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createHttpHandler } from '../../src/server.js';
import { SILENT } from '../../src/silent-log.js';
import { systemClock } from '../../src/system-clock.js';
import { headersOf, META, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { CAPABILITIES, everyMessage, FAILING, REQUESTS } from '../support/protocol/requests.js';
import { server } from '../support/protocol/server.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('base protocol, messages', () => {
  it('BASE-02 BASE-21 TRAN-02 every message is JSON-RPC 2.0, and of the two kinds that a server sends', async () => {
    const messages = await everyMessage(gateway);
    for (const message of messages) {
      assert.equal(message.jsonrpc, '2.0');
      const keys = Object.keys(message).sort().join(' ');
      assert.ok(['id jsonrpc result', 'error id jsonrpc', 'jsonrpc method params'].includes(keys), keys);
    }
    assert.ok(messages.some(({ method }) => method === 'notifications/progress'));
  });

  it('BASE-06 BASE-12 results and errors have the id of their request, type and digits kept', async () => {
    for (const id of ['0', '-1', '"1"', '""', '9007199254740993', '-9223372036854775808', '"ü"']) {
      for (const [method, params] of [...REQUESTS, ...FAILING]) {
        const { text } = await gateway.ask(method, params, { id, capabilities: CAPABILITIES });
        assert.ok(text.includes(`"id":${id},`), `${method} ${id}`);
      }
    }
  });

  it('BASE-12 the id is left out only where it could not be read, and never null', async () => {
    for (const body of ['{', '[]', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'])
      assert.ok(!('id' in (await gateway.post(body, headersOf('tools/list'))).message), body);
    const readable = await gateway.post('{"jsonrpc":"2.0","id":"mine","method":"tools/list"}', headersOf('tools/list'));
    assert.deepEqual([readable.status, readable.message.id], [400, 'mine']);
  });

  it('BASE-07 BASE-08 BASE-09 every result has a resultType, complete or input_required', async () => {
    for (const [method, params] of REQUESTS) {
      const { message } = await gateway.ask(method, params, { capabilities: CAPABILITIES });
      const asks = 'name' in params ? params.name === 'ask' : 'uri' in params && params.uri === 'test://ask';
      assert.equal(message.result?.resultType, asks ? 'input_required' : 'complete', `${method} ${JSON.stringify(params)}`);
    }
  });

  it('BASE-13 BASE-14 BASE-15 BASE-17 BASE-19 every error has an integer code that is the protocol’s, and a message', async () => {
    const codes = new Set<number>();
    for (const [method, params] of FAILING) {
      const { message } = await gateway.ask(method, params);
      assert.equal(typeof message.error?.message, 'string', `${method} ${JSON.stringify(params)}`);
      codes.add(message.error.code);
    }
    codes.add((await gateway.ask('tools/call', { name: 'ask' })).message.error.code);
    codes.add((await gateway.ask('tools/list', {}, { headers: { 'mcp-method': 'x' } })).message.error.code);
    codes.add((await gateway.ask('tools/list', {}, { headers: { 'mcp-protocol-version': '1900-01-01' } })).message.error.code);
    codes.add((await gateway.post('{', headersOf('tools/list'))).message.error.code);
    codes.add((await gateway.post('[]', headersOf('tools/list'))).message.error.code);
    codes.add((await gateway.ask('tools/list', {}, { headers: { origin: 'null' } })).message.error.code);
    assert.deepEqual(
      [...codes].sort((a, b) => a - b),
      [-32700, -32603, -32602, -32601, -32600, -32022, -32021, -32020],
    );
  });

  it('TRAN-01 messages are UTF-8 both ways, and bytes that are none are refused', async () => {
    const text = 'é 日本 🜚 \u2028';
    const { message, headers } = await gateway.ask('tools/call', { name: 'echo', arguments: { text } });
    assert.equal(message.result.content[0].text, text);
    assert.ok([null, 'utf-8'].includes(/charset=([^;]+)/.exec(headers.get('content-type') ?? '')?.[1] ?? null));
    const [before_text = '', after_text = ''] = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: '#' }, _meta: META },
    }).split('#');
    const latin1 = Buffer.concat([Buffer.from(before_text), Buffer.from([0xe9]), Buffer.from(after_text)]);
    const refused = await gateway.post(latin1, headersOf('tools/call', 'echo'));
    assert.deepEqual([refused.status, refused.message.error.code], [400, -32700]);
  });
});

describe('another transport', () => {
  it('TRAN-03 in another HTTP server the same message has the same answer', async () => {
    const handler = createHttpHandler(server, { clock: systemClock, log: SILENT });
    for (const [method, params] of [...REQUESTS.slice(0, 4), ...FAILING]) {
      const { name, uri } = params as { readonly name?: string; readonly uri?: string };
      const headers = headersOf(method, method === 'completion/complete' ? undefined : (name ?? uri));
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } });
      const there = await handler.handle({ method: 'POST', headers, body: Buffer.from(body), request_id: 'r' });
      const here = await gateway.post(body, headers);
      const plain = (text: string) => text.replace(/"request_id":"[^"]*"/, '"request_id":"r"');
      assert.ok(there.kind === 'response');
      assert.deepEqual([there.status, plain(Buffer.from(there.body).toString())], [here.status, plain(here.text)], method);
    }
    await handler.close(0);
  });
});
