import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type QueueBounds, RequestQueue, type Waiter } from '../../../src/runtime/proxied/request-queue.js';

/** What happens to calls, by name; `caller` is the first letter of the name. */
function laneOf(bounds: QueueBounds) {
  const events: string[] = [];
  const running: Waiter[] = [];
  const lane = new RequestQueue(bounds);
  const enter = (name: string): Waiter => {
    const waiter: Waiter = {
      caller: name[0] as string,
      place: undefined,
      launch: () => {
        events.push(name);
        running.push(waiter);
      },
      displaced: () => void events.push(`-${name}`),
    };
    if (lane.enter(waiter) === 'refused') events.push(`!${name}`);
    return waiter;
  };
  const end = (waiter: Waiter): void => {
    running.splice(running.indexOf(waiter), 1);
    lane.leave(waiter);
  };
  return { lane, events, running, enter, end };
}

describe('the request queue', () => {
  it('launches up to its limit, keeps the rest in order, refuses beyond', () => {
    const { lane, events, enter, end } = laneOf({ running: 1, waiting: 2, running_per_caller: 1 });
    const [a, b, c] = ['a1', 'a2', 'a3', 'a4'].map(enter) as [Waiter, Waiter, Waiter];
    assert.deepEqual(events, ['a1', '!a4']);
    assert.deepEqual([lane.running, lane.waiting], [1, 2]);
    lane.leave(b);
    end(a);
    assert.deepEqual(events, ['a1', '!a4', 'a3']);
    end(c);
    assert.deepEqual([lane.running, lane.waiting], [0, 0]);
  });

  it('one caller has at most its share under way, and the rest of the connections are for others', () => {
    const { lane, events, running, enter, end } = laneOf({ running: 4, waiting: 10, running_per_caller: 2 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) enter(name);
    assert.deepEqual([events, lane.waiting], [['a1', 'a2', 'b1'], 2]);
    end(running[2] as Waiter);
    assert.deepEqual(events, ['a1', 'a2', 'b1'], 'a has its share still');
    end(running[0] as Waiter);
    assert.deepEqual(events, ['a1', 'a2', 'b1', 'a3']);
  });

  it('when all places are taken, a newcomer takes that of the newest call of who has the most', () => {
    const { events, enter } = laneOf({ running: 1, waiting: 3, running_per_caller: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) enter(name);
    assert.deepEqual(events, ['a1', '-a4', '!b2', '-a3']);
  });

  it('whatever another caller does, a caller’s single call is never refused and starts when one running call ends, at the latest', () => {
    let waited = 0;
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant('noisy' as const) },
      { weight: 2, arbitrary: fc.constant('quiet' as const) },
      { weight: 3, arbitrary: fc.record({ end: fc.nat(50) }) },
      { weight: 1, arbitrary: fc.record({ leave: fc.nat(50) }) },
    );
    const bounds = fc.record({ running: fc.integer({ min: 1, max: 6 }), waiting: fc.integer({ min: 2, max: 6 }) });
    fc.assert(
      fc.property(bounds, fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 120, size: 'max' }), (bound, share, steps) => {
        const { lane, events, running, enter, end } = laneOf({ ...bound, running_per_caller: Math.min(share, bound.running) });
        const waiting = new Set<Waiter>();
        let quiet: Waiter | undefined;
        let ends = 0;
        let names = 0;
        for (const step of steps) {
          if (step === 'noisy') {
            const waiter = enter(`n${names++}`);
            if (waiter.place !== undefined) waiting.add(waiter);
          } else if (step === 'quiet') {
            if (quiet !== undefined && (quiet.place !== undefined || running.includes(quiet))) continue;
            quiet = enter(`q${names++}`);
            ends = 0;
            assert.ok(quiet.place !== undefined || running.includes(quiet), 'refused');
            if (quiet.place !== undefined) waited++;
          } else if ('end' in step) {
            const ended = running[step.end % Math.max(1, running.length)];
            if (ended === undefined) continue;
            ends++;
            end(ended);
          } else {
            const gone = [...waiting].filter(({ place }) => place !== undefined)[step.leave];
            if (gone !== undefined) lane.leave(gone);
          }
          for (const waiter of waiting) if (waiter.place === undefined) waiting.delete(waiter);
          if (quiet?.place !== undefined) assert.equal(ends, 0, `waits on: ${events}`);
          assert.ok(!events.some((event) => event.startsWith('-q')), 'displaced');
          assert.equal(lane.running, running.length);
          assert.ok(lane.running <= bound.running && lane.waiting <= bound.waiting);
          for (const caller of ['n', 'q']) assert.ok(running.filter((one) => one.caller === caller).length <= share);
          // Nobody waits who could run.
          if (lane.waiting > 0 && lane.running < bound.running)
            assert.equal(running.filter(({ caller }) => caller === 'n').length, Math.min(share, bound.running));
        }
        for (let one = running[0]; one !== undefined; one = running[0]) end(one);
        assert.deepEqual([lane.running, lane.waiting], [0, 0], 'nothing is kept');
      }),
      { numRuns: 400 },
    );
    assert.ok(waited > 50, `${waited} calls waited`);
  });

  it('newcomers that come without end do not keep those out who wait', () => {
    const { events, running, enter, end } = laneOf({ running: 1, waiting: 100, running_per_caller: 1 });
    enter('a1');
    enter('a2');
    for (let i = 0; i < 20; i++) {
      enter(`${String.fromCharCode(0x100 + i)}1`);
      end(running[0] as Waiter);
    }
    assert.ok(events.includes('a2'), events.join());
  });
});
