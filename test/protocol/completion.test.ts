import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Json, type ProtocolGateway, type SendOptions, startProtocolGateway } from '../support/protocol/gateway.js';
import { as } from '../support/protocol/lists.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

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
