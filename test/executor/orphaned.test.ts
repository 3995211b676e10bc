import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { createExecutor } from '../../src/executor/bounded.js';
import type { CancelToken } from '../../src/executor/executor.js';
import { makeWork, outcomeOf, ticks } from './support.js';

const call = (id: number) => ({ scope: 's', id: String(id), fairness_key: 'p' });

describe('executor: orphaned work', () => {
  it('answers at once, frees the slot, counts the callback until it settles and drops its late result', async () => {
    const executor = createExecutor({ max_concurrency: 1, clock: makeClock() });
    const work = makeWork();
    const answer = outcomeOf(executor.submit(() => work.run().then(() => Promise.reject(new Error('too late'))), call(1)));
    executor.cancel('s', '1');
    assert.equal(await answer, 'CANCELLED');
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 1 });
    assert.equal(await executor.submit(() => 'next', call(2)), 'next');
    work.finishAll();
    await ticks();
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('admits at most 1 024 by default; past them callbacks keep their slots and new work is refused', async () => {
    const executor = createExecutor({ clock: makeClock() });
    const work = makeWork();
    for (let n = 0; n < 1024; n++) {
      const answer = outcomeOf(executor.submit(work.run, call(n)));
      executor.cancel('s', String(n));
      assert.equal(await answer, 'CANCELLED');
    }
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 1024 });
    const last = Array.from({ length: 33 }, (_, n) => outcomeOf(executor.submit(work.run, call(2000 + n))));
    assert.deepEqual(executor.load, { running: 32, queued: 1, orphaned: 1024 });
    executor.cancel('s', '2000');
    assert.deepEqual(executor.load, { running: 31, queued: 1, orphaned: 1025 }, 'the slot was kept');
    assert.equal(await outcomeOf(executor.submit(work.run, call(3000))), 'OVERLOADED');
    work.finish();
    await ticks();
    assert.deepEqual(executor.load, { running: 32, queued: 0, orphaned: 1024 }, 'one callback returned: its slot goes to who waits');
    assert.equal(work.peak, 1024 + 32);
    const admitted = executor.submit(work.run, call(3001));
    work.finishAll();
    await admitted;
    assert.deepEqual(await Promise.all(last), ['CANCELLED', ...Array(32).fill('ok')]);
    await ticks();
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });
});

describe('executor: cancel token', () => {
  const tokenOf = () => {
    const executor = createExecutor({ clock: makeClock() });
    let token: CancelToken | undefined;
    const answer = executor.submit((given) => {
      token = given;
      return makeWork().run();
    }, call(1));
    answer.catch(() => {});
    return { token: token as CancelToken, cancel: () => executor.cancel('s', '1') };
  };

  it('tells every callback once, even when one throws, and late ones at once', () => {
    const { token, cancel } = tokenOf();
    const told: string[] = [];
    token.onCancel(() => told.push('a'));
    token.onCancel(() => {
      throw new Error('mine');
    });
    token.onCancel(() => told.push('b'));
    assert.deepEqual([token.cancelled, token.reason], [false, undefined]);
    cancel();
    cancel();
    token.onCancel(() => told.push('late'));
    assert.deepEqual(told, ['a', 'b', 'late']);
    assert.deepEqual([token.cancelled, token.reason], [true, 'cancelled']);
  });

  it('has one signal, made on first use, aborted with the fault of the caller', () => {
    const early = tokenOf();
    const { signal } = early.token;
    assert.equal(early.token.signal, signal);
    assert.equal(signal.aborted, false);
    early.cancel();
    assert.equal(signal.aborted, true);
    assert.equal((signal.reason as { code: string }).code, 'CANCELLED');
    const late = tokenOf();
    late.cancel();
    assert.equal(late.token.signal.aborted, true);
  });

  it('says nothing after its call came to its end', async () => {
    const executor = createExecutor({ clock: makeClock() });
    const told: string[] = [];
    let kept: CancelToken | undefined;
    await executor.submit((token) => {
      kept = token;
      token.onCancel(() => told.push('never'));
    }, call(1));
    assert.equal(executor.cancel('s', '1'), false);
    await executor.drain(0);
    assert.deepEqual([told, kept?.cancelled], [[], false]);
  });
});
