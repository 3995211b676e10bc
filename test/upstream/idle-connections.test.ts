import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UpstreamConnection } from '../../src/upstream/connection.js';
import { ConnectionList } from '../../src/upstream/idle-connections.js';

const some = (count: number): UpstreamConnection[] => Array.from({ length: count }, () => ({ slot: -1 }) as UpstreamConnection);

describe('upstream: a list of connections', () => {
  it('gives out the one that was added last, whichever left before', () => {
    const list = new ConnectionList();
    const all = some(200);
    for (const connection of all) list.push(connection);
    // Every third leaves, the last one too; then holes are closed, and opened again.
    const left = all.filter((connection, at) => (at % 3 === 1 ? !list.delete(connection) : true));
    assert.deepEqual([list.size, list.all()], [left.length, left]);
    for (const connection of left.splice(10)) assert.equal(list.delete(connection), true);
    assert.deepEqual(list.all(), left);
    const [more] = some(1) as [UpstreamConnection];
    list.push(more);
    for (const connection of [more, ...left.reverse()]) assert.equal(list.pop(), connection);
    assert.deepEqual([list.pop(), list.size, list.all()], [undefined, 0, []]);
  });

  it('knows what is not in it', () => {
    const [one, other] = [new ConnectionList(), new ConnectionList()];
    const [a, b, c] = some(3) as [UpstreamConnection, UpstreamConnection, UpstreamConnection];
    one.push(a);
    other.push(b);
    assert.deepEqual([one.delete(b), one.delete(c), other.delete(a), one.delete(a), one.delete(a)], [false, false, false, true, false]);
    other.push(a);
    assert.deepEqual([other.takeAll(), other.size, other.delete(a)], [[b, a], 0, false]);
  });

  it('loses one in constant time: half a million leave in less than the seconds that a search for each of 65 535 took', () => {
    const list = new ConnectionList();
    const all = some(500_000);
    for (const connection of all) list.push(connection);
    const began = performance.now();
    for (const connection of all) list.delete(connection);
    assert.ok(performance.now() - began < 5_000);
  });
});
