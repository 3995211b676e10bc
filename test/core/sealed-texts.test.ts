import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createStateSeal } from '../../src/core/call/state-seal.js';
import { createSealedTexts } from '../../src/core/sealed-texts.js';
import { createSessionSeal } from '../../src/runtime/shared/session-seal.js';
import { makeClock } from '../../src/testing/clock.js';

const OLD_KEY = 'first-secret-of-16';
/** When the texts below were sealed, by version 1 of the format. */
const SEALED_AT_MS = 1_790_000_000_000;
const SESSION = '2YMwXlCw.DwunywLlwWnfTEJCAaJgfD5i3umD_X5T2TpqezOR_ERoG61Um2rdp7PwHHMt';
const STATE = 'aLNv5wtoUTz4mlJKocwvqmbfLYiyZDNQwQnDuZcib2XSGbw7qMPD1H7ZSrwMEYOenjivhRPO2ZBVxrI';
const ALICE = { route: '/alpha/mcp', issuer: 'https://id.example.com', principal: 'alice', client: 'cli' };

function clockAt(after_ms: number): ReturnType<typeof makeClock> {
  const clock = makeClock();
  clock.advance(SEALED_AT_MS + after_ms - clock.now_ms());
  return clock;
}

describe('sealed texts', () => {
  it('of replicas that ran before open until they expire, also with a newer key in front', () => {
    const keys = ['second-secret-of-16', OLD_KEY];
    for (const [after_ms, session, state] of [
      [0, 'session-1', '{"round":1,"name":"é"}'],
      [599_999, 'session-1', '{"round":1,"name":"é"}'],
      [600_000, 'session-1', undefined],
      [3_599_999, 'session-1', undefined],
      [3_600_000, undefined, undefined],
    ] as const) {
      const clock = clockAt(after_ms);
      assert.equal(createSessionSeal({ keys, ttl_s: 3600, clock }).open(SESSION, ALICE), session);
      assert.equal(createStateSeal({ keys, clock }).open(STATE, 'alice call'), state);
    }
  });

  it('open under their own label and binding alone', () => {
    const clock = makeClock();
    const common = { keys: [OLD_KEY], max_sealed: 500, clock };
    const one = createSealedTexts({ ...common, label: 'one' });
    const two = createSealedTexts({ ...common, label: 'two' });
    const binding = Buffer.from('b');
    const sealed = one.seal(Buffer.from('text'), binding, 1);
    assert.equal(one.open(sealed, binding)?.text.toString(), 'text');
    assert.equal(one.open(sealed, Buffer.from('c')), undefined);
    assert.equal(two.open(sealed, binding), undefined);
    assert.equal(one.open(one.seal(Buffer.alloc(500), binding, 1), binding), undefined, 'longer than max_sealed');
  });

  it('that name their key open with that one alone', () => {
    const common = { label: 'one', key_id_label: 'id', max_sealed: 500, clock: makeClock() };
    const seal = createSealedTexts({ ...common, keys: ['a', 'b'] });
    const sealed = seal.seal(Buffer.from('text'), Buffer.from('b'), 1);
    const other = createSealedTexts({ ...common, keys: ['b', 'a'] }).seal(Buffer.from('text'), Buffer.from('b'), 1);
    assert.notEqual(sealed.slice(0, 9), other.slice(0, 9));
    assert.equal(seal.open(other, Buffer.from('b'))?.text.toString(), 'text');
    assert.equal(seal.open(other.slice(0, 9) + sealed.slice(9), Buffer.from('b')), undefined);
    assert.equal(seal.open(sealed.slice(9), Buffer.from('b')), undefined);
  });
});
