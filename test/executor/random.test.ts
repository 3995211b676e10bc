import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { makeClock } from 'portcullis/testing';
import { createExecutor } from '../../src/executor/bounded.js';
import type { CancelToken } from '../../src/executor/executor.js';
import { outcomeOf, ticks } from './support.js';

const BOUNDS = { max_concurrency: 3, max_queue: 5, max_orphaned: 2 };
const share = fc.constantFrom('p', 'q', 'r');
const id = fc.constantFrom('1', '2', '"1"');
const owner = fc.option(fc.nat(2), { nil: undefined });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      work: fc.constantFrom('value', 'throw', 'promise', 'obeys', 'ignores', 'ignores'),
      share,
      id,
      owner,
      deadline_ms: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), share, id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), owner: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), by_ms: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const), at: fc.nat(5), fails: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** An executor, and what its calls really do. */
class Rig {
  readonly clock = makeClock();
  readonly executor = createExecutor({ ...BOUNDS, clock: this.clock });
  readonly owners = [0, 1, 2].map(() => new AbortController());
  readonly outcomes: (string | undefined)[] = [];
  readonly told: number[] = [];
  readonly started = new Set<number>();
  /** Callbacks that run, by their number. */
  readonly live = new Map<number, (fails: boolean) => void>();

  do(step: Step): void {
    if (step.kind === 'submit') this.#submit(step);
    else if (step.kind === 'cancel') this.executor.cancel(step.share, step.id);
    else if (step.kind === 'abort') {
      this.owners[step.owner]?.abort();
      this.owners[step.owner] = new AbortController();
    } else if (step.kind === 'advance') this.clock.advance(step.by_ms);
    else if (step.kind === 'settle') [...this.live.values()][step.at]?.(step.fails);
  }

  #submit({ work, share, id, owner, deadline_ms }: Extract<Step, { kind: 'submit' }>): void {
    const n = this.outcomes.push(undefined) - 1;
    const run = (token: CancelToken) => {
      assert.equal(token.cancelled, false, 'what starts is wanted');
      assert.equal(this.outcomes[n], undefined);
      this.started.add(n);
      return this.#run(n, work, token);
    };
    const signal = owner === undefined ? undefined : this.owners[owner]?.signal;
    const options = {
      scope: share,
      id,
      fairness_key: share,
      ...(deadline_ms === undefined ? {} : { deadline_ms }),
      ...(signal === undefined ? {} : { signal }),
    };
    outcomeOf(this.executor.submit(run, options))
      .catch(() => 'failed')
      .then(
        (outcome) => {
          assert.equal(this.outcomes[n], undefined, 'one outcome each');
          this.outcomes[n] = outcome;
        },
        () => {},
      );
  }

  #run(n: number, work: string, token: CancelToken): unknown {
    if (work === 'value') return 'value';
    if (work === 'throw') throw new Error('mine');
    if (work === 'promise') return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      const settle = (fails: boolean) => {
        this.live.delete(n);
        if (fails) reject(new Error('mine'));
        else resolve();
      };
      this.live.set(n, settle);
      token.onCancel(() => {
        this.told.push(n);
        if (work === 'obeys') settle(false);
      });
    });
  }

  check(): void {
    const { running, queued, orphaned } = this.executor.load;
    assert.ok(running >= 0 && queued >= 0 && orphaned >= 0);
    assert.ok(running <= BOUNDS.max_concurrency, `${running} run`);
    assert.ok(queued <= BOUNDS.max_queue, `${queued} wait`);
    assert.ok(running + orphaned <= BOUNDS.max_concurrency + BOUNDS.max_orphaned, `${running} run, ${orphaned} orphaned`);
    assert.ok(this.live.size <= running + orphaned, 'nothing runs uncounted');
    const kept = Math.max(0, orphaned - BOUNDS.max_orphaned);
    assert.ok(queued === 0 || running + kept === BOUNDS.max_concurrency, 'nothing waits while a slot is free');
    assert.ok(this.clock.pending <= 1, 'one timer');
  }
}

describe('executor under random arrivals, cancellations, aborts and slow work', () => {
  it('keeps its bounds, tells every caller once and leaks nothing', async () => {
    const seen: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), fc.boolean(), async (steps, killed) => {
        const rig = new Rig();
        for (const each of steps) {
          rig.do(each);
          rig.check();
          if (each.kind === 'wait') {
            await ticks();
            rig.check();
          }
        }
        await ticks();
        const open = rig.outcomes.filter((outcome) => outcome === undefined).length;
        const { running, queued } = rig.executor.load;
        assert.equal(open, running + queued, 'who waits is who is counted');
        const drained = rig.executor.drain(killed ? 0 : 1_000);
        if (!killed) while (rig.live.size > 0) await settleAll(rig);
        assert.deepEqual(await drained, killed ? { finished: 0, killed: open } : { finished: open, killed: 0 });
        await settleAll(rig);
        assert.deepEqual(rig.executor.load, { running: 0, queued: 0, orphaned: 0 });
        assert.equal(rig.clock.pending, 0);
        for (const [n, outcome] of rig.outcomes.entries()) {
          assert.ok(outcome !== undefined, 'every caller was told');
          seen[outcome] = (seen[outcome] ?? 0) + 1;
          if (outcome === 'ok' || outcome === 'failed') assert.ok(rig.started.has(n));
          if (outcome === 'OVERLOADED') assert.ok(!rig.started.has(n), 'refused work never ran');
        }
        assert.equal(new Set(rig.told).size, rig.told.length, 'cancelled once');
      }),
      { numRuns: 250 },
    );
    assert.deepEqual(Object.keys(seen).sort(), ['CANCELLED', 'DEADLINE', 'OVERLOADED', 'SHUTDOWN', 'failed', 'ok']);
  });

  it('serves every share that waits before any share twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 60 }), async (shares) => {
        const executor = createExecutor({ max_concurrency: 1, clock: makeClock() });
        const left = new Map<string, number>();
        let turn = new Set<string>();
        const first = executor.submit(() => ticks(), { scope: 's', id: '0', fairness_key: 'a' });
        const all = shares.map((name, n) => {
          left.set(name, (left.get(name) ?? 0) + 1);
          return executor.submit(
            () => {
              if (turn.has(name)) {
                for (const [other, count] of left) assert.ok(count === 0 || turn.has(other), `${other} waits, ${name} was served twice`);
                turn = new Set();
              }
              turn.add(name);
              left.set(name, (left.get(name) ?? 0) - 1);
            },
            { scope: 's', id: String(n), fairness_key: name },
          );
        });
        await first;
        await Promise.all(all);
        assert.deepEqual(new Set(left.values()), new Set([0]));
      }),
      { numRuns: 60 },
    );
  });
});

async function settleAll(rig: Rig): Promise<void> {
  for (const settle of [...rig.live.values()]) settle(false);
  await ticks();
}
