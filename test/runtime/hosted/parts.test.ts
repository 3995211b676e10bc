import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineTool, RpcError, type ServerDefinition, Type, withConcurrency, withRateLimit, withTimeout } from '../../../src/server.js';
import { hosting, type Json } from '../../support/hosted.js';

const run = () => '';
const PARTS: Partial<ServerDefinition> = {
  resources: [
    { uri: 'x:text', name: 'text', mimeType: 'text/plain', read: () => 'té' },
    { uri: 'x:bytes', name: 'bytes', caching: { ttl_ms: 5000, scope: 'public' }, read: () => new Uint8Array([255, 0]).subarray(0, 1) },
    { uri: 'x:many', name: 'many', read: () => ({ contents: [{ uri: 'x:a', text: 'a' }], _meta: { 'com.example/n': 1 } }) },
    { uri: 'x:gone', name: 'gone', read: () => undefined },
    { uri: 'x:empty', name: 'empty', read: () => ({ contents: [] }) },
  ],
  templates: [{ uriTemplate: 'y:{id}/{+path}', name: 'y', read: ({ variables }) => JSON.stringify(variables) }],
  prompts: [
    {
      name: 'short',
      description: 'Short.',
      arguments: [{ name: 'who', required: true }, { name: 'how' }],
      get: ({ who, how }) => `${who} ${how}`,
    },
    { name: 'long', get: () => ({ messages: [{ role: 'assistant', content: { type: 'text', text: 'hi' } }] }) },
  ],
  completions: [
    { prompt: 'short', argument: 'how', complete: ({ value, arguments: settled }) => [`${value}-${settled.who}`] },
    { template: 'y:{id}/{+path}', argument: 'id', complete: () => Array.from({ length: 150 }, (_, n) => `${n}`) },
  ],
};

describe('hosted resources', () => {
  it('are read as text, bytes, contents and by template, with their caching', async () => {
    const host = hosting(PARTS);
    const read = async (uri: string): Promise<Json> => (await host.ask('resources/read', { uri })).body.result;
    const { contents, ttlMs, cacheScope } = await read('x:text');
    assert.deepEqual([contents, ttlMs, cacheScope], [[{ uri: 'x:text', mimeType: 'text/plain', text: 'té' }], 0, 'private']);
    const bytes = await read('x:bytes');
    assert.deepEqual([bytes.contents, bytes.ttlMs, bytes.cacheScope], [[{ uri: 'x:bytes', blob: '/w==' }], 5000, 'public']);
    const many = await read('x:many');
    assert.deepEqual([many.contents, many._meta['com.example/n']], [[{ uri: 'x:a', text: 'a' }], 1]);
    assert.deepEqual(JSON.parse((await read('y:1/a/b')).contents[0].text), { id: '1', path: 'a/b' });
    await host.close();
  });

  it('answer -32602 with the URI when they are not there, and never an empty list', async () => {
    const host = hosting(PARTS);
    for (const uri of ['x:none', 'x:gone', 'constructor']) {
      const { status, body } = await host.ask('resources/read', { uri });
      assert.deepEqual([status, body.error.code, body.error.data.uri], [200, -32602, uri]);
    }
    assert.equal((await host.ask('resources/read', { uri: 'x:empty' })).body.error.code, -32603);
    await host.close();
  });
});

