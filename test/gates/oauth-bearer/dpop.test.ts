import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { calculateJwkThumbprint, type JWTPayload, SignJWT } from 'jose';
import type { GateDecision } from 'portcullis/gate';
import type { HeadInit } from 'portcullis/testing';
import { createDpopNonces, expectedUrl } from '../../../gates/oauth-bearer/dpop-proof.js';
import { type FakeIssuer, type FakeKey, makeKey, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, challenge, METADATA, openBench, RESOURCE } from './support/open.js';

const ALGS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519';

describe('oauth-bearer DPoP', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  let key: FakeKey;
  let jkt: string;
  let token: string;
  let jti = 0;
  before(async () => {
    issuer = await startIssuer();
    bench = await openBench(issuer, { dpop: 'accept' });
    key = await makeKey(undefined);
    jkt = await calculateJwkThumbprint(key.jwk);
    token = await bench.token({ cnf: { jkt } });
  });
  after(async () => {
    await bench.close();
    await issuer.close();
  });

  /** A proof that is right unless it is changed. */
  async function prove(changes: JWTPayload = {}, header: Record<string, unknown> = {}, by = key, at = bench): Promise<string> {
    jti += 1;
    const claims = {
      jti: `p${jti}`,
      htm: 'POST',
      htu: RESOURCE,
      iat: at.clock.now_ms() / 1000,
      ath: createHash('sha256').update(token).digest('base64url'),
      ...changes,
    };
    const { use: _use, ...jwk } = by.jwk;
    return new SignJWT(JSON.parse(JSON.stringify(claims)) as JWTPayload)
      .setProtectedHeader({ alg: by.alg, typ: 'dpop+jwt', jwk, ...header } as never)
      .sign(by.secret);
  }
  const ask = (dpop: string | readonly string[], head: HeadInit = {}, at = bench, scheme = 'DPoP'): Promise<GateDecision> =>
    at.ask(undefined, { ...head, headers: { authorization: `${scheme} ${token}`, ...(dpop.length === 0 ? {} : { dpop }) } });
  const why = (decision: GateDecision): string => (decision.kind === 'refuse' ? (decision.message ?? '') : decision.kind);

  it('a bound token with a right proof identifies, remembered or not', async () => {
    assert.equal(brief(await ask(await prove())), 'identify');
    assert.equal(brief(await ask(await prove(), {}, bench, 'dpop')), 'identify');
  });

  it('without a proof: 401 with the DPoP challenge', async () => {
    const decision = await ask([]);
    assert.equal(brief(decision), '401 DPOP_PROOF_INVALID');
    assert.equal(challenge(decision), `DPoP algs="${ALGS}", error="invalid_dpop_proof", resource_metadata="${METADATA}"`);
    assert.equal(challenge(await ask([], {}, bench, 'Bearer')), challenge(decision));
  });

  const wrongClaims: readonly (readonly [string, JWTPayload, RegExp])[] = [
    ['htm of another method', { htm: 'GET' }, /htm/],
    ['htm in lower case', { htm: 'post' }, /htm/],
    ['htu of another path', { htu: `${RESOURCE}2` }, /htu/],
    ['htu of another host', { htu: 'https://evil.test/mcp' }, /htu/],
    ['htu with http', { htu: 'http://mcp.example.com/mcp' }, /htu/],
    ['htu with a user', { htu: 'https://a@mcp.example.com/mcp' }, /htu/],
    ['htu of the listener’s own address', { htu: 'http://127.0.0.1:8080/mcp' }, /htu/],
    ['no htu', { htu: undefined } as never, /htu/],
    ['no jti', { jti: undefined } as never, /jti/],
    ['an endless jti', { jti: 'x'.repeat(257) }, /jti/],
    ['ath of another token', { ath: createHash('sha256').update('x').digest('base64url') }, /ath/],
    ['no ath', { ath: undefined }, /ath/],
    ['no iat', { iat: undefined } as never, /iat/],
    ['iat as text', { iat: '1' } as never, /iat/],
  ];
  for (const [name, changes, message] of wrongClaims)
    it(`refuses a proof with ${name}`, async () => {
      const decision = await ask(await prove(changes));
      assert.equal(brief(decision), '401 DPOP_PROOF_INVALID');
      assert.match(why(decision), message);
    });

  it('refuses headers that break RFC 9449 section 4.2', async () => {
    const { use: _use, ...jwk } = key.jwk;
    assert.match(why(await ask(await prove({}, { typ: 'JWT' }))), /typ/);
    assert.match(why(await ask(await prove({}, { typ: undefined }))), /typ/);
    assert.match(why(await ask(await prove({}, { jwk: undefined }))), /jwk/);
    assert.match(why(await ask(await prove({}, { jwk: { ...jwk, d: 'AAAA' } }))), /public key/);
    assert.match(why(await ask(await prove({}, { jwk: { kty: 'oct', k: 'AAAA' } }))), /public key/);
  });

  it('refuses a proof by another key, and one that only claims the right key', async () => {
    const other = await makeKey(undefined);
    assert.match(why(await ask(await prove({}, {}, other))), /another key/);
    const { use: _use, ...jwk } = key.jwk;
    assert.match(why(await ask(await prove({}, { jwk }, other))), /signature/);
  });

  it('refuses two proofs, a listed pair, junk and an over-long one', async () => {
    const proof = await prove();
    assert.match(why(await ask([proof, await prove()])), /once/);
    for (const junk of [`${proof}, ${proof}`, 'x', 'a.b.c', `${proof}=`, `${proof.slice(0, -6)}.`])
      assert.match(why(await ask(junk)), /not one signed JWT/);
    const long = await ask(await prove({ pad: 'x'.repeat(4000) }));
    assert.equal(brief(long), '431 DPOP_PROOF_TOO_LONG');
    assert.deepEqual(long.kind === 'refuse' && long.headers, { 'cache-control': 'no-store' });
  });

  it('query and fragment of htu do not count, and it is normalised', async () => {
    for (const htu of [`${RESOURCE}?a=1`, `${RESOURCE}#x`, 'HTTPS://MCP.example.com:443/mcp', 'https://mcp.example.com/a/../mcp'])
      assert.equal(brief(await ask(await prove({ htu }))), 'identify', htu);
  });

  it('htm follows the method: a proof for POST does not open a GET stream', async () => {
    assert.equal(brief(await ask(await prove({ htm: 'GET' }), { method: 'GET' })), 'identify');
    assert.match(why(await ask(await prove(), { method: 'GET' })), /htm/);
  });

  it('a proof counts once, also under another spelling of the request', async () => {
    const proof = await prove();
    assert.equal(brief(await ask(proof)), 'identify');
    assert.equal(why(await ask(proof)), 'The DPoP proof was used before.');
    assert.equal(why(await ask(proof, { query: 'x=1' })), 'The DPoP proof was used before.');
    const again = await prove({ jti: 'same' });
    assert.equal(brief(await ask(again)), 'identify');
    assert.equal(why(await ask(await prove({ jti: 'same' }))), 'The DPoP proof was used before.');
  });

  it('iat counts for 60 s plus the tolerance, to the second, and not from the future', async () => {
    const now_s = bench.clock.now_ms() / 1000;
    assert.equal(brief(await ask(await prove({ iat: now_s - 89 }))), 'identify');
    assert.match(why(await ask(await prove({ iat: now_s - 90 }))), /too old/);
    assert.equal(brief(await ask(await prove({ iat: now_s + 30 }))), 'identify');
    assert.match(why(await ask(await prove({ iat: now_s + 31 }))), /future/);
  });

  it('a refused proof is not used up', async () => {
    const proof = await prove({ htm: 'GET' });
    assert.match(why(await ask(proof)), /htm/);
    assert.equal(brief(await ask(proof, { method: 'GET' })), 'identify');
  });

  it('a token that is not bound is no DPoP token; a bound one is no Bearer token', async () => {
    const plain = await bench.token();
    const decision = await bench.ask(undefined, { headers: { authorization: `DPoP ${plain}`, dpop: await prove() } });
    assert.equal(
      challenge(decision),
      `DPoP algs="${ALGS}", error="invalid_token", error_description="The token is not bound to a key.", resource_metadata="${METADATA}"`,
    );
    assert.equal(brief(await bench.ask(plain)), 'identify');
  });

  it('off: DPoP is another scheme and a bound token is refused', async () => {
    const off = await openBench(issuer);
    assert.equal(brief(await ask(await prove(), {}, off)), '401 TOKEN_REQUIRED');
    assert.equal(brief(await ask(await prove(), {}, off, 'Bearer')), '401 TOKEN_INVALID');
    await off.close();
  });

  it('require: a Bearer token is asked for its proof, and the first challenge is DPoP', async () => {
    const strict = await openBench(issuer, { dpop: 'require', dpop_algorithms: ['ES256'] });
    assert.equal(challenge(await strict.ask(undefined)), `DPoP algs="ES256", resource_metadata="${METADATA}"`);
    assert.equal(
      challenge(await strict.ask(await strict.token())),
      `DPoP algs="ES256", error="invalid_dpop_proof", resource_metadata="${METADATA}"`,
    );
    assert.equal(brief(await ask(await prove({}, {}, key, strict), {}, strict)), 'identify');
    await strict.close();
  });

  it('a proof algorithm must be listed', async () => {
    const strict = await openBench(issuer, { dpop: 'accept', dpop_algorithms: ['ES384'] });
    assert.match(why(await ask(await prove({}, {}, key, strict), {}, strict)), /algorithm/);
    await strict.close();
  });

  it('a nonce, where it is required, comes with the refusal and lasts five to ten minutes', async () => {
    const strict = await openBench(issuer, { dpop: 'accept', dpop_nonce: 'require' });
    const decision = await ask(await prove({}, {}, key, strict), {}, strict);
    assert.equal(brief(decision), '401 DPOP_NONCE_REQUIRED');
    assert.equal(challenge(decision), `DPoP algs="${ALGS}", error="use_dpop_nonce", resource_metadata="${METADATA}"`);
    const nonce = decision.kind === 'refuse' ? (decision.headers?.['dpop-nonce'] as string) : '';
    const use = async (given: string): Promise<string> => brief(await ask(await prove({ nonce: given }, {}, key, strict), {}, strict));
    assert.equal(await use(nonce), 'identify');
    assert.equal(await use(`${nonce}x`), '401 DPOP_NONCE_REQUIRED');
    strict.clock.advance(300_000);
    assert.equal(await use(nonce), 'identify');
    strict.clock.advance(300_000);
    assert.equal(await use(nonce), '401 DPOP_NONCE_REQUIRED');
    await strict.close();
  });

  it('replicas with one nonce secret take each other’s nonces', () => {
    const secret = 'x'.repeat(32);
    const nonce = createDpopNonces(secret).current(1_000_000);
    assert.ok(createDpopNonces(secret).accepts(nonce, 1_000_000));
    assert.ok(!createDpopNonces('y'.repeat(32)).accepts(nonce, 1_000_000));
    assert.ok(!createDpopNonces(undefined).accepts(nonce, 1_000_000));
    assert.ok(!createDpopNonces(secret).accepts(undefined, 1_000_000));
  });

  it('the replay store is bounded and never forgets a fresh proof to make room: 503', async () => {
    const small = await openBench(issuer, { dpop: 'accept', dpop_replay_entries: 2 });
    const use = async (): Promise<string> => brief(await ask(await prove({}, {}, key, small), {}, small));
    assert.deepEqual([await use(), await use(), await use()], ['identify', 'identify', '503 TOKEN_CHECK_UNAVAILABLE']);
    small.clock.advance(120_000);
    assert.equal(await use(), 'identify');
    await small.close();
  });

  it('the expected URL comes from configuration, with the rest of the path behind a prefix route', () => {
    const runtime = 'main';
    assert.equal(expectedUrl({ path: '/mcp', url: 'https://h/mcp', runtime }, '/mcp'), 'https://h/mcp');
    assert.equal(expectedUrl({ path: '/ui', url: 'https://h/ui', runtime }, '/ui/a'), 'https://h/ui/a');
    assert.equal(expectedUrl({ path: '/', url: 'https://h', runtime }, '/'), 'https://h');
    assert.equal(expectedUrl({ path: '/', url: 'https://h/', runtime }, '/a'), 'https://h/a');
    assert.equal(expectedUrl({ path: '*', url: 'https://h', runtime: '' }, '/x/mcp'), 'https://h/x/mcp');
  });
});
