import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/e2e/until.js';
import { type Answer, headersOf, META, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { noticed } from '../support/protocol/server.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

const bodyOf = (method: string, params: object = {}, meta: object = META) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
const told = ({ status, message }: Answer) => [status, message?.error?.code];
const ECHO = { name: 'echo', arguments: { text: 'hello' } };

describe('Streamable HTTP, endpoint and messages', () => {
  it('HTTP-01 the endpoint takes POST, and nothing else in this revision', async () => {
    assert.equal((await gateway.ask('tools/call', ECHO)).status, 200);
    assert.equal((await gateway.ask('tools/call', ECHO, { path: '/none' })).status, 404);
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await gateway.post('', headersOf('tools/list'), method);
      assert.deepEqual([method, status, headers.get('allow')?.includes('POST')], [method, 405, true]);
    }
  });

  it('HTTP-02 HTTP-03 every Origin that is not allowed is 403, whatever is asked', async () => {
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'http://127.0.0.1.evil.example:80']) {
      for (const method of ['tools/list', 'server/discover', 'subscriptions/listen', 'none'])
        assert.equal((await gateway.ask(method, {}, { headers: { origin } })).status, 403, `${origin} ${method}`);
    }
    assert.equal((await gateway.ask('tools/list', {}, { headers: { origin: 'http://localhost:3000' } })).status, 200);
  });

  it('HTTP-10 BASE-20 an accepted notification is 202 and empty', async () => {
    for (const method of ['notifications/cancelled', 'notifications/anything'])
      for (const headers of [headersOf(method), { ...headersOf(method), 'mcp-method': undefined }]) {
        const notification = JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 1, _meta: META } });
        const { status, text } = await gateway.post(notification, headers);
        assert.deepEqual([status, text], [202, ''], method);
      }
  });

  it('HTTP-11 a notification that is not accepted is an error status, and no response to it', async () => {
    const headers = headersOf('notifications/cancelled');
    for (const [notification, status] of [
      ['{"jsonrpc":"2.0","method":"notifications/other"}', 400],
      ['{"jsonrpc":"2.0","method":""}', 400],
      ['{"jsonrpc":"1.0","method":"notifications/cancelled"}', 400],
      ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}', 400],
    ] as const) {
      const answer = await gateway.post(notification, headers);
      assert.deepEqual([answer.status, 'id' in answer.message], [status, false], notification);
    }
  });

  it('HTTP-12 HTTP-14 a request is answered by one JSON object, or by a stream of its own notifications that the response ends', async () => {
    const plain = await gateway.ask('tools/call', ECHO);
    assert.deepEqual([plain.headers.get('content-type'), plain.messages.length], ['application/json', 1]);
    const [a, b] = await Promise.all(
      ['"a"', '"b"'].map((id) => gateway.ask('tools/call', { name: 'steps' }, { id, meta: { progressToken: `of ${id}` } })),
    );
    for (const [answer, id] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      assert.equal(answer?.headers.get('content-type'), 'text/event-stream');
      assert.deepEqual([...new Set(answer.messages.slice(0, -1).map(({ params }) => params.progressToken))], [`of "${id}"`]);
      assert.equal(answer.message.id, id);
    }
  });

  it('HTTP-15 PAT-01 MRTR-01 no request is ever sent on a stream: questions are in the result', async () => {
    const capabilities = { elicitation: {}, sampling: {}, roots: {} };
    for (const [method, params] of [
      ['tools/call', { name: 'ask' }],
      ['prompts/get', { name: 'ask' }],
      ['resources/read', { uri: 'test://ask' }],
    ] as const) {
      const { messages, message } = await gateway.ask(method, params, { capabilities, meta: { progressToken: 1 } });
      assert.equal(message.result.resultType, 'input_required');
      assert.deepEqual(
        messages.filter((sent) => 'method' in sent && 'id' in sent),
        [],
      );
    }
  });

  it('a body of several messages, or a response object, is no message of this revision', async () => {
    const one = bodyOf('tools/list');
    assert.deepEqual(told(await gateway.post(`[${one}]`, headersOf('tools/list'))), [400, -32600]);
    assert.deepEqual(told(await gateway.post('{"jsonrpc":"2.0","id":1,"result":{}}', headersOf('tools/list'))), [400, -32600]);
  });
});

