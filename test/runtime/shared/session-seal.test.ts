import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessionSeal, type SessionBinding } from '../../../src/runtime/shared/session-seal.js';
import { makeClock } from '../../../src/testing.js';

const alice: SessionBinding = { route: '/alpha/mcp', issuer: 'https://id.example.com', principal: 'alice', client: 'cli' };

describe('session seal', () => {
  const clock = makeClock();
  const seal = createSessionSeal({ keys: ['first secret'], ttl_s: 60, clock });

  it('gives the upstream id back to its owner only, and never the same id twice', () => {
    const one = seal.seal('session-1', alice);
    const two = seal.seal('session-1', alice);
    assert.ok(one !== undefined && two !== undefined);
    assert.notEqual(one, two);
    assert.equal(seal.open(one, alice), 'session-1');
    assert.match(one, /^[\x21-\x7e]+$/);
    assert.equal(one.includes('session-1'), false);
  });

  it('a sealed id opens for the same issuer, subject, client and route only', () => {
    const sealed = seal.seal('s', alice) ?? '';
    const others: Partial<SessionBinding>[] = [
      { principal: 'bob' },
      { issuer: 'https://other.example.com' },
      { client: '' },
      { client: 'cli2' },
      { route: '/beta/mcp' },
      { principal: 'alice","cli', client: '' },
    ];
    for (const other of others) assert.equal(seal.open(sealed, { ...alice, ...other }), undefined, JSON.stringify(other));
    assert.equal(seal.open(sealed, { ...alice }), 's');
  });

  it('an id that was opened is remembered for its owner only, and no longer than it lives', () => {
    const moved = makeClock();
    const brief = createSessionSeal({ keys: ['first secret'], ttl_s: 60, clock: moved });
    const sealed = brief.seal('s', alice) ?? '';
    for (let i = 0; i < 2; i++) {
      assert.equal(brief.open(sealed, { ...alice }), 's');
      assert.equal(brief.open(sealed, { ...alice, principal: 'bob' }), undefined);
    }
    moved.advance(60_000);
    assert.equal(brief.open(sealed, alice), undefined);
  });

  it('refuses what it did not seal: unknown, cut, changed in any character, re-spelt', () => {
    const sealed = seal.seal('abc', alice) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let i = 0; i < sealed.length; i++) {
      const other = alphabet[(alphabet.indexOf(sealed.charAt(i)) + 1) % 64];
      assert.equal(seal.open(sealed.slice(0, i) + other + sealed.slice(i + 1), alice), undefined, `character ${i}`);
      assert.equal(seal.open(sealed.slice(0, i), alice), undefined, `cut at ${i}`);
    }
    for (const bad of [
      '',
      '00000000-0000-4000-8000-000000000000',
      `${sealed}=`,
      ` ${sealed}`,
      `${sealed} `,
      `${sealed}A`,
      'x'.repeat(4096),
    ]) {
      assert.equal(seal.open(bad, alice), undefined, bad.slice(0, 40));
    }
  });

  it('over 4 KiB is refused before it is decoded', () => {
    const sealed = seal.seal('x'.repeat(2048), alice) ?? '';
    assert.ok(sealed.length <= 4096);
    assert.equal(seal.open(sealed, alice), 'x'.repeat(2048));
    assert.equal(seal.open(`${sealed.slice(0, 9)}${'A'.repeat(4096)}`, alice), undefined);
  });

  it('ends with its time to live', () => {
    const moving = makeClock();
    const short = createSessionSeal({ keys: ['k'], ttl_s: 2, clock: moving });
    const sealed = short.seal('s', alice) ?? '';
    moving.advance(1999);
    assert.equal(short.open(sealed, alice), 's');
    moving.advance(1);
    assert.equal(short.open(sealed, alice), undefined);
  });

  it('opens with any configured key and seals with the first', () => {
    const old = createSessionSeal({ keys: ['old'], ttl_s: 60, clock });
    const both = createSessionSeal({ keys: ['new', 'old'], ttl_s: 60, clock });
    const after = createSessionSeal({ keys: ['new'], ttl_s: 60, clock });
    const before = old.seal('s', alice) ?? '';
    const rotated = both.seal('s', alice) ?? '';
    assert.equal(both.open(before, alice), 's');
    assert.equal(after.open(rotated, alice), 's');
    assert.equal(after.open(before, alice), undefined);
  });

  it('without keys each process has one of its own', () => {
    const one = createSessionSeal({ keys: undefined, ttl_s: 60, clock });
    const two = createSessionSeal({ keys: [], ttl_s: 60, clock });
    const sealed = one.seal('s', alice) ?? '';
    assert.equal(one.open(sealed, alice), 's');
    assert.equal(two.open(sealed, alice), undefined);
  });

  it('seals visible ASCII of 1 to 2 048 characters only', () => {
    for (const bad of ['', 'a b', 'é', 'a\n', 'x'.repeat(2049)]) assert.equal(seal.seal(bad, alice), undefined);
  });
});
