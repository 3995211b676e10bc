import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { withConcurrency } from '../../src/core/wrap/concurrency.js';
import { withRateLimit } from '../../src/core/wrap/rate-limit.js';
import { withTimeout } from '../../src/core/wrap/timeout.js';
import type { WrapContext, Wrapper } from '../../src/core/wrap/wrapper.js';
import { ComponentRefusal, createWrapState } from '../../src/core/wrap/wrapper.js';
import { createExecutor } from '../../src/executor/bounded.js';

// The defaults of the component limits, by what the wrappers do when no option is given.

const never = new Promise<never>(() => {});
const context: WrapContext = {
  identity: undefined,
  facts: {},
  cancelled: false,
  signal: new AbortController().signal,
  under: () => context,
};

/** Calls until one is refused, at most `most` times: how many were let in, and what the refused one was told. */
function letIn(wrapper: Wrapper, most: number, clock = makeClock()): readonly [number, string | undefined] {
  const run = wrapper.open(clock, createWrapState())(() => never);
  for (let n = 0; n < most; n++) {
    try {
      void run({}, context);
    } catch (cause) {
      return [n, (cause as ComponentRefusal).text];
    }
  }
  return [most, undefined];
}

describe('pins: Component limits, defaults', () => {
  it('Timeout: 5 000 ms, 1 024 workers', async () => {
    const clock = makeClock();
    const told: unknown[] = [];
    const answer = Promise.resolve(withTimeout().open(clock, createWrapState())(() => never)({}, context)).catch((cause: unknown) =>
      told.push(cause),
    );
    clock.advance(4_999);
    await Promise.resolve();
    assert.deepEqual(told, []);
    clock.advance(1);
    await answer;
    assert.deepEqual(
      told.map((cause) => (cause as ComponentRefusal).text),
      ['Component timed out'],
    );
    assert.deepEqual(letIn(withTimeout(), 2_000), [1_024, 'Component timeout worker unavailable']);
  });

  it('Concurrency: 32 for each component and key', () => {
    assert.deepEqual(letIn(withConcurrency(), 100), [32, 'Component concurrency limit reached']);
  });

  it('RateLimit: 60 in 60 000 ms, 10 000 keys', () => {
    assert.deepEqual(letIn(withRateLimit(), 100), [60, 'Component rate limit reached']);
    let n = 0;
    assert.deepEqual(letIn(withRateLimit({ key: () => String(n++) }), 20_000), [10_000, 'Component rate key capacity reached']);
    const clock = makeClock();
    const run = withRateLimit({ limit: 1 }).open(clock, createWrapState())(() => 'in');
    assert.equal(run({}, context), 'in');
    clock.advance(59_999);
    assert.throws(() => run({}, context), ComponentRefusal);
    clock.advance(1);
    assert.equal(run({}, context), 'in');
  });
});

describe('pins: Executor', () => {
  it('32 run, and 256 wait', () => {
    const executor = createExecutor({ clock: makeClock() });
    for (let n = 0; n < 400; n++) executor.submit(() => never, { scope: 's', id: String(n), fairness_key: 'p' }).catch(() => {});
    assert.deepEqual(executor.load, { running: 32, queued: 256, orphaned: 0 });
  });
});
