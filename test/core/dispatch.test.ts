import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDispatch, createHub, defineServer, elicit, withRateLimit } from '../../src/server.js';
import { makeClock } from '../../src/testing/clock.js';
import { makeIdentity } from '../../src/testing/head.js';

const server = defineServer({
  name: 'x',
  version: '1',
  changes: createHub(),
  tools: [
    { name: 'now', run: (_input, { identity }) => identity?.principal ?? 'nobody' },
    { name: 'once', wrap: [withRateLimit({ limit: 1 })], run: () => 'ran' },
    {
      name: 'later',
      async run(_input, context) {
        context.progress(1);
        await Promise.resolve();
        throw new Error('broken');
      },
    },
    { name: 'ask', run: (_input, context) => (context.state === undefined ? context.inputRequired({ state: 1 }) : 'again') },
    { name: 'elicit', run: (_input, context) => context.inputRequired({ requests: { a: elicit('?', {}) } }) },
  ],
});

describe('dispatch', () => {
  const crashes: unknown[] = [];
  const dispatch = createDispatch(server, { clock: makeClock(), crashed: (error) => crashes.push(error) });
  const call = (name: string, more: object = {}) => ({ id: 'a', method: 'tools/call', params: { name, ...more } });

  it('answers in the caller’s own turn when the handler does', () => {
    const answer = dispatch(call('now'), { identity: makeIdentity() });
    assert.ok(!(answer instanceof Promise));
    assert.deepEqual([answer.id, answer.result?.content], ['a', [{ type: 'text', text: 'alice' }]]);
    assert.deepEqual(dispatch({ method: 'ping' }, { revision: '2025-11-25' }), { jsonrpc: '2.0', id: 1, result: {} });
    void dispatch(call('once'));
    const limited = dispatch(call('once'));
    assert.ok(!(limited instanceof Promise));
    assert.deepEqual(limited.result?.content, [{ type: 'text', text: 'Component rate limit reached' }]);
  });

  it('tells progress, and what was thrown to its owner only', async () => {
    const seen: unknown[] = [];
    const answer = await dispatch(call('later', { _meta: { progressToken: 'p' } }), { notify: (message) => seen.push(message) });
    assert.deepEqual(seen, [{ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } }]);
    assert.equal(answer.error?.code, -32603);
    assert.deepEqual(crashes.map(String), ['Error: broken']);
  });

  it('remembers a round, and has neither streams nor anybody to ask', async () => {
    const first = await dispatch(call('ask'));
    const { requestState } = first.result as { readonly requestState: string };
    assert.deepEqual((await dispatch(call('ask', { requestState }))).result?.content, [{ type: 'text', text: 'again' }]);
    assert.equal((await dispatch({ method: 'subscriptions/listen', params: { notifications: {} } })).error?.code, -32601);
    assert.equal((await dispatch(call('elicit'), { revision: '2025-11-25' })).error?.code, -32021);
    assert.throws(() => createDispatch({ name: 'x', version: '1' }, { clock: makeClock() }), TypeError);
  });
});
