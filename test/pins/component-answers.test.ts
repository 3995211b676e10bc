import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withConcurrency, withRateLimit, withTimeout } from '../../src/server.js';
import { hosting } from '../support/hosted.js';

// What callers see of the component limits: a tool's result with isError, JSON-RPC error -32603 for resources and prompts.

const never = () => new Promise<never>(() => {});
const TOO_MANY = 'Component rate limit reached';

describe('pins: Component limits, answers', () => {
  it('a tool answers with an isError result', async () => {
    const host = hosting({
      tools: [
        { name: 'slow', wrap: [withTimeout()], run: never },
        { name: 'one', wrap: [withConcurrency({ limit: 1 })], run: never },
        { name: 'rare', wrap: [withRateLimit({ limit: 1 })], run: () => 'ok' },
        {
          name: 'keyed',
          wrap: [withRateLimit({ max_keys: 1, key: ({ identity }) => identity?.principal ?? `${keys++}` })],
          run: () => 'ok',
        },
      ],
    });
    let keys = 0;
    const textOf = async (asked: ReturnType<typeof host.ask>) => {
      const { content, isError } = (await asked).body.result;
      return isError === true ? content[0].text : undefined;
    };
    const slow = textOf(host.ask('tools/call', { name: 'slow' }));
    host.clock.advance(5_000);
    assert.equal(await slow, 'Component timed out');
    const first = host.send('tools/call', { name: 'one' });
    assert.equal(await textOf(host.ask('tools/call', { name: 'one' })), 'Component concurrency limit reached');
    first.cancel('client');
    assert.equal(await textOf(host.ask('tools/call', { name: 'rare' })), undefined);
    assert.equal(await textOf(host.ask('tools/call', { name: 'rare' })), TOO_MANY);
    assert.equal(await textOf(host.ask('tools/call', { name: 'keyed' })), undefined);
    assert.equal(await textOf(host.ask('tools/call', { name: 'keyed' })), 'Component rate key capacity reached');
    await host.close();
  });

  it('resources, templates and prompts answer with -32603', async () => {
    const wrap = [withRateLimit({ limit: 1 })];
    const host = hosting({
      resources: [{ uri: 'x:1', name: 'x', wrap, read: () => 'ok' }],
      templates: [{ uriTemplate: 'y:{id}', name: 'y', wrap, read: () => 'ok' }],
      prompts: [{ name: 'p', wrap, get: () => 'ok' }],
    });
    for (const [method, params] of [
      ['resources/read', { uri: 'x:1' }],
      ['resources/read', { uri: 'y:1' }],
      ['prompts/get', { name: 'p' }],
    ] as const) {
      assert.equal((await host.ask(method, params)).body.error, undefined, method);
      const { code, message } = (await host.ask(method, params)).body.error;
      assert.deepEqual([code, message], [-32603, TOO_MANY], method);
    }
    await host.close();
  });
});
