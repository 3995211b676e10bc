import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, challenge, METADATA, openBench } from './support/open.js';

describe('oauth-bearer', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  before(async () => {
    issuer = await startIssuer();
    bench = await openBench(issuer, { required_scopes: ['a:read', 'a:call'] });
  });
  after(async () => {
    await bench.close();
    await issuer.close();
  });

  it('identifies the caller of a good token', async () => {
    const exp = bench.host.clock.now_ms() / 1000 + 60;
    const decision = await bench.ask(await bench.token({ exp, scope: 'a:read a:call', groups: ['ops', 'dev'], jti: 'j' }));
    assert.equal(decision.kind, 'identify');
    if (decision.kind !== 'identify') return;
    assert.deepEqual(
      { ...decision.identity },
      { principal: 'alice', issuer: issuer.url, client: 'app', scopes: new Set(['a:read', 'a:call']), expires_at_ms: exp * 1000 },
    );
    assert.deepEqual(decision.facts?.groups, ['ops', 'dev']);
    const token = decision.facts?.token as Record<string, unknown> | undefined;
    assert.equal(token?.sub, 'alice');
    assert.equal(token?.jti, undefined);
    assert.ok(Object.isFrozen(token));
  });

  it('a remembered token is decided without a promise, and is checked again once it has expired', async () => {
    const exp = bench.host.clock.now_ms() / 1000 + 60;
    const token = await bench.token({ exp, scope: 'a:read a:call' });
    const first = await bench.ask(token);
    const { makeContext, makeHead } = await import('portcullis/testing');
    const again = bench.gate.decide(makeHead({ headers: { authorization: `bearer ${token}` } }), makeContext());
    assert.equal(again, first);
    bench.host.clock.advance(90_000);
    assert.equal(brief(await bench.ask(token)), '401 TOKEN_INVALID');
  });

  it('without a token: 401, scope and resource_metadata, no error', async () => {
    const decision = await bench.ask(undefined);
    assert.equal(brief(decision), '401 TOKEN_REQUIRED');
    assert.equal(challenge(decision), `Bearer resource_metadata="${METADATA}", scope="a:read a:call"`);
  });

  it('an expired token: 401 invalid_token', async () => {
    const decision = await bench.ask(await bench.token({ exp: bench.host.clock.now_ms() / 1000 - 30, scope: 'a:read a:call' }));
    assert.equal(
      challenge(decision),
      `Bearer error="invalid_token", error_description="The token has expired.", resource_metadata="${METADATA}", scope="a:read a:call"`,
    );
  });

  it('a missing scope: 403 with all scopes of the call', async () => {
    const decision = await bench.ask(await bench.token({ scope: 'a:read' }));
    assert.equal(brief(decision), '403 SCOPE_INSUFFICIENT');
    assert.equal(challenge(decision), `Bearer error="insufficient_scope", scope="a:read a:call", resource_metadata="${METADATA}"`);
  });
});
