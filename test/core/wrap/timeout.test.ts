import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { withTimeout } from '../../../src/core/wrap/timeout.js';
import type { Handler, WrapContext } from '../../../src/core/wrap/wrapper.js';
import { createWrapState } from '../../../src/core/wrap/wrapper.js';
import { makeCall, makeHeld, textOf } from './support.js';

const open = (handler: Handler, options?: Parameters<typeof withTimeout>[0]) => {
  const clock = makeClock();
  const state = createWrapState();
  return { clock, state, run: withTimeout(options).open(clock, state)(handler) };
};

describe('wrapper: timeout', () => {
  it('passes answers and failures on, and leaves no timer and no worker', async () => {
    const boom = new Error('boom');
    for (const handler of [() => 7, () => Promise.resolve(7)] as readonly Handler[]) {
      const { clock, state, run } = open(handler);
      const answer = run('in', makeCall());
      assert.equal(state.timeout_workers, answer instanceof Promise ? 1 : 0);
      assert.equal(await answer, 7);
      assert.deepEqual([clock.pending, state.timeout_workers], [0, 0]);
    }
    for (const handler of [
      () => {
        throw boom;
      },
      () => Promise.reject(boom),
    ] as readonly Handler[]) {
      const { clock, state, run } = open(handler);
      await assert.rejects(async () => run('in', makeCall()), boom);
      assert.deepEqual([clock.pending, state.timeout_workers], [0, 0]);
    }
  });

  it('gives the handler up after 5 000 ms by default, at exactly that time, and drops its late answer', async () => {
    const held = makeHeld();
    let seen: WrapContext | undefined;
    const { clock, state, run } = open((_, context) => {
      seen = context;
      return held.promise;
    });
    let told: unknown;
    const answer = textOf(() => run('in', makeCall())).then((text) => (told = text));
    const { signal } = seen as WrapContext;
    clock.advance(4_999);
    await Promise.resolve();
    assert.deepEqual([told, signal.aborted, seen?.cancelled], [undefined, false, false]);
    clock.advance(1);
    assert.equal(await answer, 'Component timed out');
    assert.deepEqual([signal.aborted, seen?.cancelled], [true, true]);
    assert.equal((signal.reason as Error).message, 'Component timed out');
    assert.equal(state.timeout_workers, 1, 'it goes on');
    held.fail(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state.timeout_workers, 0);
    assert.equal(clock.pending, 0);
  });

  it('makes the signal only when it is asked for, before or after the end', async () => {
    const held = makeHeld();
    let seen: WrapContext | undefined;
    const { clock, run } = open((_, context) => {
      seen = context;
      return held.promise;
    });
    const answer = textOf(() => run('in', makeCall()));
    clock.advance(5_000);
    await answer;
    assert.equal(seen?.signal.aborted, true);
    held.release(1);
  });

  it('cancels the handler when its call is cancelled, and lets go of the call when the handler is done', async () => {
    const held = makeHeld();
    const call = makeCall();
    const signals: AbortSignal[] = [];
    const handler: Handler = (_, context) => {
      signals.push(context.signal);
      return held.promise;
    };
    const { run } = open(handler);
    const first = run('in', call);
    call.cancel();
    assert.equal(signals[0]?.aborted, true);
    assert.equal(signals[0]?.reason, call.signal.reason);
    const second = run('in', call);
    assert.equal(signals[1]?.aborted, true, 'also when it was before');
    held.release('done');
    assert.deepEqual(await Promise.all([first, second]), ['done', 'done']);
    const done = makeCall();
    assert.equal(await open(handler).run('in', done), 'done');
    done.cancel();
    assert.equal(signals[2]?.aborted, false);
  });

  it('has room for 1 024 workers in all components of a server, those that ignore their timeout included', async () => {
    const held = makeHeld();
    const clock = makeClock();
    const state = createWrapState();
    const [a, b] = [1, 2].map(() => withTimeout({ timeout_ms: 10 }).open(clock, state)(() => held.promise)) as [Handler, Handler];
    const answers = Array.from({ length: 1024 }, (_, n) => textOf(() => (n % 2 === 0 ? a : b)('in', makeCall())));
    clock.advance(10);
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['Component timed out']));
    let ran = false;
    const other = withTimeout().open(
      clock,
      state,
    )(() => {
      ran = true;
    });
    assert.equal(await textOf(() => other('in', makeCall())), 'Component timeout worker unavailable');
    assert.equal(ran, false);
    const apart = withTimeout().open(clock, createWrapState())(() => 'another server');
    assert.equal(await textOf(() => apart('in', makeCall())), 'another server');
    held.release(1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state.timeout_workers, 0);
    assert.equal(await textOf(() => other('in', makeCall())), undefined);
    assert.equal(ran, true);
  });

  it('names an option that is wrong', () => {
    for (const timeout_ms of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2_147_483_648, '5' as unknown as number])
      assert.throws(() => withTimeout({ timeout_ms }), {
        name: 'RangeError',
        message: /^timeout: timeout_ms must be a positive integer of at most 2147483647, not /,
      });
    assert.throws(() => withTimeout({ timeout: 5 } as object), {
      name: 'TypeError',
      message: 'timeout: there is no option timeout; there is timeout_ms',
    });
  });
});
