import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { createExecutor } from '../../src/executor/bounded.js';
import { ExecutorFault, type ExecutorOptions, type SubmitOptions } from '../../src/executor/executor.js';
import { makeWork, outcomeOf, ticks } from './support.js';

const make = (options: Omit<ExecutorOptions, 'clock'> = {}) => {
  const clock = makeClock();
  return { clock, executor: createExecutor({ ...options, clock }) };
};
const call = (id: string, more: Partial<SubmitOptions> = {}): SubmitOptions => ({ scope: 's', id, fairness_key: 'p', ...more });

describe('executor', () => {
  it('runs work at once in the stack of the caller while a slot is free', async () => {
    const { executor } = make();
    let ran = false;
    const answer = executor.submit(() => {
      ran = true;
      return Promise.resolve(7);
    }, call('1'));
    assert.equal(ran, true);
    assert.deepEqual(executor.load, { running: 1, queued: 0, orphaned: 0 });
    assert.equal(await answer, 7);
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('takes values and thenables as well as promises, and tells failures as they are', async () => {
    const { executor } = make();
    const boom = new Error('boom');
    assert.equal(await executor.submit(() => 'value', call('1')), 'value');
    // biome-ignore lint/suspicious/noThenProperty: a thenable that is no promise is what is tested.
    assert.equal(await executor.submit(() => ({ then: (ok: (v: string) => void) => ok('late') }) as unknown as string, call('2')), 'late');
    await assert.rejects(
      executor.submit(() => {
        throw boom;
      }, call('3')),
      boom,
    );
    await assert.rejects(
      executor.submit(() => Promise.reject(boom), call('4')),
      boom,
    );
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('has room for 32 running and 256 waiting calls by default, and refuses one more at once', async () => {
    const { executor } = make();
    const work = makeWork();
    const all = Array.from({ length: 288 }, (_, n) => executor.submit(work.run, call(String(n))));
    assert.deepEqual(executor.load, { running: 32, queued: 256, orphaned: 0 });
    assert.equal(await outcomeOf(executor.submit(work.run, call('288'))), 'OVERLOADED');
    assert.equal(work.started, 32);
    work.finishAll();
    await Promise.all(all);
    assert.equal(work.started, 288);
    assert.equal(work.peak, 32);
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('serves in order of arrival, share by share in turn', async () => {
    const { executor } = make({ max_concurrency: 1 });
    const work = makeWork();
    const order: string[] = [];
    const submit = (id: string, fairness_key: string) =>
      executor.submit(
        () => {
          order.push(id);
          return work.run();
        },
        call(id, { fairness_key }),
      );
    const all = [
      submit('first', 'x'),
      ...['a1', 'a2', 'a3', 'a4'].map((id) => submit(id, 'a')),
      submit('b1', 'b'),
      submit('b2', 'b'),
      submit('c1', 'c'),
    ];
    work.finishAll();
    await Promise.all(all);
    assert.deepEqual(order, ['first', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('does not let one share fill the queue against the others: its newest call gives way', async () => {
    const { executor } = make({ max_concurrency: 1, max_queue: 4 });
    const work = makeWork();
    const running = executor.submit(work.run, call('0'));
    const greedy = ['1', '2', '3', '4'].map((id) => executor.submit(work.run, call(id, { fairness_key: 'greedy' })));
    const codes = greedy.map(outcomeOf);
    const modest = executor.submit(work.run, call('m1', { fairness_key: 'modest' }));
    assert.equal(await codes[3], 'OVERLOADED');
    const second = executor.submit(work.run, call('m2', { fairness_key: 'modest' }));
    assert.equal(await codes[2], 'OVERLOADED');
    assert.equal(await outcomeOf(executor.submit(work.run, call('m3', { fairness_key: 'modest' }))), 'OVERLOADED');
    assert.equal(await outcomeOf(executor.submit(work.run, call('5', { fairness_key: 'greedy' }))), 'OVERLOADED');
    assert.deepEqual(executor.load, { running: 1, queued: 4, orphaned: 0 });
    work.finishAll();
    await Promise.all([running, modest, second, greedy[0], greedy[1]]);
  });

  it('counts the deadline from submission, waiting included, with one timer for all', async () => {
    const { executor, clock } = make({ max_concurrency: 1 });
    const work = makeWork();
    const reasons: (string | undefined)[] = [];
    const runs = executor.submit(
      (token) => {
        token.onCancel(() => reasons.push(token.reason));
        return work.run();
      },
      call('1', { deadline_ms: 100 }),
    );
    const waits = executor.submit(work.run, call('2', { deadline_ms: 60 }));
    const patient = executor.submit(work.run, call('3', { deadline_ms: 500 }));
    const codes = [outcomeOf(runs), outcomeOf(waits)];
    assert.equal(clock.pending, 1);
    clock.advance(59);
    assert.deepEqual(executor.load, { running: 1, queued: 2, orphaned: 0 });
    clock.advance(1);
    assert.equal(await codes[1], 'DEADLINE');
    assert.equal(work.started, 1);
    clock.advance(40);
    assert.equal(await codes[0], 'DEADLINE');
    assert.deepEqual(reasons, ['deadline']);
    assert.equal(clock.pending, 1);
    assert.equal(work.started, 2, 'the freed slot went on');
    assert.deepEqual(executor.load, { running: 1, queued: 0, orphaned: 1 });
    work.finishAll();
    await patient;
    await ticks();
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
    clock.advance(1_000);
    assert.equal(clock.pending, 0);
  });

  it('forgets the deadline of a call that is over', async () => {
    const { executor, clock } = make();
    await executor.submit(() => 1, call('1', { deadline_ms: 100 }));
    clock.advance(40);
    await executor.submit(() => 2, call('2', { deadline_ms: 100 }));
    assert.equal(clock.pending, 1, 'left alone until it fires');
    clock.advance(60);
    assert.equal(clock.pending, 0);
  });

  it('refuses a deadline that has passed, and never fires for one that is infinite', async () => {
    const { executor, clock } = make();
    const work = makeWork();
    for (const deadline_ms of [0, -1, Number.NaN])
      assert.equal(await outcomeOf(executor.submit(work.run, call('1', { deadline_ms }))), 'DEADLINE');
    assert.equal(work.started, 0);
    const endless = executor.submit(work.run, call('2', { deadline_ms: Number.POSITIVE_INFINITY }));
    assert.equal(clock.pending, 0);
    work.finishAll();
    await endless;
  });

  it('cancels by scope and id: nobody reaches into another scope, and 1 is not "1"', async () => {
    const { executor } = make({ max_concurrency: 2 });
    const work = makeWork();
    const mine = outcomeOf(executor.submit(work.run, call('1')));
    const other = executor.submit(work.run, call('1', { scope: 't' }));
    const text = executor.submit(work.run, call('"1"'));
    const waiting = outcomeOf(executor.submit(work.run, call('2')));
    assert.equal(executor.cancel('u', '1'), false);
    assert.equal(executor.cancel('s', '3'), false);
    assert.equal(executor.cancel('s', '2'), true);
    assert.equal(executor.cancel('s', '1'), true);
    assert.equal(executor.cancel('s', '1'), false);
    assert.deepEqual([await mine, await waiting], ['CANCELLED', 'CANCELLED']);
    work.finishAll();
    await Promise.all([other, text]);
    assert.equal(work.started, 3, 'what was cancelled while it waited never ran');
    assert.equal(executor.cancel('t', '1'), false);
  });

  it('a repeated id in one scope: each call has its own answer, a cancellation ends them all', async () => {
    const { executor } = make();
    const answers = await Promise.all(['A', 'B', 'C'].map((value) => executor.submit(() => ticks().then(() => value), call('1'))));
    assert.deepEqual(answers, ['A', 'B', 'C']);
    const work = makeWork();
    const codes = [1, 2, 3].map(() => outcomeOf(executor.submit(work.run, call('1'))));
    assert.equal(executor.cancel('s', '1'), true);
    assert.deepEqual(await Promise.all(codes), ['CANCELLED', 'CANCELLED', 'CANCELLED']);
    work.finishAll();
  });

  it('gives a call up when its owner goes away, and leaves no listener behind', async () => {
    const { executor } = make({ max_concurrency: 1 });
    const work = makeWork();
    const owner = new AbortController();
    const seen: unknown[] = [];
    const runs = outcomeOf(
      executor.submit(
        (token) => {
          token.signal.addEventListener('abort', () => seen.push(token.signal.reason));
          token.onCancel(() => seen.push(token.reason));
          return work.run();
        },
        call('1', { signal: owner.signal }),
      ),
    );
    const waits = outcomeOf(executor.submit(work.run, call('2', { signal: owner.signal })));
    owner.abort();
    assert.deepEqual([await runs, await waits], ['CANCELLED', 'CANCELLED']);
    assert.equal(seen[0], 'owner');
    assert.ok(seen[1] instanceof ExecutorFault && seen[1].code === 'CANCELLED');
    assert.equal(await outcomeOf(executor.submit(work.run, call('3', { signal: owner.signal }))), 'CANCELLED');
    assert.equal(work.started, 1);
    work.finishAll();

    const lasting = new AbortController();
    const counts = { abort: 0 };
    const { addEventListener, removeEventListener } = lasting.signal;
    lasting.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      counts.abort += 1;
      addEventListener.apply(lasting.signal, args);
    };
    lasting.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      counts.abort -= 1;
      removeEventListener.apply(lasting.signal, args);
    };
    const all = Array.from({ length: 50 }, (_, n) => executor.submit(() => ticks(), call(String(n), { signal: lasting.signal })));
    assert.equal(counts.abort, 1, 'one for all');
    await Promise.all(all);
    assert.equal(counts.abort, 0);
  });

  it('keeps the async context of the submitter, also for work that waited', async () => {
    const { executor } = make({ max_concurrency: 1 });
    const who = new AsyncLocalStorage<string>();
    const seen = await Promise.all(
      ['a', 'b', 'c'].map((name) => who.run(name, () => executor.submit(() => ticks().then(() => who.getStore()), call(name)))),
    );
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  it('runs nothing that was cancelled between its slot and its start', async () => {
    const { executor } = make({ max_concurrency: 1 });
    const work = makeWork();
    const first = outcomeOf(executor.submit(work.run, call('1')));
    const second = outcomeOf(executor.submit(work.run, call('2')));
    executor.cancel('s', '1');
    assert.deepEqual(executor.load, { running: 1, queued: 0, orphaned: 1 });
    executor.cancel('s', '2');
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 1 });
    assert.deepEqual([await first, await second], ['CANCELLED', 'CANCELLED']);
    assert.equal(work.started, 1);
    work.finishAll();
    await ticks();
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('lets work cancel itself and submit more from within', async () => {
    const { executor } = make({ max_concurrency: 1 });
    const inner: Promise<string>[] = [];
    const outer = executor.submit((token) => {
      inner.push(executor.submit(() => 'inner', call('2')));
      executor.cancel('s', '1');
      assert.equal(token.cancelled, true);
      return 'dropped';
    }, call('1'));
    assert.equal(await outcomeOf(outer), 'CANCELLED');
    assert.deepEqual(await Promise.all(inner), ['inner']);
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('names an option that is no positive integer', () => {
    for (const [name, value] of [
      ['max_concurrency', 0],
      ['max_queue', 1.5],
      ['max_orphaned', Number.NaN],
    ] as const)
      assert.throws(() => make({ [name]: value }), {
        name: 'RangeError',
        message: `executor: ${name} must be a positive integer, not ${value}`,
      });
  });
});
