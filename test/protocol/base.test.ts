import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createHttpHandler, createHub, defineServer } from '../../src/server.js';
import { SILENT } from '../../src/silent-log.js';
import { systemClock } from '../../src/system-clock.js';
import { headersOf, type Json, META, messagesIn, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { hub, server } from '../support/protocol/server.js';
import { rawExchange } from '../support/raw.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };
/** One request of each kind, and what becomes of it. */
const REQUESTS = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'echo', arguments: { text: 'x' } }],
  ['tools/call', { name: 'echo', arguments: {} }],
  ['tools/call', { name: 'ask' }],
  ['tools/call', { name: 'structured', arguments: { good: true } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'test://bytes' }],
  ['resources/read', { uri: 'test://ask' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'media' }],
  ['prompts/get', { name: 'ask' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } }],
  ['subscriptions/listen', { notifications: {} }],
] as const;
const FAILING = [
  ['none', {}],
  ['tools/call', { name: 'none' }],
  ['tools/call', { name: 'crash' }],
  ['tools/call', { name: 'structured', arguments: { good: false } }],
  ['resources/read', { uri: 'test://none' }],
  ['prompts/get', { name: 'none' }],
  ['prompts/get', { name: 'greet' }],
  ['tools/list', { cursor: 'no cursor' }],
  ['completion/complete', {}],
  ['subscriptions/listen', {}],
] as const;

async function everyMessage(): Promise<Json[]> {
  const all: Json[] = [];
  for (const [method, params] of [...REQUESTS, ...FAILING])
    all.push(...(await gateway.ask(method, params, { capabilities: CAPABILITIES, meta: { progressToken: 1 } })).messages);
  all.push(...(await gateway.ask('tools/call', { name: 'steps' }, { meta: { progressToken: 1, ...LOG_ALL } })).messages);
  return all;
}
const LOG_ALL = { 'io.modelcontextprotocol/logLevel': 'debug' };

describe('base protocol, messages', () => {
  it('BASE-02 BASE-21 TRAN-02 every message is JSON-RPC 2.0, and of the two kinds that a server sends', async () => {
    const messages = await everyMessage();
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

  it('BASE-12 the id is null only where it could not be read', async () => {
    for (const body of ['{', '[]', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'])
      assert.equal((await gateway.post(body, headersOf('tools/list'))).message.id, null, body);
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

describe('base protocol, JSON Schema', () => {
  const tool = (input: object) => defineServer({ name: 's', version: '1', tools: [{ name: 't', input: input as never, run: () => '' }] });

  it('BASE-24 BASE-25 BASE-26 a schema is read as 2020-12, with or without saying so', () => {
    const prefix_items = { type: 'object', properties: { a: { type: 'array', prefixItems: [{ type: 'string' }], items: false } } };
    tool(prefix_items);
    tool({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...prefix_items });
    // Before 2020-12 `items` might be a list.
    assert.throws(
      () => tool({ type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }] } } }),
      /no valid JSON Schema/,
    );
  });

  it('BASE-27 another dialect is refused by its name', () => {
    assert.throws(
      () => tool({ type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' }),
      /dialect http:\/\/json-schema\.org\/draft-07\/schema#; JSON Schema 2020-12 is spoken here/,
    );
  });

  it('BASE-28 TOOL-06 what is no schema, or no object, is no tool’s input', () => {
    for (const input of [{ type: 'object', required: 'a' }, { type: 'array' }, { type: 'object', properties: { a: { type: 'text' } } }, {}])
      assert.throws(() => tool(input), /tool "t": input /, JSON.stringify(input));
  });

  it('BASE-29 BASE-30 a $ref to the network is refused, and nothing can turn fetching on', () => {
    for (const $ref of ['https://example.com/s', 'http://127.0.0.1/s', '//example.com/s', 'file:///etc/passwd'])
      assert.throws(() => tool({ type: 'object', properties: { a: { $ref } } }), /only "#…" is resolved/, $ref);
  });
});

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
    const keys = new Set((await everyMessage()).flatMap(({ result, params }) => Object.keys((result ?? params)?._meta ?? {})));
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

describe('versioning', () => {
  it('BASE-01 VER-02 DISC-01 server/discover says what is served and who serves', async () => {
    const { result } = (await gateway.ask('server/discover')).message;
    assert.deepEqual(result, {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        extensions: { 'com.example/echo': {} },
      },
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'protocol', version: '1.0.0' } },
    });
  });

  it('VER-03 an extension id is a prefix and a name of _meta', () => {
    const define = (id: string) =>
      defineServer({ name: 's', version: '1', changes: createHub(), extensions: { [id]: { methods: { 'x/y': { run: () => ({}) } } } } });
    for (const id of ['com.example/thing', 'a/b', 'a-1.b2/x_y.z-1']) define(id);
    for (const id of [
      'thing',
      '/thing',
      'com.example/',
      'com..example/x',
      '1a/b',
      'a-/b',
      'a.b-/x',
      'com.example/x-',
      'com.example/-x',
      'a b/c',
    ])
      assert.throws(() => define(id), /extension id/, id);
  });

  it('VER-04 a method of an extension is not there for a client that did not declare it', async () => {
    const declared = { extensions: { 'com.example/echo': {} } };
    const said = await gateway.ask('echo/say', { text: 'x' }, { capabilities: declared });
    assert.deepEqual([said.status, said.message.result.text], [200, 'x']);
    for (const capabilities of [{}, { extensions: {} }, { extensions: { 'com.example/other': {} } }]) {
      const { status, message } = await gateway.ask('echo/say', { text: 'x' }, { capabilities });
      assert.deepEqual([status, message.error.code], [404, -32601]);
    }
  });
});
