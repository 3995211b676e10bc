import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { GateDecision } from 'portcullis/gate';
import { type FakeIssuer, json, makeKey, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, openBench, RESOURCE } from './support/open.js';
import { settle } from './support/settle.js';

describe('oauth-bearer introspection', () => {
  let issuer: FakeIssuer;
  const benches: Bench[] = [];
  /** What the endpoint was sent, and what it answers. */
  const sent: { authorization: string | undefined; accept: string | undefined; form: Record<string, string> }[] = [];
  let answer: Record<string, unknown> = {};
  before(async () => {
    issuer = await startIssuer();
  });
  afterEach(async () => {
    for (const bench of benches.splice(0)) await bench.close();
    sent.length = 0;
  });
  after(() => issuer.close());

  async function open(introspection: Record<string, unknown> = {}, options: Record<string, unknown> = {}): Promise<Bench> {
    issuer.answers.set('/introspect', (request, response, body) => {
      const { authorization, accept } = request.headers;
      sent.push({ authorization, accept, form: Object.fromEntries(new URLSearchParams(body)) });
      json(() => answer)(request, response, body);
    });
    const url = issuer.jwks_uri.replace('/jwks', '/introspect');
    const config = { url, client_id: 'gate way', client_secret: 's:e+c%', ...introspection };
    const bench = await openBench(issuer, { introspection: config, ...options });
    benches.push(bench);
    answer = {
      active: true,
      scope: 'a b',
      client_id: 'app',
      sub: 'alice',
      aud: RESOURCE,
      iss: issuer.url,
      exp: bench.clock.now_ms() / 1000 + 600,
    };
    return bench;
  }
  const why = (decision: GateDecision): string => (decision.kind === 'refuse' ? (decision.message ?? '') : decision.kind);
  const counted = (bench: Bench, outcome: string): number => bench.host.metrics.value('introspections_total', { gate: 'token', outcome });

  it('identifies the caller of an active opaque token; asks by POST with Basic credentials', async () => {
    const bench = await open();
    const decision = await bench.ask('opaque-1');
    assert.equal(decision.kind === 'identify' && decision.identity.principal, 'alice');
    assert.deepEqual(decision.kind === 'identify' && [...decision.identity.scopes], ['a', 'b']);
    assert.equal(decision.kind === 'identify' && decision.identity.expires_at_ms, bench.clock.now_ms() + 600_000);
    assert.deepEqual(sent, [
      {
        authorization: `Basic ${Buffer.from('gate+way:s%3Ae%2Bc%25').toString('base64')}`,
        accept: 'application/json',
        form: { token: 'opaque-1', token_type_hint: 'access_token' },
      },
    ]);
  });

  it('an active answer is used for cache_s, then asked for again: a revoked token ends there', async () => {
    const bench = await open({ cache_s: 20 });
    assert.equal(brief(await bench.ask('opaque')), 'identify');
    answer = { active: false };
    bench.clock.advance(19_999);
    assert.equal(brief(await bench.ask('opaque')), 'identify');
    assert.equal(sent.length, 1);
    bench.clock.advance(1);
    assert.equal(why(await bench.ask('opaque')), 'The token is not active.');
    assert.equal(sent.length, 2);
  });

  it('an active answer is never used past the expiry of the token', async () => {
    const bench = await open({ cache_s: 3600 });
    answer = { ...answer, exp: bench.clock.now_ms() / 1000 + 5 };
    assert.equal(brief(await bench.ask('opaque')), 'identify');
    bench.clock.advance(5000);
    await bench.ask('opaque');
    assert.equal(sent.length, 2);
  });

  it('cache_s 0 asks each time', async () => {
    const bench = await open({ cache_s: 0 });
    await bench.ask('opaque');
    assert.equal(brief(await bench.ask('opaque')), 'identify');
    assert.equal(sent.length, 2);
  });

  it('an inactive answer is used for negative_cache_s', async () => {
    const bench = await open({ negative_cache_s: 7 });
    answer = { active: false };
    assert.equal(brief(await bench.ask('opaque')), '401 TOKEN_INVALID');
    answer = { active: true };
    bench.clock.advance(6999);
    assert.equal(brief(await bench.ask('opaque')), '401 TOKEN_INVALID');
    assert.equal(sent.length, 1);
    bench.clock.advance(1);
    await bench.ask('opaque');
    assert.equal(sent.length, 2);
    assert.equal(counted(bench, 'inactive'), 1);
    assert.equal(counted(bench, 'active'), 1);
  });

  it('requests that bring one token at the same time ask once', async () => {
    const bench = await open();
    const decisions = await Promise.all(Array.from({ length: 20 }, () => bench.ask('opaque')));
    assert.deepEqual(new Set(decisions.map(brief)), new Set(['identify']));
    assert.equal(sent.length, 1);
  });

  const changes: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['for another audience', { aud: 'https://other.example' }, 'The token is meant for another audience.'],
    ['without an audience', { aud: undefined }, 'The token is meant for another audience.'],
    ['of another issuer', { iss: 'https://evil.test' }, 'The token is from another issuer.'],
    ['that has expired', { exp: 1 }, 'The token has expired.'],
    ['with a senseless exp', { exp: 'soon' }, 'The token has no usable exp.'],
    ['without a principal', { sub: undefined }, 'The token names no usable principal.'],
    ['bound in an unknown way', { cnf: { jwk: {} } }, 'The token is bound in a way that cannot be checked here.'],
    [
      'bound to a certificate that is not shown',
      { cnf: { 'x5t#S256': 'A'.repeat(43) } },
      'The token is not bound to the certificate of this caller.',
    ],
  ];
  for (const [name, change, expected] of changes)
    it(`an active answer ${name} is 401`, async () => {
      const bench = await open();
      answer = { ...answer, ...change };
      const decision = await bench.ask('opaque');
      assert.equal(brief(decision), '401 TOKEN_INVALID');
      assert.equal(why(decision), expected);
    });

  it('what RFC 7662 leaves out may be missing: iss, exp, and aud if the option says so', async () => {
    const bench = await open({ require_audience: false });
    answer = { active: true, sub: 'alice' };
    const decision = await bench.ask('opaque');
    assert.equal(decision.kind === 'identify' && decision.identity.issuer, issuer.url);
    assert.equal(decision.kind === 'identify' && decision.identity.expires_at_ms, undefined);
    answer = { active: true, sub: 'alice', aud: 'https://other.example' };
    assert.equal(brief(await bench.ask('opaque-2')), '401 TOKEN_INVALID');
  });

  const failures: readonly (readonly [string, Parameters<FakeIssuer['answers']['set']>[1], string])[] = [
    ['500', json(() => ({}), 'application/json', 500), 'status'],
    ['401 for our own credential', json(() => ({}), 'application/json', 401), 'status'],
    ['HTML', json(() => ({ active: true }), 'text/html'), 'media_type'],
    ['no JSON object', json(() => 'x'), 'malformed'],
    ['active as text', json(() => ({ active: 'true' })), 'malformed'],
    [
      'active twice',
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"active":false,"active":true}'),
      'malformed',
    ],
    ['a cut connection', (_request, response) => void response.destroy(), 'unreachable'],
  ];
  for (const [name, broken, outcome] of failures)
    it(`an endpoint with ${name}: 503 with Retry-After, no challenge, nothing remembered`, async () => {
      const bench = await open();
      const works = issuer.answers.get('/introspect');
      issuer.answers.set('/introspect', broken);
      const decision = await bench.ask('opaque');
      assert.equal(brief(decision), '503 TOKEN_CHECK_UNAVAILABLE');
      assert.ok(decision.kind === 'refuse');
      const { 'retry-after': after, ...headers } = decision.headers ?? {};
      assert.match(String(after), /^[1-5]$/);
      assert.deepEqual(headers, { 'cache-control': 'no-store' });
      assert.equal(counted(bench, outcome), 1);
      issuer.answers.set('/introspect', works as never);
      assert.equal(brief(await bench.ask('opaque')), 'identify');
      assert.deepEqual(
        bench.host.log.lines.filter((line) => line.message.startsWith('introspection')).map((line) => line.level),
        ['error', 'info'],
      );
      assert.ok(!JSON.stringify(bench.host.log.lines).includes('opaque'));
    });

  it('a kept connection that turns out closed costs nothing: the question is sent once more', async () => {
    const bench = await open();
    assert.equal(brief(await bench.ask('opaque-1')), 'identify');
    const works = issuer.answers.get('/introspect') as Parameters<FakeIssuer['answers']['set']>[1];
    let cut = 0;
    issuer.answers.set('/introspect', (request, response, body) => {
      cut += 1;
      if (cut === 1) response.destroy();
      else works(request, response, body);
    });
    assert.equal(brief(await bench.ask('opaque-2')), 'identify');
    assert.equal(cut, 2);
  });

  it('an endpoint that hangs is given up after 5 s', async () => {
    const bench = await open();
    let asked = false;
    issuer.answers.set('/introspect', () => void (asked = true));
    const waiting = bench.ask('opaque');
    await settle('the question', () => asked);
    bench.clock.advance(5000);
    assert.equal(brief(await waiting), '503 TOKEN_CHECK_UNAVAILABLE');
    assert.equal(counted(bench, 'timeout'), 1);
  });

  it('at most 256 questions are open; more are 503 at once', async () => {
    const bench = await open();
    let asked = 0;
    issuer.answers.set('/introspect', () => void (asked += 1));
    const waiting = Array.from({ length: 256 }, (_, i) => bench.ask(`opaque-${i}`));
    await settle('the first questions', () => asked === 16);
    assert.equal(brief(await bench.ask('one-more')), '503 TOKEN_CHECK_UNAVAILABLE');
    bench.clock.advance(5000);
    assert.deepEqual(new Set((await Promise.all(waiting)).map(brief)), new Set(['503 TOKEN_CHECK_UNAVAILABLE']));
  });

  it('JWTs are verified here and not asked for', async () => {
    const bench = await open();
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    assert.equal(brief(await bench.ask(await bench.token({ aud: 'x' }))), '401 TOKEN_INVALID');
    assert.equal(sent.length, 0);
  });

  it('tokens: all asks for JWTs too, once they are verified, and refuses a revoked one', async () => {
    const bench = await open({ tokens: 'all', cache_s: 10 });
    answer = { active: true };
    const token = await bench.token({ scope: 'from-jwt' });
    const decision = await bench.ask(token);
    assert.deepEqual(decision.kind === 'identify' && [...decision.identity.scopes], ['from-jwt']);
    answer = { active: false };
    assert.equal(brief(await bench.ask(token)), 'identify');
    bench.clock.advance(10_000);
    assert.equal(why(await bench.ask(token)), 'The token is not active.');
    assert.equal(sent.length, 2);
    assert.equal(brief(await bench.ask(await bench.token({ aud: 'x' }))), '401 TOKEN_INVALID');
    assert.equal(sent.length, 2);
  });

  describe('signed answers (RFC 9701)', () => {
    const signed = (claims: Record<string, unknown>, header: Record<string, unknown> = {}, key = issuer.keys[0], before = ''): void => {
      issuer.answers.set('/introspect', (_request, response) => {
        void issuer.sign(claims, { typ: 'token-introspection+jwt', ...header }, key).then((jwt) => {
          response.writeHead(200, { 'content-type': 'application/token-introspection+jwt' }).end(before + jwt);
        });
      });
    };
    const claims = (bench: Bench): Record<string, unknown> => ({
      iss: issuer.url,
      aud: 'gate way',
      iat: bench.clock.now_ms() / 1000,
      token_introspection: answer,
    });

    it('are verified', async () => {
      const bench = await open({ answer: 'jwt' });
      signed(claims(bench));
      assert.equal(brief(await bench.ask('opaque')), 'identify');
    });

    it('may begin with a byte order mark', async () => {
      const bench = await open({ answer: 'jwt' });
      signed(claims(bench), {}, issuer.keys[0], '\ufeff');
      assert.equal(brief(await bench.ask('opaque')), 'identify');
    });

    const wrong: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
      ['of another type', {}, { typ: 'at+jwt' }],
      ['by an unknown key', {}, { kid: 'unknown' }],
      ['of another issuer', { iss: 'https://evil.test' }, {}],
      ['for another client', { aud: 'someone' }, {}],
      ['without a time', { iat: undefined }, {}],
      ['without an answer', { token_introspection: undefined }, {}],
    ];
    for (const [name, change, header] of wrong)
      it(`${name} are not believed: 503`, async () => {
        const bench = await open({ answer: 'jwt' });
        signed({ ...claims(bench), ...change }, header);
        assert.equal(brief(await bench.ask('opaque')), '503 TOKEN_CHECK_UNAVAILABLE');
        assert.equal(counted(bench, 'malformed'), 1);
      });

    it('by a stranger with the right kid are not believed, and a plain answer is not taken', async () => {
      const bench = await open({ answer: 'jwt' });
      signed(claims(bench), {}, await makeKey('k1'));
      assert.equal(brief(await bench.ask('opaque')), '503 TOKEN_CHECK_UNAVAILABLE');
      issuer.answers.set(
        '/introspect',
        json(() => answer),
      );
      assert.equal(brief(await bench.ask('opaque')), '503 TOKEN_CHECK_UNAVAILABLE');
      assert.equal(counted(bench, 'media_type'), 1);
    });
  });
});
