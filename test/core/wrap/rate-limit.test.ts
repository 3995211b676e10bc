import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { makeClock } from 'portcullis/testing';
import { withRateLimit } from '../../../src/core/wrap/rate-limit.js';
import type { Handler } from '../../../src/core/wrap/wrapper.js';
import { createWrapState } from '../../../src/core/wrap/wrapper.js';
import { makeCall, textOf } from './support.js';

const open = (options?: Parameters<typeof withRateLimit>[0], handler: Handler = () => 'ok') => {
  const clock = makeClock();
  return { clock, run: withRateLimit(options).open(clock, createWrapState())(handler) };
};
const byPrincipal = (context: { readonly identity: { readonly principal: string } | undefined }) => context.identity?.principal ?? '';
const LIMIT = 'Component rate limit reached';
const FULL = 'Component rate key capacity reached';

describe('wrapper: rate limit', () => {
  it('admits 60 calls in the 60 000 ms from the first one by default; refused calls do no work and do not count', async () => {
    let ran = 0;
    const { clock, run } = open(undefined, () => ++ran);
    clock.advance(12_345);
    await run('in', makeCall());
    clock.advance(59_999);
    for (let n = 1; n < 60; n++) await run('in', makeCall());
    for (let n = 0; n < 100; n++) assert.equal(await textOf(() => run('in', makeCall())), LIMIT);
    assert.equal(ran, 60);
    clock.advance(1);
    for (let n = 0; n < 60; n++) await run('in', makeCall());
    assert.equal(await textOf(() => run('in', makeCall())), LIMIT);
    assert.equal(ran, 120);
  });

  it('counts an admitted call that fails', async () => {
    const { run } = open({ limit: 2 }, () => Promise.reject(new Error('boom')));
    for (let n = 0; n < 2; n++) await assert.rejects(async () => run('in', makeCall()), /boom/);
    assert.equal(await textOf(() => run('in', makeCall())), LIMIT);
  });

  it('keeps 10 000 keys a component by default; the next is refused until one is over, and old keys go on', async () => {
    const { clock, run } = open({ key: byPrincipal });
    for (let n = 0; n < 10_000; n++) {
      await run('in', makeCall(String(n)));
      if (n === 4_999) clock.advance(30_000);
    }
    assert.equal(await textOf(() => run('in', makeCall('new'))), FULL);
    assert.equal(await textOf(() => run('in', makeCall('9999'))), 'ok');
    clock.advance(29_999);
    assert.equal(await textOf(() => run('in', makeCall('new'))), FULL);
    clock.advance(1);
    for (let n = 0; n < 5_000; n++) assert.equal(await textOf(() => run('in', makeCall(`new ${n}`))), 'ok');
    assert.equal(await textOf(() => run('in', makeCall('one more'))), FULL);
  });

  it('a key whose window is over begins anew in its own place when there is no room', async () => {
    const { clock, run } = open({ key: byPrincipal, limit: 1, max_keys: 2, window_ms: 100 });
    assert.equal(await textOf(() => run('in', makeCall('a'))), 'ok');
    clock.advance(50);
    assert.equal(await textOf(() => run('in', makeCall('b'))), 'ok');
    clock.advance(50);
    assert.equal(await textOf(() => run('in', makeCall('a'))), 'ok');
    assert.equal(await textOf(() => run('in', makeCall('c'))), FULL);
    clock.advance(50);
    assert.equal(await textOf(() => run('in', makeCall('c'))), 'ok');
    assert.equal(await textOf(() => run('in', makeCall('a'))), LIMIT);
  });

  it('equals a list of calls under any arrivals', async () => {
    const step = fc.record({ wait_ms: fc.nat(60), key: fc.constantFrom('a', 'b', 'c', 'd') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 120 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, limit, max_keys) => {
          const { clock, run } = open({ key: byPrincipal, limit, max_keys, window_ms: 100 });
          const begun = new Map<string, { readonly at_ms: number; count: number }>();
          for (const { wait_ms, key } of steps) {
            clock.advance(wait_ms);
            for (const [name, { at_ms }] of begun) if (clock.mono_ms() - at_ms >= 100) begun.delete(name);
            const window = begun.get(key);
            let expected = 'ok';
            if (window !== undefined && window.count >= limit) expected = LIMIT;
            else if (window !== undefined) window.count += 1;
            else if (begun.size >= max_keys) expected = FULL;
            else begun.set(key, { at_ms: clock.mono_ms(), count: 1 });
            assert.equal(await textOf(() => run('in', makeCall(key))), expected);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('names an option that is wrong', () => {
    for (const name of ['limit', 'window_ms', 'max_keys'])
      for (const value of [0, 1.5, Number.NaN])
        assert.throws(() => withRateLimit({ [name]: value }), {
          name: 'RangeError',
          message: `rate limit: ${name} must be a positive integer, not ${value}`,
        });
    assert.throws(() => withRateLimit({ window: 5 } as object), {
      name: 'TypeError',
      message: 'rate limit: there is no option window; there is limit, window_ms, max_keys, key',
    });
  });
});
