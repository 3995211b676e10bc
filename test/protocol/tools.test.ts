import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { as } from '../support/protocol/lists.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('tools', () => {
  it('TOOL-17 a structured result fits its schema, or the server has failed', async () => {
    const call = (good: boolean) => gateway.ask('tools/call', { name: 'structured', arguments: { good } });
    const { result } = (await call(true)).message;
    assert.deepEqual([result.structuredContent, result.content], [{ count: 1 }, [{ type: 'text', text: '{"count":1}' }]]);
    const failed = await call(false);
    assert.deepEqual([failed.status, failed.message.error.code, failed.message.result], [500, -32603, undefined]);
    assert.doesNotMatch(failed.text, /many|structured/);
  });

  it('TOOL-18 arguments that do not fit never reach the handler', async () => {
    for (const given of [{}, { text: 7 }, { text: null }]) {
      const { result } = (await gateway.ask('tools/call', { name: 'echo', arguments: given })).message;
      assert.deepEqual(
        [result.isError, /^The arguments are not valid: /.test(result.content[0].text)],
        [true, true],
        JSON.stringify(given),
      );
    }
    for (const given of [[], 'x', 7]) {
      const { message } = await gateway.ask('tools/call', { name: 'echo', arguments: given });
      assert.equal(message.error?.code, -32602, JSON.stringify(given));
    }
  });

  it('TOOL-19 CACH-11 what a caller may not use is not there for it, whatever a cache may hold', async () => {
    for (const [method, params] of [
      ['tools/call', { name: 'for_admins' }],
      ['prompts/get', { name: 'for_admins' }],
      ['resources/read', { uri: 'test://for-admins' }],
    ] as const) {
      assert.equal((await gateway.ask(method, params, as('ada'))).message.result.resultType, 'complete');
      const none = Object.fromEntries(Object.entries(params).map(([key]) => [key, key === 'uri' ? 'test://none' : 'none']));
      const hidden = await gateway.ask(method, params, as('bob'));
      const absent = await gateway.ask(method, none, as('bob'));
      assert.equal(hidden.status, absent.status);
      const same = (text: string) => text.replace(/for[-_]admins|none/g, '…').replace(/"request_id":"[^"]*"/, '');
      assert.equal(same(hidden.text), same(absent.text));
    }
  });

  it('TOOL-20 COMP-04 a caller over its rate is refused before anything runs', async () => {
    const greet = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } };
    for (const [key, method, params] of [
      ['ada', 'tools/call', { name: 'echo', arguments: { text: '' } }],
      ['bob', 'completion/complete', greet],
    ] as const) {
      const statuses = [];
      for (let n = 0; n < 3; n++) statuses.push((await gateway.ask(method, params, { ...as(key), path: '/limited' })).status);
      assert.deepEqual(statuses, [200, 200, 429], method);
    }
  });

  it('TOOL-21 what is no content is not sent', async () => {
    const { status, message } = await gateway.ask('tools/call', { name: 'odd' });
    assert.deepEqual([status, message.error?.code, message.result], [500, -32603, undefined]);
  });

  it('TOOL-21 LOG-04 what a handler failed with is told to nobody but the log', async () => {
    const { status, text, message } = await gateway.ask(
      'tools/call',
      { name: 'crash' },
      { meta: { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' } },
    );
    assert.deepEqual([status, message.error.code], [500, -32603]);
    assert.doesNotMatch(text, /hunter2|db\.internal|Error|\.js/);
  });

  it('TOOL-21 text of a handler cannot begin a line or an event of a stream', async () => {
    const text = 'a\r\n\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\nid: 7\u2028\u0000';
    const answer = await gateway.ask('tools/call', { name: 'echo', arguments: { text } }, { headers: { accept: 'text/event-stream' } });
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    assert.deepEqual([answer.messages.length, answer.message.result.content[0].text], [1, text]);
  });
});
