import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReplayStore } from '../../../gates/oauth-bearer/replay-store.js';

describe('the replay store', () => {
  it('a used key is kept for its time, to the millisecond', () => {
    const store = createReplayStore(2, 1000);
    assert.deepEqual([store.use('a', 0), store.use('b', 10), store.use('c', 20), store.use('a', 999)], ['new', 'new', 'full', 'used']);
    assert.deepEqual([store.use('c', 1000), store.use('b', 1009), store.use('b', 1010), store.size], ['new', 'used', 'new', 2]);
  });

  it('behaves as a plain list of what was used, whatever the order of uses', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const store = createReplayStore(50, 40);
      let list: { readonly key: string; readonly until_ms: number }[] = [];
      let state = seed;
      const next = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
      };
      for (let now_ms = 0, i = 0; i < 300; i += 1, now_ms += next(4)) {
        const key = `k${next(80)}`;
        list = list.filter(({ until_ms }) => until_ms > now_ms);
        const expected = list.some((used) => used.key === key) ? 'used' : list.length >= 50 ? 'full' : 'new';
        if (expected === 'new') list.push({ key, until_ms: now_ms + 40 });
        assert.equal(store.use(key, now_ms), expected, `seed ${seed}, use ${i}`);
        assert.ok(store.size <= 50);
      }
    }
  });

  it('everything that expired at once leaves in small steps, and full stays full until then', () => {
    const store = createReplayStore(1000, 10);
    for (let i = 0; i < 1000; i += 1) assert.equal(store.use(`a${i}`, 0), 'new');
    assert.equal(store.use('b', 9), 'full');
    assert.equal(store.use('a500', 10), 'new', 'expired, though not dropped yet');
    assert.equal(store.use('a500', 19), 'used');
    for (let i = 0; i < 100; i += 1) store.use(`c${i}`, 19);
    assert.ok(store.size <= 101, `${store.size} are held`);
    assert.equal(store.use('a500', 19), 'used');
    assert.equal(store.use('a500', 20), 'new');
  });

  it('a use costs no more among 100 000 live keys than among 1 000, but for the memory caches', () => {
    const cost = (live: number): number => {
      const store = createReplayStore(2 * live, live);
      const keys = Array.from({ length: live + 7 * USES }, (_, i) => `key ${i} ${'x'.repeat(30)}`);
      let at = 0;
      const use = (): void => void store.use(keys[at] as string, at++);
      while (at < live) use();
      const costs: number[] = [];
      for (let round = 0; round < 7; round += 1) {
        const before = process.cpuUsage();
        for (let i = 0; i < USES; i += 1) use();
        const { user, system } = process.cpuUsage(before);
        costs.push((user + system) / USES);
      }
      assert.equal(store.size, live);
      return costs.sort((a, b) => a - b)[3] as number;
    };
    const [small, large] = [cost(1000), cost(100_000)];
    assert.ok(large < 10 * Math.max(small, 0.5), `${small} µs and ${large} µs a use`);
  });
});

const USES = 10_000;
