import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChunkMeter } from '../../src/wire/chunk-meter.js';

const HEAD = 300;

/** Feeds a chunked body to a meter as a parser does: the wire in reads of these sizes, in turn, and a piece for each part of a chunk in a read. */
function refused(chunks: readonly number[], reads: readonly number[], began?: number): boolean {
  const meter = new ChunkMeter(began);
  let read = HEAD;
  let at = HEAD;
  let turn = 0;
  const whole = HEAD + 5 + chunks.reduce((sum, size) => sum + size + size.toString(16).length + 4, 0);
  const upTo = (): number => {
    while (read <= at) read = Math.min(whole, read + (reads[turn++ % reads.length] as number));
    return read;
  };
  for (const size of chunks) {
    at += size.toString(16).length + 2;
    for (let left = size; left > 0; ) {
      const piece = Math.min(left, upTo() - at);
      if (meter.add(piece, read)) return true;
      left -= piece;
      at += piece;
    }
    at += 2;
  }
  return meter.end();
}

const same = (size: number, total: number): number[] => Array.from({ length: Math.ceil(total / size) }, () => size);

describe('chunks that are too small', () => {
  for (const [name, began] of [
    ['the listener, which knows where the body began', HEAD],
    ['a mount, which does not', undefined],
  ] as const)
    for (const reads of [[65_536], [16_384], [1460], [700, 3, 9000]])
      it(`${name}: refuses 1 to 15 bytes beyond 64 KiB and passes 16 and more, in reads of ${reads.join(', ')}`, () => {
        for (const size of [1, 2, 3, 5, 8, 12, 13, 14, 15]) assert.equal(refused(same(size, 1_000_000), reads, began), true, `${size}`);
        for (const size of [16, 17, 20, 31, 32, 64, 255, 256, 4096, 65_536])
          assert.equal(refused(same(size, 1_000_000), reads, began), false, `${size}`);
        for (const size of [1, 8, 15]) assert.equal(refused(same(size, 65_000), reads, began), false, `${size}, within 64 KiB`);
      });

  it('refuses tiny chunks of which each comes in a read of its own', () => {
    for (const size of [1, 4, 8]) {
      const framed = size + 5;
      assert.equal(refused(same(size, 200_000), [framed], HEAD), true, `${size}`);
    }
  });

  it('refuses a body barely over 64 KiB', () => assert.equal(refused(same(8, 70_000), [65_536], HEAD), true));

  it('never refuses chunks of 16 bytes or more for how the network cuts them', () => {
    const reads = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 65_536 })), { minLength: 1, maxLength: 20 });
    const chunks = fc.array(fc.oneof(fc.integer({ min: 16, max: 40 }), fc.integer({ min: 16, max: 5000 })), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(chunks, reads, fc.constantFrom(HEAD, undefined), (sizes, cut, began) => {
        const long = Array.from({ length: Math.ceil(90_000 / sizes.reduce((sum, size) => sum + size, 0)) }, () => sizes).flat();
        assert.equal(refused(long, cut, began), false);
      }),
      { numRuns: 150 },
    );
    for (const began of [HEAD, undefined]) assert.equal(refused([200_000], [1], began), false, 'one chunk in reads of one byte');
  });

  it('counts what was queued before for nothing', () => {
    const meter = new ChunkMeter(undefined, 60_000);
    for (let i = 0; i < 60_000; i++) assert.equal(meter.add(1, 500_000), false);
    assert.equal(meter.add(10_000, 510_000), false);
    assert.equal(meter.end(), false);
  });
});
