import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defineServer } from '../../src/server.js';
import { type Json, type ProtocolGateway, type SendOptions, startProtocolGateway } from '../support/protocol/gateway.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

const as = (key: 'ada' | 'bob'): SendOptions => ({ path: '/guarded', headers: { 'x-api-key': key } });
const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** Every page of a list. */
async function pages(method: string, options: SendOptions = {}): Promise<readonly Json[]> {
  const all: Json[] = [];
  let cursor: string | undefined;
  do {
    const { result } = (await gateway.ask(method, cursor === undefined ? {} : { cursor }, options)).message;
    all.push(result);
    cursor = result.nextCursor;
  } while (cursor !== undefined && all.length < 20);
  return all;
}

async function names(method: string, member: string, options: SendOptions = {}): Promise<readonly string[]> {
  return (await pages(method, options)).flatMap((result) => result[member]).map(({ name }) => name);
}

describe('what a server offers', () => {
  it('TOOL-02 RES-02 PROM-02 COMP-02 LOG-01 a capability is told where there is a component, and only there', async () => {
    const { capabilities } = (await gateway.ask('server/discover')).message.result;
    assert.deepEqual(Object.keys(capabilities).sort(), ['completions', 'extensions', 'logging', 'prompts', 'resources', 'tools']);
    for (const [method, member] of LISTS) assert.equal((await names(method, member)).length > 0, true, method);
  });

  it('TOOL-03 RES-03 PROM-03 CACH-10 lists tell what there is for the caller', async () => {
    const admin_only = { tools: 'for_admins', prompts: 'for_admins', resources: 'for admins' };
    for (const [method, member] of LISTS.slice(0, 3)) {
      const hidden = admin_only[member as keyof typeof admin_only];
      const of_ada = await names(method, member, as('ada'));
      assert.ok(of_ada.includes(hidden), method);
      for (const options of [as('bob'), {}])
        assert.deepEqual(
          await names(method, member, options),
          of_ada.filter((name) => name !== hidden),
        );
    }
  });

  it('TOOL-04 RES-04 PROM-04 lists are the same on every connection and whatever was asked before', async () => {
    for (const [method, member] of LISTS) {
      const first = await names(method, member);
      await names(method, member, as('ada'));
      await gateway.ask('tools/call', { name: 'crash' });
      const fresh = { headers: { connection: 'close' } };
      assert.deepEqual(await names(method, member, fresh), first, method);
      assert.deepEqual(await names(method, member), first, method);
    }
  });
});

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

describe('resources', () => {
  it('RES-05 RES-08 a URI is an absolute URI of RFC 3986, declared or asked for', async () => {
    const define = (uri: string) => defineServer({ name: 's', version: '1', resources: [{ uri, name: 'r', read: () => '' }] });
    for (const uri of ['acme:x', 'acme+v1.0-x://a/b?c#d', 'file:///a']) define(uri);
    for (const uri of ['', 'x', '/a', '1a:x', 'a b:x', 'acme:a b', 'acme:ä', '://x']) assert.throws(() => define(uri), /absolute URI/, uri);
    for (const uri of ['', 'text', 'test://item/', 'test://item/a/b', 'test://item/a b', 'test://item/%zz', 'TEST://TEXT', 'test://text#'])
      assert.equal((await gateway.ask('resources/read', { uri })).message.error?.code, -32602, uri);
    for (const uri of [7, null, ['test://text']]) {
      const headers = { 'mcp-name': 'test://text' };
      assert.equal((await gateway.ask('resources/read', { uri }, { headers })).message.error?.code, -32602, JSON.stringify(uri));
    }
  });

  it('RES-06 RES-07 a resource that is not there is -32602 with its URI, also when a template would make it', async () => {
    for (const uri of ['test://none', 'test://item/none']) {
      const { status, message } = await gateway.ask('resources/read', { uri });
      assert.deepEqual(
        [status, message.error, message.result],
        [200, { code: -32602, message: 'Resource not found', data: { uri } }, undefined],
      );
    }
    assert.equal((await gateway.ask('resources/read', { uri: 'test://item/1' })).message.result.contents[0].text, 'item 1');
    const { error, result } = (await gateway.ask('resources/read', { uri: 'test://empty' })).message;
    assert.deepEqual([error?.code, result], [-32603, undefined]);
  });

  it('RES-09 bytes are base64', async () => {
    const [content] = (await gateway.ask('resources/read', { uri: 'test://bytes' })).message.result.contents;
    assert.deepEqual(Object.keys(content).sort(), ['blob', 'mimeType', 'uri']);
    assert.deepEqual(
      [...Buffer.from(content.blob, 'base64')],
      Array.from({ length: 256 }, (_, n) => n),
    );
  });
});

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

