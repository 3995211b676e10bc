import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HeadInit } from 'portcullis/testing';
import { type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, challenge, METADATA, openBench } from './support/open.js';

const PLAIN = `Bearer resource_metadata="${METADATA}", scope="mcp.read"`;
const MALFORMED = `Bearer error="invalid_request", resource_metadata="${METADATA}", scope="mcp.read"`;

describe('oauth-bearer Authorization header', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  let good: string;
  before(async () => {
    issuer = await startIssuer();
    bench = await openBench(issuer, { required_scopes: ['mcp.read'] });
    good = await bench.token({ scope: 'mcp.read' });
  });
  after(async () => {
    await bench.close();
    await issuer.close();
  });

  const ask = (authorization: string | readonly string[] | undefined, head: HeadInit = {}) =>
    bench.ask(undefined, { ...head, headers: authorization === undefined ? {} : { authorization } });

  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
    it(`the scheme ignores case: ${scheme}`, async () => {
      assert.equal(brief(await ask(`${scheme} ${good}`)), 'identify');
    });

  for (const value of ['', 'Bearer', 'bearer', 'Basic eDp5', 'Negotiate x', 'BearerX abc', 'DPoP abc', 'Token abc'])
    it(`no credentials of ours: ${JSON.stringify(value)} is 401 without an error`, async () => {
      const decision = await ask(value);
      assert.equal(brief(decision), '401 TOKEN_REQUIRED');
      assert.equal(challenge(decision), PLAIN);
    });

  for (const value of [
    'Bearer  GOOD',
    'Bearer GOOD ',
    'Bearer\tGOOD',
    'Bearer GOOD, Bearer GOOD',
    'Bearer GOOD GOOD',
    'Bearer "GOOD"',
    'Bearer ä',
    'Bearer,GOOD',
    'Bearer =a',
  ])
    it(`odd syntax: ${JSON.stringify(value)} is 400 with the full challenge`, async () => {
      const decision = await ask(value.replaceAll('GOOD', good));
      assert.equal(brief(decision), '400 TOKEN_REQUEST_INVALID');
      assert.equal(challenge(decision), MALFORMED);
    });

  for (const name of ['good then bad', 'bad then good', 'the same twice'])
    it(`a repeated header is never picked from: ${name}`, async () => {
      const pairs = {
        'good then bad': [`Bearer ${good}`, 'Bearer x'],
        'bad then good': ['Bearer x', `Bearer ${good}`],
        'the same twice': [`Bearer ${good}`, `Bearer ${good}`],
      };
      const decision = await ask(pairs[name as keyof typeof pairs]);
      assert.equal(brief(decision), '400 TOKEN_REQUEST_INVALID');
      assert.equal(challenge(decision), MALFORMED);
    });

  for (const token of ['a.b', 'a.b.c', 'abc', 'x'.repeat(16_384)])
    it(`a credential that is no JWT is 401 invalid_token: ${token.slice(0, 8)} (${token.length})`, async () => {
      const decision = await ask(`Bearer ${token}`);
      assert.equal(brief(decision), '401 TOKEN_INVALID');
      assert.match(
        challenge(decision) ?? '',
        /^Bearer error="invalid_token", error_description="[ -!#-[\]-~]+", resource_metadata="[^"]+", scope="mcp.read"$/,
      );
    });

  it('a token in the query alone is ignored', async () => {
    const decision = await ask(undefined, { query: `access_token=${good}` });
    assert.equal(brief(decision), '401 TOKEN_REQUIRED');
    assert.equal(challenge(decision), PLAIN);
  });

  for (const query of ['access_token=x', 'a=1&access_token=', 'access%5Ftoken=x', 'a=1&%61ccess_token=x'])
    it(`a token in the query as well is 400: ${query}`, async () => {
      assert.equal(brief(await ask(`Bearer ${good}`, { query })), '400 TOKEN_REQUEST_INVALID');
    });

  it('another query disturbs nothing', async () => {
    assert.equal(brief(await ask(`Bearer ${good}`, { query: 'my_access_token=x&a' })), 'identify');
  });

  it('every refusal says no-store and shows no token', async () => {
    for (const value of [undefined, `Bearer ${good}x`, `Bearer ${good} x`]) {
      const decision = await ask(value);
      assert.equal(decision.kind, 'refuse');
      if (decision.kind === 'refuse') assert.equal(decision.headers?.['cache-control'], 'no-store');
      assert.ok(!JSON.stringify(decision).includes(good));
    }
  });

  it('values of a challenge are quoted and escaped', async () => {
    const quoted = await openBench(issuer, { required_scopes: ['a"b', 'c\\d'] });
    assert.equal(challenge(await quoted.ask(undefined)), `Bearer resource_metadata="${METADATA}", scope="a\\"b c\\\\d"`);
    await quoted.close();
  });

  it('a challenge without required scopes has no scope', async () => {
    const open = await openBench(issuer);
    assert.equal(challenge(await open.ask(undefined)), `Bearer resource_metadata="${METADATA}"`);
    await open.close();
  });
});
