import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { makeClock } from 'portcullis/testing';
import { Deadlines } from '../../src/executor/endings.js';

interface Item {
  readonly n: number;
  due_ms: number;
  heap_at: number;
}

describe('deadlines', () => {
  it('tell what is due, in order and at its time, with one timer, under any additions and removals', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), by: fc.integer({ min: 1, max: 50 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), by: fc.nat(20) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), by: fc.nat(20) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const clock = makeClock();
        const told: (readonly [n: number, at_ms: number])[] = [];
        const deadlines = new Deadlines<Item>(clock, ({ n }) => told.push([n, clock.mono_ms()]));
        const open = new Map<number, Item>();
        const expected: (readonly [number, number])[] = [];
        for (const [n, { kind, by }] of steps.entries()) {
          if (kind === 'add') {
            const item = { n, due_ms: 0, heap_at: -1 };
            deadlines.add(item, by);
            open.set(n, item);
          } else if (kind === 'remove') {
            const item = [...open.values()][by];
            if (item === undefined) continue;
            deadlines.remove(item);
            deadlines.remove(item);
            open.delete(item.n);
          } else {
            const due = [...open.values()].filter((item) => item.due_ms <= clock.mono_ms() + by);
            for (const item of due) {
              open.delete(item.n);
              expected.push([item.n, item.due_ms]);
            }
            clock.advance(by);
          }
          assert.ok(clock.pending <= 1);
        }
        const byTime = (a: readonly [number, number], b: readonly [number, number]) => a[1] - b[1] || a[0] - b[0];
        assert.deepEqual([...told].sort(byTime), expected.sort(byTime));
        assert.deepEqual(
          told.map(([, at_ms]) => at_ms),
          told.map(([, at_ms]) => at_ms).sort((a, b) => a - b),
        );
        clock.advance(1_000);
        assert.equal(clock.pending, 0);
        assert.equal(told.length, expected.length + open.size);
      }),
      { numRuns: 300 },
    );
  });

  it('stay in order when one from the middle goes and an earlier one takes its place', () => {
    const clock = makeClock();
    const told: number[] = [];
    const deadlines = new Deadlines<Item>(clock, ({ n }) => told.push(n));
    const items = [1, 50, 2, 60, 70, 3, 4].map((n) => ({ n, due_ms: 0, heap_at: -1 }));
    for (const item of items) deadlines.add(item, item.n);
    deadlines.remove(items[3] as Item);
    clock.advance(100);
    assert.deepEqual(told, [1, 2, 3, 4, 50, 70]);
  });

  it('wait again when the timer was early or the wait is longer than a timer can be', () => {
    const clock = makeClock();
    const delays: number[] = [];
    const runs: (() => void)[] = [];
    let now_ms = 0;
    const told: number[] = [];
    const deadlines = new Deadlines<Item>(
      {
        ...clock,
        mono_ms: () => now_ms,
        timer: (delay_ms, run) => {
          delays.push(delay_ms);
          runs.push(run);
          return { cancel: () => {} };
        },
      },
      ({ n }) => told.push(n),
    );
    deadlines.add({ n: 1, due_ms: 0, heap_at: -1 }, 3_000_000_000);
    now_ms = 2_147_483_647;
    runs.shift()?.();
    now_ms = 2_999_999_999.5;
    runs.shift()?.();
    assert.deepEqual([told, delays], [[], [2_147_483_647, 852_516_353, 1]]);
    now_ms = 3_000_000_000;
    runs.shift()?.();
    assert.deepEqual([told, runs.length], [[1], 0]);
  });

  it('arms the timer once for a run of calls that end in time', () => {
    const clock = makeClock();
    let armed = 0;
    const deadlines = new Deadlines<Item>(
      {
        ...clock,
        timer: (delay_ms, run) => {
          armed += 1;
          return clock.timer(delay_ms, run);
        },
      },
      () => assert.fail(),
    );
    for (let n = 0; n < 1_000; n++) {
      const item = { n, due_ms: 0, heap_at: -1 };
      deadlines.add(item, 1_000);
      clock.advance(1);
      deadlines.remove(item);
    }
    assert.ok(armed <= 2, `${armed} times`);
  });
});