describe('hosted prompts and completion', () => {
  it('take declared texts only', async () => {
    const host = hosting(PARTS);
    const get = async (name: string, args?: unknown) => {
      const { body } = await host.ask('prompts/get', { name, arguments: args });
      return body.error === undefined ? body.result.messages : body.error.message;
    };
    assert.deepEqual(await get('short', { who: 'Ada' }), [{ role: 'user', content: { type: 'text', text: 'Ada undefined' } }]);
    assert.deepEqual(await get('long'), [{ role: 'assistant', content: { type: 'text', text: 'hi' } }]);
    assert.equal(await get('short'), 'The params are not valid. The argument "who" is missing.');
    assert.equal(await get('short', { who: 'x', toString: 'y' }), 'The params are not valid. There is no argument "toString".');
    assert.equal(await get('short', { who: 7 }), 'The params are not valid. The argument "who" must be a text.');
    assert.equal(await get('short', []), 'The params are not valid. params.arguments must be an object.');
    assert.equal(await get('nope'), 'There is no such component. Unknown prompt: nope');
    await host.close();
  });

  it('complete arguments and variables, at most 100 values', async () => {
    const host = hosting(PARTS);
    const complete = async (ref: object, name: string, more: object = {}): Promise<Json> =>
      (await host.ask('completion/complete', { ref, argument: { name, value: 'v' }, ...more })).body;
    const prompt = { type: 'ref/prompt', name: 'short' };
    const settled = await complete(prompt, 'how', { context: { arguments: { who: 'Ada' } } });
    assert.deepEqual(settled.result.completion, { values: ['v-Ada'], total: 1, hasMore: false });
    const template = await complete({ type: 'ref/resource', uri: 'y:{id}/{+path}' }, 'id');
    const { values, total, hasMore } = template.result.completion;
    assert.deepEqual([values.length, total, hasMore], [100, 150, true]);
    assert.deepEqual((await complete(prompt, 'who')).result.completion, { values: [], total: 0, hasMore: false });
    for (const [ref, more] of [
      [{ type: 'ref/prompt', name: 'nope' }, {}],
      [{ type: 'ref/tool', name: 'short' }, {}],
      ['short', {}],
      [prompt, { argument: { name: 'how' } }],
      [prompt, { context: { arguments: { who: 1 } } }],
    ] as const)
      assert.equal((await complete(ref as object, 'how', more)).error.code, -32602);
    await host.close();
  });
});

describe('hosted lists', () => {
  it('come in pages with cursors that only they understand', async () => {
    const tools = Array.from({ length: 5 }, (_, n) => ({ name: `t${n}`, run }));
    const host = hosting({ tools, page_size: 2, prompts: [{ name: 'p', get: run }] });
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 9; pages++) {
      const { result } = (await host.ask('tools/list', cursor === undefined ? {} : { cursor })).body;
      seen.push(result.tools.map((tool: { name: string }) => tool.name).join());
      assert.deepEqual([result.ttlMs, result.cacheScope], [60_000, 'private']);
      cursor = result.nextCursor;
      if (cursor === undefined) break;
      assert.ok(cursor.length <= 64);
    }
    assert.deepEqual(seen, ['t0,t1', 't2,t3', 't4']);
    const next = (await host.ask('tools/list')).body.result.nextCursor;
    const forged = (text: string) => Buffer.from(text).toString('base64url');
    for (const bad of [
      '',
      'x',
      `${next}=`,
      forged('tools/list 0'),
      forged('tools/list 1'),
      forged('tools/list 6'),
      forged('tools/list 02'),
      'A'.repeat(65),
      7,
      null,
      {},
    ])
      assert.equal((await host.ask('tools/list', { cursor: bad })).body.error?.code, -32602, String(bad));
    assert.equal((await host.ask('prompts/list', { cursor: next })).body.error.code, -32602);
    await host.close();
  });
});

describe('x-mcp-header of a hosted tool', () => {
  const property = (type: string, header: string) => ({ type: [type][0], 'x-mcp-header': header });
  const host = () =>
    hosting({
      tools: [
        {
          name: 't',
          input: {
            type: 'object',
            properties: {
              region: property('string', 'Region'),
              deep: { type: 'object', properties: { level: property('integer', 'Level'), on: property('boolean', 'On') } },
            },
          },
          run,
        },
      ],
    });

  it('must say what the arguments say', async () => {
    const hosted = host();
    const call = async (args: object, headers: Record<string, string>, revision = '2026-07-28') => {
      const { status, body } = await hosted.ask('tools/call', { name: 't', arguments: args }, { headers, revision });
      return body.error === undefined ? 'ok' : `${status} ${body.error.code}`;
    };
    assert.equal(await call({}, {}), 'ok');
    assert.equal(await call({ region: 'eu' }, { 'Mcp-Param-Region': 'eu' }), 'ok');
    assert.equal(await call({ region: 'é' }, { 'mcp-param-region': '=?base64?w6k=?=' }), 'ok');
    assert.equal(await call({ deep: { level: 42, on: true } }, { 'Mcp-Param-Level': '42.0', 'Mcp-Param-On': 'true' }), 'ok');
    assert.equal(await call({ region: 'eu' }, { 'Mcp-Param-Region': ' eu ', 'Mcp-Param-Other': 'x' }), 'ok');
    assert.equal(await call({ region: 'eu' }, {}, '2025-11-25'), 'ok');
    for (const [args, headers] of [
      [{ region: 'eu' }, {}],
      [{ region: 'eu' }, { 'Mcp-Param-Region': 'us' }],
      [{ region: 'eu' }, { 'Mcp-Param-Region': 'EU' }],
      [{}, { 'Mcp-Param-Region': 'eu' }],
      [{ region: 'é' }, { 'Mcp-Param-Region': '=?base64?w6k?=' }],
      [{ deep: { level: 42 } }, { 'Mcp-Param-Level': '0x2a' }],
      [{ deep: { level: 42 } }, { 'Mcp-Param-Level': '' }],
      [{ deep: { level: 2 ** 53 } }, { 'Mcp-Param-Level': '9007199254740992' }],
      [{ deep: { on: true } }, { 'Mcp-Param-On': 'True' }],
      [{ region: { a: 1 } }, { 'Mcp-Param-Region': '[object Object]' }],
    ] as const)
      assert.equal(await call(args, headers), '400 -32020', JSON.stringify([args, headers]));
    const nothing = await hosted.ask('tools/call', { name: 't', arguments: { region: null } }, {});
    assert.equal(nothing.body.result.isError, true);
    await hosted.close();
  });
});

