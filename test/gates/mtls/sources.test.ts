import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escaped } from './certificates.js';
import { ALICE, alice, b64, type Case, tables } from './header-cases.js';
import { open, STRANGER, said, tls, why } from './kit.js';

// One certificate through each of the eight sources: what is believed, what is absent, what is refused.
for (const [source, options, cases] of tables) {
  describe(`mtls: source ${source}`, () => {
    for (const { what, lines, expect, because } of cases) {
      it(`${what}: ${expect}`, async () => {
        const gate = await open(options);
        const decision = gate.ask(lines());
        assert.equal(said(decision), expect, why(decision));
        if (because !== undefined) assert.match(why(decision), because);
        assert.equal(gate.ignored, 0);
        await gate.close();
      });
    }

    it('from a stranger nothing is believed, everything is counted', async () => {
      const gate = await open(options);
      const good = (cases[0] as Case).lines();
      assert.equal(said(gate.ask(good, STRANGER)), 'REQUIRED');
      assert.equal(gate.ignored, good.length / 2);
      const twice = (cases[3] as Case).lines();
      assert.equal(said(gate.ask(twice, STRANGER)), 'REQUIRED');
      assert.equal(gate.ignored, (good.length + twice.length) / 2);
      assert.equal(said(gate.ask([], STRANGER)), 'REQUIRED');
      assert.equal(gate.ignored, (good.length + twice.length) / 2);
      await gate.close();
    });

    it('required: false lets a request without certificate pass, and nothing else', async () => {
      const gate = await open({ ...options, required: false });
      assert.equal(said(gate.ask([])), 'pass');
      assert.equal(said(gate.ask((cases[0] as Case).lines(), STRANGER)), 'pass');
      assert.equal(said(gate.ask((cases[0] as Case).lines())), ALICE);
      for (const { what, lines, expect } of cases)
        if (expect === 'MALFORMED' || expect === 'UNVERIFIED') assert.equal(said(gate.ask(lines())), expect, what);
      await gate.close();
    });
  });
}

describe('mtls: source direct', () => {
  const table: readonly (readonly [what: string, peer: () => object, expect: string])[] = [
    ['authorized', () => tls(true, alice.der), ALICE],
    ['authorized, from an address that is no proxy', () => ({ ...STRANGER, ...tls(true, alice.der) }), ALICE],
    ['not authorized', () => tls(false, alice.der), 'UNVERIFIED'],
    ['no certificate', () => tls(false, undefined), 'REQUIRED'],
    ['authorized without a certificate', () => tls(true, undefined), 'REQUIRED'],
    ['plaintext', () => ({ tls: undefined }), 'REQUIRED'],
    ['junk', () => tls(true, Buffer.from('junk')), 'MALFORMED'],
    ['a Uint8Array that is no Buffer', () => tls(true, new Uint8Array(alice.der)), ALICE],
  ];
  for (const [what, peer, expect] of table) {
    it(`${what}: ${expect}`, async () => {
      const gate = await open({ source: 'direct' });
      assert.equal(said(gate.ask([], peer())), expect);
      await gate.close();
    });
  }

  it('reads no header', async () => {
    const gate = await open({ source: 'direct' });
    assert.equal(
      said(gate.ask(['x-forwarded-client-cert', `Cert="${escaped(alice.pem)}"`, 'client-cert', `:${b64(alice)}:`], tls(false, undefined))),
      'REQUIRED',
    );
    await gate.close();
  });
});
