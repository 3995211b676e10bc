import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GatheredBytes } from '../../src/wire/bytes.js';

describe('gathered bytes', () => {
  it('are what came, in order, whatever the parts', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 200 }), (parts) => {
        const gathered = new GatheredBytes();
        for (const part of parts) gathered.append(part);
        const whole = Buffer.concat(parts);
        assert.equal(gathered.length, whole.length);
        assert.deepEqual(gathered.take(), whole);
        assert.deepEqual([gathered.length, gathered.take().length], [0, 0]);
      }),
    );
  });

  it('hand a single part on without a copy', () => {
    const part = Buffer.from('body');
    const gathered = new GatheredBytes();
    gathered.append(part);
    const whole = gathered.take();
    assert.deepEqual([whole.buffer, whole.byteOffset], [part.buffer, part.byteOffset]);
  });

  it('of a megabyte in one-byte parts take at most two, and the parts are let go', () => {
    const gathered = new GatheredBytes();
    for (let i = 0; i < 2 ** 20; i++) gathered.append(Buffer.from([i & 255]));
    const whole = gathered.take();
    assert.equal(whole.length, 2 ** 20);
    assert.ok(whole.buffer.byteLength <= 2 ** 21, `${whole.buffer.byteLength}`);
    assert.ok(whole.every((byte, i) => byte === (i & 255)));
  });

  it('hold at most 64 parts of what came', () => {
    const parts = Array.from({ length: 100 }, (_, i) => Buffer.from([i]));
    const gathered = new GatheredBytes();
    for (const part of parts) gathered.append(part);
    for (const part of parts) part[0] = 255;
    assert.deepEqual(
      [...gathered.take()],
      Array.from({ length: 100 }, (_, i) => i),
    );
  });
});
