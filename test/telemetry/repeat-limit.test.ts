import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRepeatLimit } from '../../src/telemetry/repeat-limit.js';
import { makeClock } from '../../src/testing/clock.js';

it('a repeat limit writes a burst, then one line a window with the number left out', () => {
  const clock = makeClock();
  const limit = createRepeatLimit({ clock, burst: 2, window_ms: 1_000 });
  assert.deepEqual([limit.take('a'), limit.take('a'), limit.take('a'), limit.take('a'), limit.take('b')], [0, 0, undefined, undefined, 0]);
  clock.advance(999);
  assert.equal(limit.take('a'), undefined);
  clock.advance(1);
  assert.deepEqual([limit.take('a'), limit.take('a'), limit.take('a')], [3, 0, undefined]);
});

it('a repeat limit forgets the oldest key when it holds too many', () => {
  const limit = createRepeatLimit({ clock: makeClock(), burst: 1, max_keys: 2 });
  assert.deepEqual([limit.take('a'), limit.take('b'), limit.take('a')], [0, 0, undefined]);
  assert.equal(limit.take('c'), 0);
  assert.deepEqual([limit.take('b'), limit.take('c')], [undefined, undefined]);
  assert.equal(limit.take('a'), 0);
});