describe('Streamable HTTP, cancellation', () => {
  it('HTTP-16 HTTP-17 CANC-03 a closed response stream cancels the call, and what its handler still says goes nowhere', async () => {
    noticed.length = 0;
    const abort = new AbortController();
    const response = await gateway.open('tools/call', { name: 'hang' }, { meta: { progressToken: 1 }, signal: abort.signal });
    const reader = response.body!.getReader();
    const first = Buffer.from((await reader.read()).value ?? []).toString();
    assert.match(first, /"progress":1/);
    abort.abort();
    await assert.rejects(reader.read());
    await until('the handler to notice', () => noticed.includes('hang cancelled=true'));
    assert.deepEqual(noticed, ['hang began', 'hang cancelled=true']);
  });

  it('CANC-07 a cancellation that comes too late, or names no request, changes nothing', async () => {
    const notification = (id: unknown) =>
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, _meta: META } });
    await gateway.ask('tools/call', ECHO, { id: '5' });
    for (const id of [5, 'never', null, {}])
      assert.equal((await gateway.post(notification(id), headersOf('notifications/cancelled'))).status, 202);
    assert.equal((await gateway.ask('tools/call', ECHO, { id: '5' })).message.id, 5);
  });
});

describe('Streamable HTTP, headers that mirror the body', () => {
  it('HTTP-20 HTTP-56 HTTP-57 HTTP-58 BASE-18 headers that say something else than the body are 400 with -32020', async () => {
    for (const headers of [
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': 'Tools/Call' },
      { 'mcp-name': 'steps' },
      { 'mcp-name': 'ECHO' },
      { 'mcp-method': undefined },
      { 'mcp-name': undefined },
      { 'mcp-name': '' },
      { 'mcp-name': 'a\u0080' },
    ]) {
      const { status, message } = await gateway.ask('tools/call', ECHO, { headers, id: '"own"' });
      assert.deepEqual([status, message.jsonrpc, message.error?.code], [400, '2.0', -32020], JSON.stringify(headers));
      assert.match(message.error.message, /./);
    }
    const other = { uri: 'test://text' };
    assert.deepEqual(told(await gateway.ask('resources/read', other, { headers: { 'mcp-name': 'test://bytes' } })), [400, -32020]);
  });

  it('HTTP-23 a modern request without the version header is refused', async () => {
    assert.deepEqual(told(await gateway.ask('tools/call', ECHO, { headers: { 'mcp-protocol-version': undefined } })), [400, -32020]);
  });

  it('HTTP-21 VER-01 a version that is not served is 400 with -32022 and the served ones', async () => {
    for (const requested of ['1900-01-01', '2027-01-01', 'x']) {
      const meta = { 'io.modelcontextprotocol/protocolVersion': requested };
      const { status, message } = await gateway.ask('tools/list', {}, { id: '7', meta, headers: { 'mcp-protocol-version': requested } });
      const { code, data } = message.error;
      assert.deepEqual([status, message.id, code], [400, 7, -32022]);
      assert.deepEqual([data.supported, data.requested], [['2026-07-28'], requested]);
    }
  });

  it('HTTP-22 a method that is not there is 404 with -32601', async () => {
    for (const method of ['none', 'tools/none', 'initialize', 'ping', 'resources/subscribe', 'logging/setLevel', 'toString', '__proto__']) {
      const { status, message } = await gateway.ask(method, { uri: 'test://text', level: 'info' }, { id: '"own"' });
      assert.deepEqual([method, status, message.id, message.error.code], [method, 404, 'own', -32601]);
    }
  });

  it('HTTP-41 HTTP-42 HTTP-59 wrapped values are unwrapped before they are compared, and never otherwise', async () => {
    const wrap = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
    const uri = 'test://item/ä 日';
    assert.deepEqual(told(await gateway.ask('resources/read', { uri }, { headers: { 'mcp-name': wrap(uri) } })), [200, -32602]);
    assert.equal((await gateway.ask('tools/call', ECHO, { headers: { 'mcp-name': wrap('echo') } })).status, 200);
    for (const name of [wrap('steps'), wrap('echo').slice(1), wrap('echo').replace('base64', 'BASE64'), '=?base64?%%%?=', 'ZWNobw=='])
      assert.deepEqual(told(await gateway.ask('tools/call', ECHO, { headers: { 'mcp-name': name } })), [400, -32020], name);
    const region = { name: 'routed', arguments: { region: 'größe' } };
    assert.equal((await gateway.ask('tools/call', region, { headers: { 'mcp-param-region': wrap('größe') } })).status, 200);
  });

  it('HTTP-46 HTTP-47 HTTP-48 HTTP-49 HTTP-52 an argument’s header must be there, be valid and say what the argument says', async () => {
    const call = (args: object, headers: Record<string, string | undefined>) =>
      gateway.ask('tools/call', { name: 'routed', arguments: args }, { headers });
    assert.equal((await call({ region: 'eu' }, { 'mcp-param-region': 'eu' })).status, 200);
    assert.equal((await call({ deep: { level: 42 } }, { 'mcp-param-level': '42' })).status, 200);
    assert.equal((await call({ deep: { level: 42 } }, { 'mcp-param-level': '42.0' })).status, 200);
    for (const [args, headers] of [
      [{ region: 'eu' }, {}],
      [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
      [{ region: 'eu' }, { 'mcp-param-region': 'EU' }],
      [{ region: 'eu' }, { 'mcp-param-region': '' }],
      [{ region: 'e\u0080' }, { 'mcp-param-region': 'e\u0080' }],
      [{ region: 'eu' }, { 'mcp-param-region': '=?base64?e?=' }],
      [{ deep: { level: 42 } }, {}],
      [{ deep: { level: 42 } }, { 'mcp-param-level': '43' }],
      [{ deep: { level: 42 } }, { 'mcp-param-level': '0x2a' }],
    ] as const)
      assert.deepEqual(told(await call(args, headers)), [400, -32020], JSON.stringify([args, headers]));
  });

  it('HTTP-33 TOOL-13 a mirrored integer outside the safe range is refused', async () => {
    const call = (level: string) =>
      gateway.post(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"routed","arguments":{"deep":{"level":${level}}},"_meta":${JSON.stringify(META)}}}`,
        { ...headersOf('tools/call', 'routed'), 'mcp-param-level': level },
      );
    for (const level of ['9007199254740991', '-9007199254740991', '0']) assert.equal((await call(level)).status, 200, level);
    for (const level of ['9007199254740992', '-9007199254740992', '9223372036854775807'])
      assert.deepEqual(told(await call(level)), [400, -32020], level);
  });

  it('HTTP-50 HTTP-51 an argument that is null or absent has no header', async () => {
    const call = (args: object, headers = {}) => gateway.ask('tools/call', { name: 'routed', arguments: args }, { headers });
    assert.deepEqual((await call({})).message.result.content, [{ type: 'text', text: '{}' }]);
    // The header is not missed; that null is no string is another matter.
    const of_null = await call({ region: null });
    assert.deepEqual([of_null.status, of_null.message.result.isError], [200, true]);
    for (const args of [{}, { region: null }, { deep: {} }])
      assert.deepEqual(told(await call(args, { 'mcp-param-region': 'eu' })), [400, -32020], JSON.stringify(args));
  });

  it('HTTP-55 header names have no case, header values have', async () => {
    const upper = Object.fromEntries(Object.entries(headersOf('tools/call', 'echo')).map(([name, value]) => [name.toUpperCase(), value]));
    assert.equal((await gateway.post(bodyOf('tools/call', ECHO), upper)).status, 200);
    assert.deepEqual(told(await gateway.post(bodyOf('tools/call', ECHO), { ...upper, 'MCP-METHOD': 'TOOLS/CALL' })), [400, -32020]);
  });

  it('a header of no argument is ignored', async () => {
    assert.equal((await gateway.ask('tools/call', ECHO, { headers: { 'mcp-param-other': 'x' } })).status, 200);
  });
});
