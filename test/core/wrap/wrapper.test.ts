import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { withConcurrency } from '../../../src/core/wrap/concurrency.js';
import { withRateLimit } from '../../../src/core/wrap/rate-limit.js';
import { withTimeout } from '../../../src/core/wrap/timeout.js';
import { createWrapState, wrapHandler } from '../../../src/core/wrap/wrapper.js';
import { makeCall, makeHeld, textOf } from './support.js';

describe('wrapper: several around one handler', () => {
  it('the first is outermost: a call that the rate limit refuses takes no permit and no worker', async () => {
    const clock = makeClock();
    const state = createWrapState();
    const held = makeHeld();
    const wrappers = [withRateLimit({ limit: 3 }), withTimeout({ timeout_ms: 100 }), withConcurrency({ limit: 1 })];
    const run = wrapHandler(() => held.promise, wrappers, clock, state);
    const first = textOf(() => run('in', makeCall()));
    assert.equal(await textOf(() => run('in', makeCall())), 'Component concurrency limit reached');
    assert.equal(state.timeout_workers, 1);
    clock.advance(100);
    assert.equal(await first, 'Component timed out');
    assert.equal(await textOf(() => run('in', makeCall())), 'Component concurrency limit reached', 'the handler still runs');
    assert.equal(await textOf(() => run('in', makeCall())), 'Component rate limit reached');
    assert.equal(state.timeout_workers, 1);
    held.release(1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state.timeout_workers, 0);
  });

  it('without wrappers is the handler itself', () => {
    const handler = () => 1;
    assert.equal(wrapHandler(handler, [], makeClock(), createWrapState()), handler);
  });
});
