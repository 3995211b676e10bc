import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { GateDecision } from 'portcullis/gate';
import { type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, openBench } from './support/open.js';

describe('oauth-bearer identity and facts', () => {
  let issuer: FakeIssuer;
  const benches: Bench[] = [];
  before(async () => {
    issuer = await startIssuer();
  });
  after(async () => {
    for (const bench of benches) await bench.close();
    await issuer.close();
  });

  async function ask(claims: Record<string, unknown>, options: Record<string, unknown> = {}): Promise<GateDecision> {
    const bench = await openBench(issuer, options);
    benches.push(bench);
    return bench.ask(await bench.token(claims));
  }
  const groups = (decision: GateDecision): unknown => (decision.kind === 'identify' ? decision.facts?.groups : brief(decision));
  const identity = (decision: GateDecision, name: 'principal' | 'client' | 'expires_at_ms'): unknown =>
    decision.kind === 'identify' ? decision.identity[name] : brief(decision);

  it('the principal comes from the configured claim and from no other', async () => {
    assert.equal(identity(await ask({ email: 'a@example.com' }, { principal_claim: 'email' }), 'principal'), 'a@example.com');
    assert.equal(brief(await ask({}, { principal_claim: 'email' })), '401 TOKEN_INVALID');
    assert.equal(identity(await ask({ user: { id: 'u1' } }, { principal_claim: '/user/id' }), 'principal'), 'u1');
  });

  it('the client is client_id, else azp, else nobody', async () => {
    assert.equal(identity(await ask({ azp: 'x' }), 'client'), 'app');
    assert.equal(identity(await ask({ client_id: undefined, azp: 'x' }), 'client'), 'x');
    for (const client_id of [7, '', 'a\u0000', 'x'.repeat(1025)])
      assert.equal(identity(await ask({ client_id, azp: 'x' }), 'client'), undefined);
  });

  it('expires_at_ms is the exp of the token, without the tolerance', async () => {
    assert.equal(identity(await ask({ exp: 1_767_229_999.9 }), 'expires_at_ms'), 1_767_229_999_900);
  });

  it('groups are a list of strings, from a name or a JSON pointer', async () => {
    assert.deepEqual(groups(await ask({ groups: ['a', 'b', 7, null] })), ['a', 'b']);
    assert.deepEqual(groups(await ask({ groups: 'a b' })), ['a b']);
    assert.deepEqual(groups(await ask({})), []);
    assert.deepEqual(groups(await ask({ 'https://example.com/groups': ['x'] }, { groups_claim: 'https://example.com/groups' })), ['x']);
    assert.deepEqual(groups(await ask({ realm_access: { roles: ['r'] } }, { groups_claim: '/realm_access/roles' })), ['r']);
    assert.deepEqual(groups(await ask({ 'a/b': { 'c~d': ['e'] } }, { groups_claim: '/a~1b/c~0d' })), ['e']);
    assert.deepEqual(groups(await ask({}, { groups_claim: '/constructor/name' })), []);
  });

  it('the fact token has all verified claims but cnf and jti, and is frozen', async () => {
    const decision = await ask({ jti: 'j', dept: { no: 7 } });
    const token = decision.kind === 'identify' ? (decision.facts?.token as Record<string, unknown>) : {};
    assert.deepEqual(Object.keys(token).sort(), ['aud', 'client_id', 'dept', 'exp', 'iat', 'iss', 'sub']);
    assert.ok(Object.isFrozen(token) && Object.isFrozen(token.dept));
  });

  it('at most remembered_tokens are remembered; 0 remembers none', async () => {
    for (const [remembered_tokens, promised] of [
      [0, 'promise'],
      [1, 'value'],
    ] as const) {
      const bench = await openBench(issuer, { remembered_tokens });
      benches.push(bench);
      const { makeContext, makeHead } = await import('portcullis/testing');
      const [first, second] = [await bench.token({ sub: 'a' }), await bench.token({ sub: 'b' })];
      const decide = (token: string) => bench.gate.decide(makeHead({ headers: { authorization: `Bearer ${token}` } }), makeContext());
      await decide(first);
      await decide(second);
      assert.equal(decide(second) instanceof Promise ? 'promise' : 'value', promised);
      const forgotten = decide(first);
      assert.ok(forgotten instanceof Promise);
      await forgotten;
    }
  });
});