describe('caching and pages', () => {
  it('CACH-01 CACH-04 the six cacheable requests have hints, no other and no interim result has', async () => {
    for (const [method, params, hints] of [
      ['server/discover', {}, [60_000, 'public']],
      ['tools/list', {}, [60_000, 'private']],
      ['prompts/list', {}, [60_000, 'private']],
      ['resources/list', {}, [60_000, 'private']],
      ['resources/templates/list', {}, [60_000, 'public']],
      ['resources/read', { uri: 'test://text' }, [5000, 'public']],
      ['resources/read', { uri: 'test://bytes' }, [0, 'private']],
      ['resources/read', { uri: 'test://ask' }, [undefined, undefined]],
      ['tools/call', { name: 'echo', arguments: { text: '' } }, [undefined, undefined]],
      ['prompts/get', { name: 'media' }, [undefined, undefined]],
    ] as const) {
      const { result } = (await gateway.ask(method, params, { capabilities: { elicitation: {} } })).message;
      assert.deepEqual([result.ttlMs, result.cacheScope], hints, `${method} ${JSON.stringify(params)}`);
    }
    for (const ttl_ms of [-1, 0.5]) assert.throws(() => defineServer({ name: 's', version: '1', caching: { ttl_ms } }), /0 or more/);
  });

  it('CACH-03 what came of a repeated request is not to be kept', async () => {
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    const { result } = (await gateway.ask('resources/read', { uri: 'test://ask', inputResponses })).message;
    assert.deepEqual([result.resultType, result.ttlMs, result.cacheScope], ['complete', 0, 'private']);
  });

  it('CACH-07 CACH-08 CACH-09 all pages of a list have one scope, and only a list that depends on no caller is public', async () => {
    for (const [method, member] of LISTS) {
      for (const options of [{}, as('ada'), as('bob')]) {
        const all = await pages(method, options);
        assert.ok(method !== 'tools/list' || all.length > 1);
        const scope = member === 'resourceTemplates' ? 'public' : 'private';
        assert.deepEqual([...new Set(all.map(({ cacheScope }) => cacheScope))], [scope], method);
      }
    }
  });

  it('cursors lead through the whole list once; one that is none is -32602', async () => {
    const all = await pages('tools/list');
    assert.deepEqual(
      all.map(({ tools }) => tools.length),
      [3, 3, 3, 2],
    );
    assert.equal(new Set(all.flatMap(({ tools }) => tools).map(({ name }) => name)).size, 11);
    for (const cursor of ['', 'x', 7, null, {}, all[0].nextCursor.slice(1)])
      assert.equal((await gateway.ask('tools/list', { cursor })).message.error?.code, -32602, JSON.stringify(cursor));
  });
});

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

describe('completion', () => {
  const complete = (ref: unknown, argument: unknown, options: SendOptions = {}) =>
    gateway.ask('completion/complete', { ref, argument }, options);

  it('COMP-03 a reference and an argument that are none are -32602', async () => {
    const greet = { type: 'ref/prompt', name: 'greet' };
    const who = { name: 'who', value: '' };
    assert.deepEqual((await complete(greet, who)).message.result.completion, { values: ['greet Ada'], total: 1, hasMore: false });
    for (const ref of [
      undefined,
      null,
      {},
      'greet',
      { type: 'ref/prompt' },
      { type: 'ref/prompt', name: 'none' },
      { type: 'x', name: 'greet' },
    ])
      assert.equal((await complete(ref, who)).message.error?.code, -32602, JSON.stringify(ref));
    for (const argument of [undefined, {}, { name: 'who' }, { name: 'who', value: 7 }, { name: 7, value: '' }])
      assert.equal((await complete(greet, argument)).message.error?.code, -32602, JSON.stringify(argument));
  });

  it('COMP-05 COMP-06 suggestions for what the caller may not see are as those for what does not exist', async () => {
    const who = { name: 'who', value: '' };
    const of = async (name: string, key: 'ada' | 'bob') => (await complete({ type: 'ref/prompt', name }, who, as(key))).message;
    assert.deepEqual((await of('for_admins', 'ada')).result.completion.values, ['for_admins Ada']);
    const same = (message: Json) =>
      JSON.stringify(message)
        .replace(/for_admins|none/g, '…')
        .replace(/"request_id":"[^"]*"/, '');
    assert.equal(same(await of('for_admins', 'bob')), same(await of('none', 'bob')));
  });
});
