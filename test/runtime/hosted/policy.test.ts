import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServerDefinition } from '../../../src/server.js';
import { makeIdentity } from '../../../src/testing/head.js';
import { hosting } from '../../support/hosted.js';

const run = () => 'ran';
const SERVER: Partial<ServerDefinition> = {
  tools: [
    { name: 'open', run },
    { name: 'admin', scopes: ['tools.admin', 'tools.use'], run },
    { name: 'late', run },
  ],
  resources: [
    { uri: 'x:1', name: 'one', read: run },
    { uri: 'x:2', name: 'two', scopes: ['secrets'], read: run },
  ],
  templates: [
    { uriTemplate: 'y:{id}', name: 'y', scopes: ['secrets'], read: () => 'guarded' },
    { uriTemplate: 'y:{+rest}', name: 'z', read: () => 'open' },
  ],
  prompts: [{ name: 'p', scopes: ['secrets'], arguments: [{ name: 'a' }], get: run }],
  completions: [{ prompt: 'p', argument: 'a', complete: () => ['secret'] }],
  policy: (identity, component) => component.name !== 'late' || identity?.principal === 'alice',
};
const anybody = makeIdentity({ principal: 'bob' });
const admin = makeIdentity({ scopes: new Set(['tools.admin', 'tools.use', 'secrets']) });

describe('hosted servers with scopes and a policy', () => {
  it('show each caller what it may use, privately', async () => {
    const host = hosting({ ...SERVER, caching: { scope: 'public' } });
    const names = async (method: string, member: string, identity?: ReturnType<typeof makeIdentity>) => {
      const { result } = (await host.ask(method, {}, identity === undefined ? {} : { identity })).body;
      assert.equal(result.cacheScope, 'private');
      return result[member].map((item: { name: string }) => item.name);
    };
    assert.deepEqual(await names('tools/list', 'tools'), ['open']);
    assert.deepEqual(await names('tools/list', 'tools', anybody), ['open']);
    assert.deepEqual(await names('tools/list', 'tools', makeIdentity({ scopes: new Set(['tools.admin']) })), ['open', 'late']);
    assert.deepEqual(await names('tools/list', 'tools', admin), ['open', 'admin', 'late']);
    assert.deepEqual(await names('resources/list', 'resources', anybody), ['one']);
    assert.deepEqual(await names('resources/templates/list', 'resourceTemplates', anybody), ['z']);
    assert.deepEqual(await names('prompts/list', 'prompts', anybody), []);
    assert.deepEqual(await names('prompts/list', 'prompts', admin), ['p']);
    await host.close();
  });

  it('answer a call of what is hidden exactly as one of what does not exist, and say why to the operator', async () => {
    const host = hosting(SERVER);
    const error = async (method: string, params: object) => {
      const { status, body } = await host.ask(method, params, { identity: anybody, request_id: 'r' });
      return [status, JSON.stringify(body.error)];
    };
    for (const [method, hidden, absent] of [
      ['tools/call', { name: 'admin' }, { name: 'adnim' }],
      ['tools/call', { name: 'late' }, { name: 'lame' }],
      ['tools/call', { name: 'admin', arguments: 7 }, { name: 'adnim', arguments: 7 }],
      ['resources/read', { uri: 'x:2' }, { uri: 'x:3' }],
      ['prompts/get', { name: 'p' }, { name: 'q' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
        { ref: { type: 'ref/prompt', name: 'q' }, argument: { name: 'a', value: '' } },
      ],
    ] as const) {
      const [status, body] = await error(method, hidden);
      const [absent_status, absent_body] = await error(method, absent);
      assert.deepEqual([status, (body as string).length], [absent_status, (absent_body as string).length], method);
      assert.match(body as string, /"code":-32602/);
    }
    assert.deepEqual(
      host.hidden.map(({ component, why, identity, route }) => [component.kind, component.name, why, identity?.principal, route]),
      [
        ['tool', 'admin', 'scopes', 'bob', '/mcp'],
        ['tool', 'late', 'policy', 'bob', '/mcp'],
        ['tool', 'admin', 'scopes', 'bob', '/mcp'],
        ['resource', 'x:2', 'scopes', 'bob', '/mcp'],
        ['prompt', 'p', 'scopes', 'bob', '/mcp'],
        ['prompt', 'p', 'scopes', 'bob', '/mcp'],
      ],
    );
    await host.close();
  });

  it('let a caller use what it may, and fall to the next template', async () => {
    const host = hosting(SERVER);
    const text = async (uri: string, identity: ReturnType<typeof makeIdentity>) =>
      (await host.ask('resources/read', { uri }, { identity })).body.result.contents[0].text;
    assert.equal((await host.ask('tools/call', { name: 'admin' }, { identity: admin })).body.result.content[0].text, 'ran');
    assert.equal(await text('y:1', admin), 'guarded');
    assert.equal(await text('y:1', anybody), 'open');
    await host.close();
  });

  it('hide what a policy that throws was asked about', async () => {
    const host = hosting({
      tools: [{ name: 't', run }],
      policy: () => {
        throw new Error('the policy is broken');
      },
    });
    assert.deepEqual((await host.ask('tools/list')).body.result.tools, []);
    assert.equal((await host.ask('tools/call', { name: 't' })).body.error.code, -32602);
    assert.ok(JSON.stringify(host.log.lines).includes('the policy is broken'));
    await host.close();
  });
});
