import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createHttpHandler, createHub } from '../../src/server.js';
import { SILENT } from '../../src/silent-log.js';
import { systemClock } from '../../src/system-clock.js';
import { allEvents, modern } from '../demo/rpc.js';
import { call, fixtureServer, META, modernBody, modernHead, open, type ProtocolFixture, post, protocolFixture } from './fixture.js';

let fixture: ProtocolFixture;
let url: string;

before(async () => {
  fixture = await protocolFixture();
  url = fixture.url;
});
after(() => fixture.close());

const list = modernBody('tools/list');
const head = modernHead('tools/list');
const codeOf = ({ status, body }: { status: number; body: { error?: { code: number } } }) => [status, body?.error?.code];
const without = (name: string, headers = head) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

describe('transports', () => {
  it('TR-1 what is not UTF-8 is no message, and what is comes back as it was', async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: head,
      body: Buffer.from([...Buffer.from('{"jsonrpc":"'), 0xff, 0x22, 0x7d]),
    });
    assert.deepEqual(codeOf({ status: response.status, body: (await response.json()) as never }), [400, -32700]);
    assert.equal((await call(url, 'echo', { args: { text: '世界😀' } })).body.result.content[0].text, '世界😀');
  });

  it('TR-2 SH-1 one path takes requests and notifications by POST and answers requests', async () => {
    assert.equal((await post(url, list, head)).status, 200);
    assert.equal((await post(url.replace('/mcp', '/other'), list, head)).status, 404);
    assert.deepEqual((await fetch(url, { headers: { ...head } })).status, 405);
  });

  it('TR-3 in another HTTP server the same message has the same answer', async () => {
    const handler = createHttpHandler(fixtureServer(createHub(), { cancelled: 0, late: undefined }), { clock: systemClock, log: SILENT });
    for (const [body, headers] of [
      [list, head],
      [modernBody('tools/call', { name: 'echo', arguments: { text: 'x' } }), modernHead('tools/call', 'echo')],
      [modernBody('no/method'), modernHead('no/method')],
    ] as const) {
      const here = await handler.handle({ method: 'POST', headers, body: Buffer.from(body), request_id: 'r' });
      const there = await post(url, body, headers);
      assert.equal(here.status, there.status);
      const plain = (text: string) => JSON.parse(text.replace(/"request_id":"[^"]*"/, '"request_id":""'));
      assert.ok(here.kind === 'response');
      assert.deepEqual(plain(Buffer.from(here.body).toString()), plain(JSON.stringify(there.body)));
    }
    await handler.close(0);
  });

  it('SH-2 SH-3 a wrong Origin is 403, also for what would be refused anyway', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example'])
      for (const body of [list, '{']) assert.equal((await post(url, body, { ...head, origin })).status, 403, origin);
    assert.equal((await post(url, list, { ...head, origin: 'http://localhost:5173' })).status, 200);
  });

  it('SH-7 SH-8 SH-10 a batch, a scalar and a response are 400', async () => {
    for (const body of [`[${list}]`, '[]', '7', 'null', '{"jsonrpc":"2.0","id":1,"result":{}}'])
      assert.deepEqual(codeOf(await post(url, body, head)), [400, -32600], body);
    assert.equal((await post(url, '{"jsonrpc":"2.0","method":7}', head)).status, 400);
  });

  it('SH-9 an accepted notification is 202 without a body', async () => {
    const answer = await post(url, '{"jsonrpc":"2.0","method":"notifications/x"}', modernHead('notifications/x'));
    assert.deepEqual([answer.status, answer.body, answer.headers.get('content-type')], [202, undefined, null]);
  });

  it('SH-11 SH-13 SH-14 JSON, or a stream of what belongs to the request with the response last', async () => {
    const plain = await open(url, 'tools/call', { name: 'count' });
    assert.equal(plain.headers.get('content-type'), 'application/json');
    await plain.text();
    const streamed = await open(url, 'tools/call', { name: 'count' }, { progressToken: 'p' });
    assert.equal(streamed.headers.get('content-type'), 'text/event-stream');
    const all = await allEvents(streamed);
    assert.deepEqual(
      all.map((message) => message.params?.progressToken ?? message.id),
      ['p', 'p', 1],
    );
    assert.ok(all.slice(0, -1).every((message) => message.id === undefined));
  });

  it('SH-15 SH-16 CN-2 CN-5 closing the stream cancels the handler, and nothing more is said', async () => {
    const before_ = fixture.seen.cancelled;
    const gone = new AbortController();
    const response = await open(url, 'tools/call', { name: 'wait' }, { progressToken: 'p' }, gone.signal);
    assert.equal(response.status, 200);
    gone.abort();
    await assert.rejects(response.text());
    for (let n = 0; n < 200 && fixture.seen.cancelled === before_; n++) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(fixture.seen.cancelled, before_ + 1);
    assert.equal((await post(url, list, head)).status, 200);
  });

  it('SH-18 SH-21 SH-43 SH-44 headers that are missing or differ from the body are 400 and -32020', async () => {
    const other = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2025-11-25' } },
    });
    const named = modernBody('tools/call', { name: 'echo', arguments: { text: 'x' } });
    for (const [body, headers] of [
      [other, head],
      [list, without('mcp-protocol-version')],
      [list, without('mcp-method')],
      [list, { ...head, 'mcp-method': 'tools/call' }],
      [list, { ...head, 'mcp-method': 'Tools/List' }],
      [named, without('mcp-name', modernHead('tools/call', 'echo'))],
      [named, modernHead('tools/call', 'Echo')],
    ] as const) {
      const answer = await post(url, body, headers);
      assert.deepEqual(codeOf(answer), [400, -32020], JSON.stringify(headers));
      assert.equal(answer.body.jsonrpc, '2.0');
    }
  });

  it('SH-19 VE-1 a version that is not served is -32022 with those that are; server/discover tells them too', async () => {
    const answer = await post(url, list, { ...head, 'mcp-protocol-version': '1900-01-01' });
    assert.deepEqual(
      [...codeOf(answer), answer.body.error.data.supported, answer.body.error.data.requested],
      [400, -32022, ['2026-07-28'], '1900-01-01'],
    );
    assert.deepEqual((await modern(url, 'server/discover')).body.result.supportedVersions, ['2026-07-28']);
  });

  it('SH-20 a method that is not served is 404 and -32601', async () => {
    for (const method of ['no/method', 'ping', 'resources/subscribe', 'toString'])
      assert.deepEqual(codeOf(await modern(url, method)), [404, -32601], method);
  });

  it('SH-33 SH-34 wrapped names and values are decoded; the markers have a case', async () => {
    const wrapped = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
    const args = { text: 'x' };
    assert.equal((await call(url, 'echo', { args, headers: { 'mcp-name': wrapped('echo') } })).status, 200);
    assert.equal((await call(url, 'echo', { args, headers: { 'mcp-name': wrapped('echo').replace('base64', 'BASE64') } })).status, 400);
    assert.equal((await call(url, 'mirrored', { args: { region: 'é' }, headers: { 'mcp-param-region': wrapped('é') } })).status, 200);
    assert.equal((await call(url, 'mirrored', { args: { region: 'é' }, headers: { 'mcp-param-region': wrapped('è') } })).status, 400);
  });

  it('SH-29 SH-37 SH-38 SH-39 SH-40 SH-41 SH-42 mirrored parameters say what the arguments say', async () => {
    const sent = async (args: object, headers: Record<string, string>) => codeOf(await call(url, 'mirrored', { args, headers }));
    assert.deepEqual(await sent({ region: 'eu' }, { 'MCP-PARAM-REGION': 'eu', 'Mcp-Param-Unknown': 'x' }), [200, undefined]);
    assert.deepEqual(await sent({ level: 42 }, { 'Mcp-Param-Level': '42.0' }), [200, undefined]);
    assert.deepEqual(await sent({}, {}), [200, undefined]);
    const refused = [400, -32020];
    assert.deepEqual(await sent({ region: 'eu' }, {}), refused);
    assert.deepEqual(await sent({ region: 'eu' }, { 'Mcp-Param-Region': 'us' }), refused);
    assert.deepEqual(await sent({ region: null }, { 'Mcp-Param-Region': 'null' }), refused);
    assert.deepEqual(await sent({}, { 'Mcp-Param-Region': 'eu' }), refused);
    assert.deepEqual(await sent({ region: 'é' }, { 'Mcp-Param-Region': '\u00e9' }), refused);
    assert.deepEqual(await sent({ level: 2 ** 53 }, { 'Mcp-Param-Level': String(2 ** 53) }), refused);
  });
});
