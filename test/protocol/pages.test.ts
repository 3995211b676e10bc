import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defineServer, withRateLimit } from '../../src/server.js';
import { allEvents, type Json, modern } from '../demo/rpc.js';
import { call, modernBody, modernHead, open, type ProtocolFixture, post, protocolFixture } from './fixture.js';

let fixture: ProtocolFixture;
let url: string;

before(async () => {
  fixture = await protocolFixture();
  url = fixture.url;
});
after(() => fixture.close());

const resultOf = async (method: string, params: Record<string, unknown> = {}): Promise<Json> =>
  (await modern(url, method, params)).body.result;
const tool = (input: object) => () => defineServer({ name: 'x', version: '1', tools: [{ name: 't', input, run: () => '' }] });
const header = (name: unknown, type = 'string') => ({ type: 'object', properties: { a: { type, 'x-mcp-header': name } } });

describe('server pages', () => {
  it('TO-1 RE-1 PR-1 CO-1 LO-1 the capabilities are those that there are', async () => {
    assert.deepEqual((await resultOf('server/discover')).capabilities, {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
      extensions: { 'com.example/echo': {} },
    });
  });

  it('TO-2 TO-3 RE-2 PR-2 lists are the same whoever asks before, on whichever connection', async () => {
    const lists = async () => [await resultOf('tools/list'), await resultOf('resources/list'), await resultOf('prompts/list')];
    const first = await lists();
    await call(url, 'echo', { args: { text: 'x' } });
    assert.deepEqual(await lists(), first);
    const again = await fetch(url, {
      method: 'POST',
      headers: { ...modernHead('tools/list'), connection: 'close' },
      body: modernBody('tools/list'),
    });
    assert.deepEqual(((await again.json()) as { result: object }).result, first[0]);
  });

  it('TO-4 SH-24 SH-25 SH-26 SH-27 SH-28 SH-30 a schema is an object, its annotations keep their rules', () => {
    for (const input of [null, [], { type: 'string' }, { type: 'object', required: 1 }])
      assert.throws(tool(input as object), /tool "t": input/);
    const two = {
      type: 'object',
      properties: { a: { type: 'string', 'x-mcp-header': 'Id' }, b: { type: 'string', 'x-mcp-header': 'ID' } },
    };
    for (const input of [header(''), header('a b'), header('a\r\nb'), header('a', 'number'), header('a', 'object'), two])
      assert.throws(tool(input), /x-mcp-header/);
    for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const)
      assert.throws(tool({ type: 'object', [keyword]: [header('a')] }), /x-mcp-header/);
    assert.throws(
      tool({ type: 'object', properties: { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } } }),
      /x-mcp-header/,
    );
    assert.doesNotThrow(tool(header('A', 'integer')));
  });

  it('TO-6 a structured result that does not fit is not sent', async () => {
    const { body } = await call(url, 'sum');
    assert.deepEqual([body.result, body.error.code], [undefined, -32603]);
  });

  it('TO-7 TO-8 inputs are checked, and what a caller may not use does not exist', async () => {
    assert.equal((await call(url, 'echo', { args: { text: 1 } })).body.result.isError, true);
    assert.equal((await call(url, 'hidden')).body.error.code, -32602);
    assert.ok(!(await resultOf('tools/list')).tools.some(({ name }: Json) => name === 'hidden'));
  });

  it('TO-9 calls can be rate limited', () => {
    assert.doesNotThrow(() => defineServer({ name: 'x', version: '1', tools: [{ name: 't', wrap: [withRateLimit()], run: () => '' }] }));
  });

  it('TO-10 PR-5 what is no content is not sent, and no stack either', async () => {
    for (const name of ['odd', 'broken']) {
      const { status, body } = await call(url, name);
      assert.deepEqual([status, body.error.code, JSON.stringify(body).includes('hunter2')], [500, -32603, false]);
    }
    assert.equal((await modern(url, 'prompts/get', { name: 'odd' })).body.error.code, -32603);
    assert.equal((await modern(url, 'prompts/get', { name: 'greet' })).body.error.code, -32602);
  });

  it('RE-3 RE-6 URIs are absolute, and a text that is none finds nothing', async () => {
    for (const uri of ['no uri', '/relative', 'x:é', 'x: y']) {
      assert.throws(() => defineServer({ name: 'x', version: '1', resources: [{ uri, name: 'r', read: () => '' }] }), /uri must be/);
    }
    const answer = await post(url, modernBody('resources/read', { uri: '../x' }), modernHead('resources/read', '../x'));
    assert.equal(answer.body.error.code, -32602);
  });

  it('RE-4 RE-5 RE-7 bytes are base64, a resource that is not there is -32602, and nothing is an empty list', async () => {
    assert.equal((await resultOf('resources/read', { uri: 'x:bytes' })).contents[0].blob, 'AP8=');
    assert.equal((await modern(url, 'resources/read', { uri: 'x:none' })).body.error.code, -32602);
    assert.equal((await modern(url, 'resources/read', { uri: 'x:hidden' })).body.error.code, -32602);
    assert.equal((await modern(url, 'resources/read', { uri: 'x:empty' })).body.result, undefined);
  });

  it('CA-1 CA-4 CA-7 CA-8 hints are on what can be cached, 0 or more, one scope for all pages, private where callers differ', async () => {
    let cursor: string | undefined;
    do {
      const page = await resultOf('tools/list', cursor === undefined ? {} : { cursor });
      assert.deepEqual([page.ttlMs >= 0, page.cacheScope], [true, 'private']);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    for (const [method, params] of [
      ['server/discover', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['prompts/list', {}],
      ['resources/read', { uri: 'x:bytes' }],
    ] as const)
      assert.ok((await resultOf(method, params)).ttlMs >= 0, method);
    assert.ok(!('ttlMs' in (await call(url, 'echo', { args: { text: 'x' } })).body.result));
    assert.throws(() => defineServer({ name: 'x', version: '1', caching: { ttl_ms: -1 } }), /ttl_ms/);
  });

  it('CA-3 a question has no hints, and what it led to is not kept', async () => {
    const asked = await resultOf('resources/read', { uri: 'x:asks' });
    assert.deepEqual([asked.resultType, 'ttlMs' in asked], ['input_required', false]);
    const answered = await resultOf('resources/read', { uri: 'x:asks', requestState: asked.requestState });
    assert.deepEqual([answered.ttlMs, answered.cacheScope], [0, 'private']);
  });

  it('CO-2 CO-4 completion checks its input and tells nothing of what is hidden', async () => {
    const complete = (params: object) => post(url, modernBody('completion/complete', params), modernHead('completion/complete'));
    const argument = { name: 'a', value: '' };
    assert.equal((await complete({ ref: { type: 'ref/prompt', name: 'hidden' }, argument })).body.error.code, -32602);
    for (const params of [{}, { ref: 1, argument }, { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who' } }])
      assert.equal((await complete(params)).body.error.code, -32602);
  });

  it('LO-2 LO-3 log messages go where they were asked for, and nowhere else', async () => {
    const gone = new AbortController();
    const listening = await open(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, {}, gone.signal);
    const level = { 'io.modelcontextprotocol/logLevel': 'info' };
    const told = await allEvents(await open(url, 'tools/call', { name: 'count' }, level));
    assert.deepEqual(
      told.map(({ method, id }) => method ?? id),
      ['notifications/message', 1],
    );
    const untold = await open(url, 'tools/call', { name: 'count' });
    assert.equal(untold.headers.get('content-type'), 'application/json');
    await untold.text();
    fixture.hub.toolsChanged();
    const reader = listening.body!.getReader();
    let text = '';
    while (!text.includes('list_changed')) text += Buffer.from((await reader.read()).value ?? []).toString();
    assert.ok(!text.includes('notifications/message'));
    gone.abort();
  });
});
