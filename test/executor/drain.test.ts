import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock } from 'portcullis/testing';
import { createExecutor } from '../../src/executor/bounded.js';
import { makeWork, outcomeOf, ticks } from './support.js';

const call = (id: number) => ({ scope: 's', id: String(id), fairness_key: 'p', deadline_ms: 60_000 });
const make = () => {
  const clock = makeClock();
  return { clock, work: makeWork(), executor: createExecutor({ max_concurrency: 2, clock }) };
};

describe('executor: drain', () => {
  it('is over at once when nothing is open, and refuses what comes later', async () => {
    const { executor, clock, work } = make();
    assert.deepEqual(await executor.drain(5_000), { finished: 0, killed: 0 });
    assert.equal(await outcomeOf(executor.submit(work.run, call(1))), 'SHUTDOWN');
    assert.equal(clock.pending, 0);
    assert.equal(work.started, 0);
  });

  it('lets what runs and what waits come to its end', async () => {
    const { executor, clock, work } = make();
    const all = [1, 2, 3].map((n) => executor.submit(work.run, call(n)));
    const drained = executor.drain(5_000);
    assert.equal(await outcomeOf(executor.submit(work.run, call(4))), 'SHUTDOWN');
    assert.equal(clock.pending, 2, 'deadlines, drain');
    work.finishAll();
    await Promise.all(all);
    assert.deepEqual(await drained, { finished: 3, killed: 0 });
    assert.equal(clock.pending, 0);
  });

  it('gives up at its deadline what is left, running or waiting, with reason shutdown', async () => {
    const { executor, clock, work } = make();
    const reasons: (string | undefined)[] = [];
    const codes = [1, 2, 3, 4].map((n) =>
      outcomeOf(
        executor.submit((token) => {
          token.onCancel(() => reasons.push(token.reason));
          return work.run();
        }, call(n)),
      ),
    );
    const drained = executor.drain(5_000);
    clock.advance(4_999);
    executor.cancel('s', '4');
    assert.deepEqual(reasons, []);
    clock.advance(1);
    assert.deepEqual(await drained, { finished: 1, killed: 3 });
    assert.deepEqual(await Promise.all(codes), ['SHUTDOWN', 'SHUTDOWN', 'SHUTDOWN', 'CANCELLED']);
    assert.deepEqual(reasons, ['shutdown', 'shutdown']);
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 2 });
    assert.equal(clock.pending, 0);
    work.finishAll();
    await ticks();
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
    assert.equal(work.started, 2, 'what waited never ran');
  });

  it('twice is one drain, and the earlier deadline holds', async () => {
    const { executor, clock, work } = make();
    const code = outcomeOf(executor.submit(work.run, call(1)));
    const drains = [executor.drain(5_000), executor.drain(9_000), executor.drain(1_000)];
    assert.equal(clock.pending, 2, 'deadlines, drain');
    clock.advance(999);
    assert.equal(executor.load.running, 1);
    clock.advance(1);
    assert.deepEqual(await Promise.all(drains), Array(3).fill({ finished: 0, killed: 1 }));
    assert.equal(await code, 'SHUTDOWN');
    assert.deepEqual(await executor.drain(0), { finished: 0, killed: 1 });
    work.finishAll();
  });

  it('with no time left gives everything up at once', async () => {
    const { executor, work } = make();
    const codes = [1, 2, 3].map((n) => outcomeOf(executor.submit(work.run, call(n))));
    assert.deepEqual(await executor.drain(0), { finished: 0, killed: 3 });
    assert.deepEqual(await Promise.all(codes), ['SHUTDOWN', 'SHUTDOWN', 'SHUTDOWN']);
    work.finishAll();
  });
});
