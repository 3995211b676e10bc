import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createStateSeal } from '../../../src/core/call/state-seal.js';
import { makeClock } from '../../../src/testing/clock.js';

describe('sealed request state', () => {
  it('opens for the same binding until it expires', () => {
    const clock = makeClock();
    const seal = createStateSeal({ keys: [], clock });
    const sealed = seal.seal('{"round":1,"name":"é"}', 'alice call');
    assert.match(sealed, /^[A-Za-z0-9_-]+$/);
    assert.ok(!Buffer.from(sealed, 'base64url').toString('latin1').includes('round'));
    assert.equal(seal.open(sealed, 'alice call'), '{"round":1,"name":"é"}');
    assert.equal(seal.open(sealed, 'bob call'), undefined);
    clock.advance(599_999);
    assert.equal(seal.open(sealed, 'alice call'), '{"round":1,"name":"é"}');
    clock.advance(1);
    assert.equal(seal.open(sealed, 'alice call'), undefined);
  });

  it('opens nothing that was changed anywhere', () => {
    const seal = createStateSeal({ keys: ['k'.repeat(32)], clock: makeClock() });
    const sealed = seal.seal('1', 'b');
    for (let i = 0; i < sealed.length; i++) {
      const changed = `${sealed.slice(0, i)}${sealed[i] === 'A' ? 'B' : 'A'}${sealed.slice(i + 1)}`;
      assert.equal(seal.open(changed, 'b'), undefined, `at ${i}`);
    }
    for (const text of ['', 'A', sealed.slice(1), `${sealed}A`, `${sealed}=`, `${sealed} `, 'A'.repeat(50_000)])
      assert.equal(seal.open(text, 'b'), undefined);
  });

  it('rotates keys: the first seals, every one opens', () => {
    const clock = makeClock();
    const before = createStateSeal({ keys: ['old-secret-of-16'], clock });
    const after = createStateSeal({ keys: ['new-secret-of-16', 'old-secret-of-16'], clock });
    assert.equal(after.open(before.seal('7', 'b'), 'b'), '7');
    assert.equal(before.open(after.seal('7', 'b'), 'b'), undefined);
  });

  it('takes 32 768 bytes and not one more', () => {
    const seal = createStateSeal({ keys: [], clock: makeClock() });
    const most = 'x'.repeat(32_768);
    assert.equal(seal.open(seal.seal(most, 'b'), 'b'), most);
    assert.throws(() => seal.seal(`${most}x`, 'b'), RangeError);
  });
});
