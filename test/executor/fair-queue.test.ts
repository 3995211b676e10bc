import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairQueue, type QueuePlace } from '../../src/executor/fair-queue.js';

describe('fair queue', () => {
  it('equals a plain list of lines under any pushes, takes and removals', () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant('push' as const), fairness_key: fc.constantFrom('a', 'a', 'a', 'a', 'b', 'c', 'd') }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat(9) }) },
    );
    let displacements = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 6 }), (steps, max) => {
        const queue = new FairQueue<number>(max);
        const model = makeModel(max);
        const places = new Map<number, QueuePlace<number>>();
        for (const [n, step] of steps.entries()) {
          if (step.kind === 'push') {
            const displaced: number[] = [];
            const place = queue.push(step.fairness_key, n, (value) => displaced.push(value));
            if (place !== undefined) places.set(n, place);
            for (const value of displaced) places.delete(value);
            displacements += displaced.length;
            assert.deepEqual({ taken: place !== undefined, displaced }, model.push(step.fairness_key, n));
          } else if (step.kind === 'take') {
            const value = queue.take();
            if (value !== undefined) places.delete(value);
            assert.equal(value, model.take());
          } else {
            const [value, place] = [...places][step.at] ?? [];
            if (value === undefined || place === undefined) continue;
            queue.remove(place);
            places.delete(value);
            model.remove(value);
          }
          assert.equal(queue.size, places.size);
          assert.ok(queue.size <= max);
        }
        for (let left = queue.size; left > 0; left--) assert.equal(queue.take(), model.take());
        assert.deepEqual([queue.size, queue.take(), model.take()], [0, undefined, undefined]);
      }),
      { numRuns: 150 },
    );
    assert.ok(displacements > 50, `${displacements} displacements`);
  });

  it('takes and gives in time that does not grow with what waits', () => {
    const run = (shares: number) => {
      const queue = new FairQueue<number>(shares * 2);
      for (let n = 0; n < shares * 2; n++) queue.push(String(n % shares), n, () => {});
      const start = performance.now();
      for (let n = 0; n < 5_000; n++) queue.push('new', queue.take() ?? 0, () => {});
      return performance.now() - start;
    };
    run(10);
    const ratio = Math.min(...[1, 2, 3, 4].map(() => run(10_000) / run(10)));
    assert.ok(ratio < 30, `a thousand times the shares took ${ratio} times as long`);
  });
});

/** The same rules, by looking through everything each time. */
function makeModel(max: number) {
  let lines: { readonly fairness_key: string; readonly values: number[]; resized: number }[] = [];
  let clock = 0;
  const size = () => lines.reduce((sum, line) => sum + line.values.length, 0);
  const removeFrom = (line: (typeof lines)[number], value: number) => {
    line.values.splice(line.values.indexOf(value), 1);
    line.resized = clock++;
    lines = lines.filter(({ values }) => values.length > 0);
  };
  return {
    push: (fairness_key: string, value: number) => {
      const displaced: number[] = [];
      if (size() >= max) {
        const own = lines.find((line) => line.fairness_key === fairness_key)?.values.length ?? 0;
        const longest = [...lines].sort((a, b) => b.values.length - a.values.length || a.resized - b.resized)[0];
        if (longest === undefined || own + 1 >= longest.values.length) return { taken: false, displaced };
        const victim = longest.values.at(-1) ?? -1;
        displaced.push(victim);
        removeFrom(longest, victim);
      }
      let line = lines.find((each) => each.fairness_key === fairness_key);
      if (line === undefined) {
        line = { fairness_key, values: [], resized: 0 };
        lines.push(line);
      }
      line.values.push(value);
      line.resized = clock++;
      return { taken: true, displaced };
    },
    take: () => {
      const line = lines[0];
      const value = line?.values[0];
      if (line === undefined || value === undefined) return undefined;
      removeFrom(line, value);
      if (line.values.length > 0) lines = [...lines.filter((each) => each !== line), line];
      return value;
    },
    remove: (value: number) => {
      const line = lines.find(({ values }) => values.includes(value));
      if (line !== undefined) removeFrom(line, value);
    },
  };
}
