import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defineServer } from '../../src/server.js';
import { type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { as, LISTS, pages } from '../support/protocol/lists.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

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
        const all = await pages(gateway, method, options);
        assert.ok(method !== 'tools/list' || all.length > 1);
        const scope = member === 'resourceTemplates' ? 'public' : 'private';
        assert.deepEqual([...new Set(all.map(({ cacheScope }) => cacheScope))], [scope], method);
      }
    }
  });

  it('cursors lead through the whole list once; one that is none is -32602', async () => {
    const all = await pages(gateway, 'tools/list');
    assert.deepEqual(
      all.map(({ tools }) => tools.length),
      [3, 3, 3, 2],
    );
    assert.equal(new Set(all.flatMap(({ tools }) => tools).map(({ name }) => name)).size, 11);
    for (const cursor of ['', 'x', 7, null, {}, all[0].nextCursor.slice(1)])
      assert.equal((await gateway.ask('tools/list', { cursor })).message.error?.code, -32602, JSON.stringify(cursor));
  });
});
