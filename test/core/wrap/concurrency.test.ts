import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { withConcurrency } from '../../../src/core/wrap/concurrency.js';
import type { Handler } from '../../../src/core/wrap/wrapper.js';
import { createWrapState } from '../../../src/core/wrap/wrapper.js';
import { makeCall, makeHeld, textOf } from './support.js';

const open = (handler: Handler, options?: Parameters<typeof withConcurrency>[0]) =>
  withConcurrency(options).open(makeClock(), createWrapState())(handler);
const LIMIT = 'Component concurrency limit reached';

describe('wrapper: concurrency', () => {
  it('lets 32 run by default, refuses one more without work, and takes the next when one is done', async () => {
    const helds = Array.from({ length: 33 }, makeHeld);
    let started = 0;
    const run = open(() => helds[started++]?.promise);
    const answers = Array.from({ length: 32 }, () => textOf(() => run('in', makeCall())));
    assert.equal(await textOf(() => run('in', makeCall())), LIMIT);
    assert.equal(started, 32);
    helds[5]?.release('fifth');
    assert.equal(await answers[5], 'fifth');
    const next = textOf(() => run('in', makeCall()));
    assert.equal(started, 33);
    for (const held of helds) held.release('done');
    assert.equal(await next, 'done');
    await Promise.all(answers);
  });

  it('returns the permit however the handler ends, and keeps it while the handler runs, cancelled or not', async () => {
    const boom = new Error('boom');
    const held = makeHeld();
    const ends: readonly (() => unknown)[] = [
      () => {
        throw boom;
      },
      () => Promise.reject(boom),
      () => 'at once',
      () => held.promise,
    ];
    let n = 0;
    const run = open(() => ends[n++]?.(), { limit: 1 });
    await assert.rejects(async () => run('in', makeCall()), boom);
    await assert.rejects(async () => run('in', makeCall()), boom);
    assert.equal(await run('in', makeCall()), 'at once');
    const call = makeCall();
    const last = run('in', call);
    call.cancel();
    assert.equal(await textOf(() => run('in', makeCall())), LIMIT);
    held.release('held');
    assert.equal(await last, 'held');
    assert.equal(await run('in', makeCall()), undefined);
  });

  it('counts each key and each component by itself', async () => {
    const held = makeHeld();
    const wrapper = withConcurrency({ limit: 1, key: (context) => context.identity?.principal ?? 'nobody' });
    const [a, b] = [1, 2].map(() => wrapper.open(makeClock(), createWrapState())(() => held.promise)) as [Handler, Handler];
    const open = [a('in', makeCall('ann')), a('in', makeCall('bob')), b('in', makeCall('ann')), a('in', makeCall())];
    assert.equal(await textOf(() => a('in', makeCall('ann'))), LIMIT);
    assert.equal(await textOf(() => a('in', makeCall())), LIMIT);
    held.release(1);
    assert.deepEqual(await Promise.all(open), [1, 1, 1, 1]);
  });

  it('fails a call whose key is none, without work', async () => {
    let ran = 0;
    for (const key of [() => undefined, () => 7, () => 'x'.repeat(1025)]) {
      const run = open(() => ran++, { key: key as unknown as () => string });
      await assert.rejects(async () => run('in', makeCall()), {
        name: 'TypeError',
        message: 'concurrency: key must return a text of at most 1024 characters',
      });
    }
    assert.equal(ran, 0);
    await open(() => ran++, { key: () => 'x'.repeat(1024) })('in', makeCall());
    assert.equal(ran, 1);
  });

  it('names an option that is wrong', () => {
    for (const limit of [0, -1, 0.5, Number.NaN])
      assert.throws(() => withConcurrency({ limit }), {
        name: 'RangeError',
        message: `concurrency: limit must be a positive integer, not ${limit}`,
      });
    assert.throws(() => withConcurrency({ key: 'principal' as never }), {
      name: 'TypeError',
      message: 'concurrency: key must be a function of the context',
    });
    assert.throws(() => withConcurrency({ max: 5 } as object), {
      name: 'TypeError',
      message: 'concurrency: there is no option max; there is limit, key',
    });
  });
});
