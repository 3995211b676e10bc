import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTaskSeal } from '../../../src/runtime/shared/task-seal.js';
import { makeClock } from '../../../src/testing.js';

const ALICE = { route: '/alpha/mcp', issuer: 'https://id.example.com', principal: 'alice', client: 'cli' };
const seal = createTaskSeal({ keys: ['first secret'], clock: makeClock() });
const TASK = { id: 'größe 1', tool: 'build' };

describe('sealed task ids', () => {
  it('open for their owner on their route, with the tool that began the task', () => {
    const sealed = seal.seal(TASK, ALICE) as string;
    assert.match(sealed, /^t1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]+$/);
    assert.deepEqual(seal.open(sealed, ALICE), TASK);
    for (const other of [{ principal: 'bob' }, { issuer: 'https://other.example.com' }, { client: 'web' }, { route: '/beta/mcp' }])
      assert.equal(seal.open(sealed, { ...ALICE, ...other }), undefined, JSON.stringify(other));
    for (const forged of ['', 'größe 1', 't1.', sealed.slice(3), `t2${sealed.slice(2)}`, `${sealed.slice(0, -1)}!`, `${sealed}A`])
      assert.equal(seal.open(forged, ALICE), undefined, forged);
  });

  it('never expire, and open on another replica and after a rotation as long as their key is configured', () => {
    const clock = makeClock();
    clock.advance(100 * 365 * 86_400_000);
    const sealed = seal.seal(TASK, ALICE) as string;
    for (const keys of [['first secret'], ['second secret', 'first secret']])
      assert.deepEqual(createTaskSeal({ keys, clock }).open(sealed, ALICE), TASK);
    for (const keys of [['second secret'], []]) assert.equal(createTaskSeal({ keys, clock }).open(sealed, ALICE), undefined);
  });

  it('are made of ids of 1 to 1 024 bytes and tool names of at most 128', () => {
    const longest = { id: 'é'.repeat(512), tool: 'ü'.repeat(64) };
    const sealed = seal.seal(longest, ALICE) as string;
    assert.ok(sealed.length <= 1600);
    assert.deepEqual(seal.open(sealed, ALICE), longest);
    for (const id of ['', `${longest.id}x`, 'a\0b', '\ud800']) assert.equal(seal.seal({ id, tool: '' }, ALICE), undefined);
    assert.deepEqual(seal.open(seal.seal({ id: 'a', tool: `${longest.tool}x` }, ALICE) as string, ALICE), { id: 'a', tool: '' });
  });
});
