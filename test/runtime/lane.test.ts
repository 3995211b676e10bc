import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lane, type Waiter } from '../../src/runtime/lane.js';

describe('lane', () => {
  const waiter = (name: string, order: string[]): Waiter => ({ launch: () => void order.push(name) });

  it('launches up to its limit, keeps the rest in order, refuses beyond', () => {
    const order: string[] = [];
    const lane = new Lane(1, 2);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => waiter(name, order)) as [Waiter, Waiter, Waiter, Waiter];
    assert.deepEqual([lane.enter(a), lane.enter(b), lane.enter(c), lane.enter(d)], [true, true, true, false]);
    assert.deepEqual(order, ['a']);
    assert.deepEqual([lane.running, lane.waiting], [1, 2]);
    lane.leave(b);
    lane.leave(a);
    assert.deepEqual(order, ['a', 'c']);
    lane.leave(c);
    assert.deepEqual([lane.running, lane.waiting], [0, 0]);
  });
});
