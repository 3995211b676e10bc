import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { HeadInit } from 'portcullis/testing';
import { type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, challenge, METADATA, openBench } from './support/open.js';

const der = Buffer.from('not a real certificate, but its bytes are all that counts');
const hex = createHash('sha256').update(der).digest('hex');
const thumbprint = createHash('sha256').update(der).digest('base64url');
const cnf = { 'x5t#S256': thumbprint };
const other = Buffer.from('another certificate');

const over = (certificate: Uint8Array | undefined): HeadInit => ({ peer: { tls: { authorized: false, certificate } } });
const fact = (sha256: unknown): { facts: Record<string, unknown> } => ({ facts: { certificate: { sha256 } } });

describe('oauth-bearer certificate-bound tokens', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  let bound: string;
  before(async () => {
    issuer = await startIssuer();
    bench = await openBench(issuer);
    bound = await bench.token({ cnf });
  });
  after(async () => {
    await bench.close();
    await issuer.close();
  });

  it('the certificate of the connection, or of an earlier gate, must be the one of the token', async () => {
    assert.equal(brief(await bench.ask(bound, over(der))), 'identify');
    assert.equal(brief(await bench.ask(bound, {}, fact(hex))), 'identify');
    for (const [head, context] of [
      [{}, {}],
      [over(undefined), {}],
      [over(other), {}],
      [{}, fact(hex.toUpperCase())],
      [{}, fact(thumbprint)],
      [{}, fact(undefined)],
      [{}, { facts: { certificate: hex } }],
      [{}, { facts: { certificate: null } }],
    ] as const)
      assert.equal(brief(await bench.ask(bound, head, context)), '401 TOKEN_INVALID', JSON.stringify(context));
  });

  it('the refusal is an invalid_token challenge', async () => {
    assert.equal(
      challenge(await bench.ask(bound)),
      `Bearer error="invalid_token", error_description="The token is not bound to the certificate of this caller.", resource_metadata="${METADATA}"`,
    );
  });

  it('a remembered token is bound too: it is no use over another connection', async () => {
    assert.equal(brief(await bench.ask(bound, over(der))), 'identify');
    assert.equal(brief(await bench.ask(bound, over(other))), '401 TOKEN_INVALID');
    assert.equal(brief(await bench.ask(bound, over(der))), 'identify');
  });

  it('what an earlier gate found goes before the connection of a proxy', async () => {
    assert.equal(brief(await bench.ask(bound, over(other), fact(hex))), 'identify');
    assert.equal(brief(await bench.ask(bound, over(der), fact(createHash('sha256').update(other).digest('hex')))), '401 TOKEN_INVALID');
  });

  it('certificate_from chooses one source alone', async () => {
    const gate = await openBench(issuer, { certificate_from: 'gate' });
    assert.equal(brief(await gate.ask(bound, over(der))), '401 TOKEN_INVALID');
    assert.equal(brief(await gate.ask(bound, {}, fact(hex))), 'identify');
    const connection = await openBench(issuer, { certificate_from: 'connection' });
    assert.equal(brief(await connection.ask(bound, {}, fact(hex))), '401 TOKEN_INVALID');
    assert.equal(brief(await connection.ask(bound, over(der), fact('0'.repeat(64)))), 'identify');
    await gate.close();
    await connection.close();
  });

  it('require refuses a token that is not bound', async () => {
    const strict = await openBench(issuer, { certificate_bound: 'require' });
    assert.equal(brief(await strict.ask(await strict.token(), over(der))), '401 TOKEN_INVALID');
    assert.equal(brief(await strict.ask(bound, over(der))), 'identify');
    await strict.close();
  });

  const odd: readonly unknown[] = [
    null,
    'x',
    [],
    {},
    { jwk: {} },
    { kid: 'k' },
    { 'x5t#S256': 7 },
    { 'x5t#S256': '' },
    { 'x5t#S256': `${thumbprint}=` },
    { ...cnf, kid: 'k' },
    { jkt: 7 },
  ];
  for (const given of odd)
    it(`a cnf that cannot be checked refuses: ${JSON.stringify(given)}`, async () => {
      assert.equal(brief(await bench.ask(await bench.token({ cnf: given }), over(der))), '401 TOKEN_INVALID');
    });

  it('a token bound to a certificate and to a key needs both', async () => {
    assert.equal(brief(await bench.ask(await bench.token({ cnf: { ...cnf, jkt: thumbprint } }), over(der))), '401 TOKEN_INVALID');
  });
});