describe('limits around a hosted component', () => {
  it('answer a tool with a result of their own text, anything else with -32603', async () => {
    const never = () => new Promise<string>(() => undefined);
    const host = hosting({
      tools: [
        { name: 'slow', wrap: [withTimeout({ timeout_ms: 50 })], run: never },
        defineTool({ name: 'rare', input: Type.Object({}), wrap: [withRateLimit({ limit: 1 })], run }),
      ],
      prompts: [{ name: 'one', wrap: [withConcurrency({ limit: 1 })], get: never }],
    });
    const slow = host.ask('tools/call', { name: 'slow' });
    host.clock.advance(50);
    assert.deepEqual((await slow).body.result, {
      resultType: 'complete',
      content: [{ type: 'text', text: 'Component timed out' }],
      isError: true,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
    });
    assert.equal((await host.ask('tools/call', { name: 'rare', arguments: { bad: 1 } })).body.result.isError, undefined);
    assert.equal((await host.ask('tools/call', { name: 'rare' })).body.result.content[0].text, 'Component rate limit reached');
    const first = host.send('prompts/get', { name: 'one' });
    const second = await host.ask('prompts/get', { name: 'one' });
    assert.deepEqual([second.body.error.code, second.body.error.message], [-32603, 'Component concurrency limit reached']);
    first.cancel('client');
    assert.deepEqual(host.log.lines, []);
    await host.close();
  });
});

describe('errors and extensions of a hosted server', () => {
  it('tell an RpcError as it is, and know which codes are taken', async () => {
    const host = hosting({ prompts: [{ name: 'p', get: () => Promise.reject(new RpcError(4001, 'no credit', { left: 0 })) }] });
    assert.deepEqual((await host.ask('prompts/get', { name: 'p' })).body.error, { code: 4001, message: 'no credit', data: { left: 0 } });
    for (const code of [-32000, -32020, -32700, -32768, 1.5]) assert.throws(() => new RpcError(code, ''), RangeError, String(code));
    await host.close();
  });

  it('have a method only for a client that negotiated the extension', async () => {
    const id = 'com.example/echo';
    const host = hosting({ extensions: { [id]: { settings: { v: 1 }, methods: { 'echo/say': { run: ({ text }) => ({ text }) } } } } });
    assert.deepEqual((await host.ask('server/discover')).body.result.capabilities.extensions, { [id]: { v: 1 } });
    const said = await host.ask('echo/say', { text: 'x' }, { capabilities: { extensions: { [id]: {} } } });
    assert.deepEqual([said.body.result.resultType, said.body.result.text], ['complete', 'x']);
    assert.equal((await host.ask('echo/say', { text: 'x' })).status, 404);
    assert.equal((await host.ask('echo/say', { text: 'x' }, { capabilities: { extensions: { other: {} } } })).status, 404);
    assert.equal((await host.ask('echo/say', {}, { revision: '2025-11-25' })).body.error.code, -32601);
    await host.close();
  });
});
