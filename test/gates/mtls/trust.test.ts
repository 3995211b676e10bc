import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Issued, issue } from './certificates.js';
import { open, STRANGER, said } from './kit.js';

const CERT = 'x-forwarded-tls-client-cert';
const options = { source: 'traefik', shared_secret: { header: 'X-Proxy-Secret', value: 'correct-horse' } };
let alice: Issued;
let value: string;
before(async () => {
  alice = await issue({ subject: 'CN=alice' });
  value = alice.der.toString('base64');
});

describe('mtls: trust of the hop', () => {
  const table: readonly (readonly [what: string, rest: readonly string[], trusted: boolean, expect: string, ignored: number])[] = [
    ['address and secret', ['x-proxy-secret', 'correct-horse'], true, 'CN=alice', 0],
    ['secret in another case of the name', ['X-PROXY-SECRET', 'correct-horse'], true, 'CN=alice', 0],
    ['the secret from a stranger', ['x-proxy-secret', 'correct-horse'], false, 'REQUIRED', 1],
    ['no secret', [], true, 'REQUIRED', 1],
    ['an empty secret', ['x-proxy-secret', ''], true, 'REQUIRED', 1],
    ['a prefix', ['x-proxy-secret', 'correct-hors'], true, 'REQUIRED', 1],
    ['more', ['x-proxy-secret', 'correct-horse '], true, 'REQUIRED', 1],
    ['another case', ['x-proxy-secret', 'Correct-horse'], true, 'REQUIRED', 1],
    ['twice, both right', ['x-proxy-secret', 'correct-horse', 'x-proxy-secret', 'correct-horse'], true, 'REQUIRED', 1],
    ['twice, one right', ['x-proxy-secret', 'x', 'x-proxy-secret', 'correct-horse'], true, 'REQUIRED', 1],
    ['a _ spelling', ['x_proxy_secret', 'correct-horse'], true, 'REQUIRED', 1],
  ];
  for (const [what, rest, trusted, expect, ignored] of table) {
    it(`${what}: ${expect}`, async () => {
      const gate = await open(options);
      assert.equal(said(gate.ask([CERT, value, ...rest], trusted ? {} : STRANGER)), expect);
      assert.equal(gate.ignored, ignored);
      await gate.close();
    });
  }

  it('without a secret the address alone decides, whatever the certificate header says', async () => {
    const gate = await open({ source: 'traefik' });
    assert.equal(said(gate.ask([CERT, value])), 'CN=alice');
    assert.equal(said(gate.ask([CERT, value], STRANGER)), 'REQUIRED');
    assert.equal(said(gate.ask([CERT, value], { ...STRANGER, client_address: '127.0.0.1' })), 'REQUIRED');
    await gate.close();
  });

  it('what a trusted hop taught is not believed from a stranger', async () => {
    const gate = await open({ source: 'traefik', required: false });
    assert.equal(said(gate.ask([CERT, value])), 'CN=alice');
    assert.equal(said(gate.ask([CERT, value], STRANGER)), 'pass');
    assert.deepEqual(gate.ask([CERT, value], STRANGER), { kind: 'pass' });
    await gate.close();
  });
});
