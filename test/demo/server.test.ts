import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { advancing, allEvents, events, legacy, modern, modernBody, modernHead, post, withDemo } from './rpc.js';

const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'portcullis-demo', version: '1.0.0' } };

describe('demo server, modern era', () => {
  it('discovers what it is', () =>
    withDemo(async (url) => {
      const { status, body } = await modern(url, 'server/discover');
      assert.equal(status, 200);
      assert.deepEqual(body.result.supportedVersions, ['2026-07-28']);
      assert.deepEqual(body.result.capabilities, { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} });
      assert.deepEqual(body.result._meta, SERVER_INFO);
      assert.deepEqual([body.result.resultType, body.result.ttlMs, body.result.cacheScope], ['complete', 3_600_000, 'public']);
    }));

  it('gives caching hints exactly where the revision asks for them', () =>
    withDemo(async (url) => {
      const calls: readonly [string, Record<string, unknown>, boolean][] = [
        ['tools/list', {}, true],
        ['resources/list', {}, true],
        ['resources/templates/list', {}, true],
        ['resources/read', { uri: 'demo://about' }, true],
        ['prompts/list', {}, true],
        ['prompts/get', { name: 'greet', arguments: { name: 'Ada' } }, false],
        ['tools/call', { name: 'echo', arguments: { text: 'x' } }, false],
        ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'language', value: 'e' } }, false],
      ];
      for (const [method, params, hinted] of calls) {
        const { body } = await post(url, modernBody(method, params), modernHead(method, namedBy(method, params)));
        assert.equal(body.result?.resultType, 'complete', method);
        assert.equal('ttlMs' in body.result, hinted, method);
        assert.equal('cacheScope' in body.result, hinted, method);
        assert.deepEqual(body.result._meta, SERVER_INFO);
      }
    }));

  it('answers tools, resources, prompts and completion', () =>
    withDemo(async (url) => {
      const call = async (name: string, given: unknown) => (await modern(url, 'tools/call', { name, arguments: given })).body.result;
      assert.deepEqual((await call('echo', { text: 'héllo' })).content, [{ type: 'text', text: 'héllo' }]);
      const sum = await call('add', { a: 2, b: 0.5 });
      assert.deepEqual([sum.structuredContent, sum.content[0].text], [{ sum: 2.5 }, '{"sum":2.5}']);
      assert.equal((await call('add', { a: '2', b: 1 })).isError, true);
      assert.equal((await call('countdown', { from: 61 })).isError, true);
      const read = async (uri: string) => (await modern(url, 'resources/read', { uri })).body;
      assert.equal((await read('demo://greeting/pt')).result.contents[0].text, 'Olá');
      const { code, data } = (await read('demo://greeting/constructor')).error;
      assert.deepEqual([code, data], [-32602, { uri: 'demo://greeting/constructor' }]);
      const prompt = await modern(url, 'prompts/get', { name: 'greet', arguments: { name: 'Ada', language: 'de' } });
      assert.equal(prompt.body.result.messages[0].content.text, 'Say “Hallo, Ada!” in your own words.');
      const ref = { type: 'ref/resource', uri: 'demo://greeting/{language}' };
      const completion = await post(
        url,
        modernBody('completion/complete', { ref, argument: { name: 'language', value: 'e' } }),
        modernHead('completion/complete'),
      );
      assert.deepEqual(completion.body.result.completion, { values: ['en', 'es'], total: 2, hasMore: false });
    }));

  it('shows nobody on a public route, whatever a client says', () =>
    withDemo(async (url) => {
      const body = modernBody('tools/call', { name: 'whoami', arguments: {} });
      const told = await post(url, body, { ...modernHead('tools/call', 'whoami'), 'x-portcullis-identity': 'alice' });
      assert.deepEqual(told.body.result.structuredContent, { identity: null });
    }));

  it('refuses what the revision says must be refused', () =>
    withDemo(async (url) => {
      const echo = { name: 'echo', arguments: { text: 'x' } };
      const good = modernBody('tools/call', echo);
      const head = modernHead('tools/call', 'echo');
      const without = (name: string) => Object.fromEntries(Object.entries(head).filter(([key]) => key !== name));
      const bare = (meta: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...echo, _meta: meta } });
      const cases: readonly [string, string, Record<string, string>, number, number][] = [
        ['no Mcp-Method', good, without('mcp-method'), 400, -32020],
        ['no Mcp-Name', good, without('mcp-name'), 400, -32020],
        ['no version header', good, without('mcp-protocol-version'), 400, -32020],
        ['another method', good, { ...head, 'mcp-method': 'tools/list' }, 400, -32020],
        ['another name', good, { ...head, 'mcp-name': 'add' }, 400, -32020],
        ['another version', good, { ...head, 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
        ['an unknown version', good, { ...head, 'mcp-protocol-version': '2030-01-01' }, 400, -32022],
        ['no _meta', bare({}), head, 400, -32602],
        ['no capabilities', bare({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }), head, 400, -32602],
        ['an unknown method', modernBody('x/y'), modernHead('x/y'), 404, -32601],
        ['initialize', modernBody('initialize'), modernHead('initialize'), 404, -32601],
        ['ping', modernBody('ping'), modernHead('ping'), 404, -32601],
        ['an inherited method', modernBody('constructor'), modernHead('constructor'), 404, -32601],
        ['an unknown tool', modernBody('tools/call', { name: 'toString' }), modernHead('tools/call', 'toString'), 200, -32602],
        ['an id past 64 bits', good.replace('"id":1', '"id":9223372036854775808'), head, 400, -32600],
        ['a null id', good.replace('"id":1', '"id":null'), head, 400, -32600],
        ['a batch', `[${good}]`, head, 400, -32600],
        ['no JSON', '{', head, 400, -32700],
      ];
      for (const [what, body, headers, status, code] of cases) {
        const answer = await post(url, body, headers);
        assert.deepEqual([answer.status, answer.body.error.code], [status, code], what);
      }
      const unknown = await post(url, good, { ...head, 'mcp-protocol-version': '2030-01-01' });
      assert.deepEqual(unknown.body.error.data, {
        code: 'UNSUPPORTED_VERSION',
        request_id: unknown.headers.get('x-request-id'),
        supported: ['2026-07-28'],
        requested: '2030-01-01',
      });
      assert.equal((await post(url, good, { ...head, 'mcp-name': '=?base64?ZWNobw==?=' })).status, 200);
      assert.equal((await post(url, good.replace('"id":1', '"id":"1"'), head)).body.id, '1');
    }));

  it('streams progress and then the result', () =>
    withDemo(async (url, clock) => {
      const body = modernBody('tools/call', { name: 'countdown', arguments: { from: 3 } }, { progressToken: 'p' }, 'c1');
      const seen = await advancing(
        clock,
        300,
        (async () => {
          const response = await fetch(url, { method: 'POST', body, headers: modernHead('tools/call', 'countdown') });
          assert.equal(response.headers.get('content-type'), 'text/event-stream');
          assert.equal(response.headers.get('x-accel-buffering'), 'no');
          return allEvents(response);
        })(),
      );
      assert.deepEqual(
        seen.slice(0, 3).map((event) => [event.method, event.params]),
        [1, 2, 3].map((progress) => [
          'notifications/progress',
          { progressToken: 'p', progress, total: 3, message: `${3 - progress} to go` },
        ]),
      );
      assert.deepEqual([seen.length, seen[3].id, seen[3].result.content[0].text], [4, 'c1', 'Counted down from 3.']);
    }));

  it('counts down as plain JSON without a token', () =>
    withDemo(async (url, clock) => {
      const answer = await advancing(clock, 300, modern(url, 'tools/call', { name: 'countdown', arguments: { from: 2 } }));
      assert.equal(answer.headers.get('content-type'), 'application/json');
      assert.equal(answer.body.result.content[0].text, 'Counted down from 2.');
    }));

  it('stops when the client leaves', () =>
    withDemo(async (url, clock) => {
      const gone = new AbortController();
      const body = modernBody('tools/call', { name: 'countdown', arguments: { from: 60 } });
      const call = fetch(url, { method: 'POST', body, headers: modernHead('tools/call', 'countdown'), signal: gone.signal });
      while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      gone.abort();
      await assert.rejects(call, { name: 'AbortError' });
      while (clock.pending !== 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }));

  it('acknowledges a subscription first, names only what it delivers, and completes it when it drains', () =>
    withDemo(async (url, clock, demo) => {
      const notifications = { toolsListChanged: true, resourceSubscriptions: ['demo://ticks', 'demo://nothing'] };
      const response = await fetch(url, {
        method: 'POST',
        body: modernBody('subscriptions/listen', { notifications }, {}, 's1'),
        headers: modernHead('subscriptions/listen'),
      });
      const stream = events(response);
      const next = async () => (await stream.next()).value;
      const mark = { 'io.modelcontextprotocol/subscriptionId': 's1' };
      assert.deepEqual(await next(), {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { resourceSubscriptions: ['demo://ticks'] }, _meta: mark },
      });
      clock.advance(2_000);
      assert.deepEqual((await next()).params, { uri: 'demo://ticks', _meta: mark });
      const draining = demo.listening.listener.drain.begin();
      const last = await next();
      const named = { ...mark, 'io.modelcontextprotocol/serverInfo': { name: 'portcullis-demo', version: '1.0.0' } };
      assert.deepEqual([last.id, last.result], ['s1', { resultType: 'complete', _meta: named }]);
      assert.equal((await stream.next()).done, true);
      await draining;
      assert.equal(demo.listening.counts.get('closed listen drain'), 1);
      assert.equal(clock.pending, 0);
    }));

  it('completes at once a subscription that it has nothing for', () =>
    withDemo(async (url) => {
      const response = await fetch(url, {
        method: 'POST',
        body: modernBody('subscriptions/listen', { notifications: { toolsListChanged: true } }),
        headers: modernHead('subscriptions/listen'),
      });
      const seen = await allEvents(response);
      assert.deepEqual(
        seen.map((event) => event.params?.notifications ?? event.result.resultType),
        [{}, 'complete'],
      );
      const odd = await post(url, modernBody('subscriptions/listen', {}), modernHead('subscriptions/listen'));
      assert.deepEqual([odd.status, odd.body.error.code], [400, -32602]);
    }));
});

describe('demo server, legacy eras', () => {
  it('negotiates a revision and gives a session id', () =>
    withDemo(async (url) => {
      const cases = [
        ['2025-11-25', '2025-11-25'],
        ['2025-06-18', '2025-06-18'],
        ['2025-03-26', '2025-03-26'],
        ['2024-11-05', '2024-11-05'],
        ['2026-07-28', '2025-11-25'],
      ];
      for (const [asked, given] of cases) {
        const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 't', version: '1' } };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
        const answer = await post(url, body, { 'content-type': 'application/json; charset=utf-8' });
        assert.deepEqual([answer.status, answer.body.id, answer.body.result.protocolVersion], [200, 0, given]);
        assert.match(answer.headers.get('mcp-session-id') ?? '', /^[\x21-\x7e]{1,320}$/);
      }
    }));

  it('pings, takes notifications and responses, and gives no modern fields', () =>
    withDemo(async (url) => {
      assert.deepEqual((await legacy(url, 'ping')).body, { jsonrpc: '2.0', id: 7, result: {} });
      const list = (await legacy(url, 'tools/list')).body.result;
      assert.deepEqual(Object.keys(list), ['tools']);
      const json = { 'content-type': 'application/json' };
      const notified = await post(url, '{"jsonrpc":"2.0","method":"notifications/initialized"}', json);
      assert.deepEqual([notified.status, notified.body], [202, undefined]);
      assert.equal((await post(url, '{"jsonrpc":"2.0","id":3,"result":{}}', json)).status, 202);
    }));

  it('answers errors in HTTP 200, with the codes of those revisions', () =>
    withDemo(async (url) => {
      const missing = await legacy(url, 'resources/read', { uri: 'demo://none' });
      assert.deepEqual([missing.status, missing.body.error.code], [200, -32002]);
      const unknown = await legacy(url, 'server/discover');
      assert.deepEqual([unknown.status, unknown.body.error.code], [200, -32601]);
      const version = await legacy(url, 'ping', {}, '2024-11-05');
      assert.deepEqual([version.status, version.body.result], [200, {}]);
    }));
});

function namedBy(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  if (method === 'resources/read') return params.uri as string;
  return method === 'tools/call' || method === 'prompts/get' ? (params.name as string) : undefined;
}
