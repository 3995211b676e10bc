import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { GateDecision } from 'portcullis/gate';
import { type Answer, type FakeIssuer, json, makeKey, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, openBench } from './support/open.js';
import { settle } from './support/settle.js';

const raw =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': type, ...headers }).end(body);

/** Never answers. */
const hang: Answer = () => {};
/** Sends a head and half a body. */
const stall: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"keys":[');
const cut: Answer = (_request, response) => void response.destroy();

describe('oauth-bearer key outages', () => {
  let issuer: FakeIssuer;
  let good: Answer;
  const benches: Bench[] = [];
  before(async () => {
    issuer = await startIssuer();
    good = issuer.answers.get('/jwks') as Answer;
  });
  afterEach(async () => {
    for (const bench of benches.splice(0)) {
      await bench.close();
      assert.equal(bench.clock.pending, 0, 'no timer is left behind');
    }
    issuer.answers.set('/jwks', good);
    issuer.asked.length = 0;
  });
  after(() => issuer.close());

  const open = async (options: Record<string, unknown> = {}): Promise<Bench> => {
    const bench = await openBench(issuer, { jwks_uri: issuer.jwks_uri, ...options });
    benches.push(bench);
    return bench;
  };
  const fetches = (bench: Bench, outcome: string): number => bench.host.metrics.value('jwks_fetches_total', { issuer: 'token', outcome });
  const keyRequests = (): number => issuer.asked.filter((path) => path === '/jwks').length;
  const retryAfter = (decision: GateDecision): number =>
    decision.kind === 'refuse' ? Number(decision.headers?.['retry-after']) : Number.NaN;

  const broken: readonly (readonly [name: string, answer: Answer, outcome: string])[] = [
    ['500', raw(500, 'application/json', '{"keys":[]}'), 'status'],
    ['404', raw(404, 'application/json', '{}'), 'status'],
    ['a redirect', raw(302, 'application/json', '', { location: '/elsewhere' }), 'status'],
    ['HTML', raw(200, 'text/html', '<html>'), 'media_type'],
    ['no keys', raw(200, '', '{"keys":[]}'), 'no_keys'],
    ['a compressed answer', raw(200, 'application/json', 'x', { 'content-encoding': 'gzip' }), 'media_type'],
    ['an empty body', raw(200, 'application/json', ''), 'malformed'],
    ['no JSON', raw(200, 'application/json', '{"keys":['), 'malformed'],
    ['no set', raw(200, 'application/json', '{"keys":{}}'), 'malformed'],
    ['no keys', raw(200, 'application/json', '{"keys":[]}'), 'no_keys'],
    ['symmetric keys only', raw(200, 'application/json', '{"keys":[{"kty":"oct","k":"AAAA","kid":"k1"}]}'), 'no_keys'],
    ['101 keys', json(() => ({ keys: Array.from({ length: 101 }, () => issuer.keys[0]?.jwk) })), 'too_many_keys'],
    ['a declared length over 1 MiB', raw(200, 'application/json', ' '.repeat(1_048_577)), 'too_large'],
    [
      '2 MiB without a length',
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(2_097_152, 32)),
      'too_large',
    ],
    ['a cut connection', cut, 'unreachable'],
  ];
  for (const [name, answer, outcome] of broken)
    it(`a cold start with ${name}: 503 with Retry-After, no challenge, and healthy again after the back-off`, async () => {
      issuer.answers.set('/jwks', answer);
      const bench = await open();
      const token = await bench.token();
      const decision = await bench.ask(token);
      assert.equal(brief(decision), '503 TOKEN_CHECK_UNAVAILABLE');
      assert.equal(decision.kind === 'refuse' && decision.headers?.['www-authenticate'], undefined);
      assert.ok([1, 2, 3, 4, 5].includes(retryAfter(decision)));
      assert.equal(fetches(bench, outcome), 1);
      issuer.answers.set('/jwks', good);
      bench.clock.step();
      await settle('the second load', () => fetches(bench, 'ok') === 1);
      assert.equal(brief(await bench.ask(token)), 'identify');
      assert.ok(!issuer.asked.includes('/elsewhere'));
    });

  for (const [name, answer] of [
    ['hangs', hang],
    ['stalls in the body', stall],
  ] as const)
    it(`a server that ${name} is given up after 5 s, and nobody waits for the next attempts`, async () => {
      issuer.answers.set('/jwks', answer);
      const bench = await open();
      const token = await bench.token();
      const waiting = bench.ask(token);
      await settle('the request', () => keyRequests() === 1);
      bench.clock.advance(4999);
      assert.equal(bench.clock.next_in_ms, 1, 'it is still waited for');
      assert.equal(fetches(bench, 'timeout'), 0);
      bench.clock.advance(1);
      assert.equal(brief(await waiting), '503 TOKEN_CHECK_UNAVAILABLE');
      assert.equal(fetches(bench, 'timeout'), 1);
      bench.clock.step();
      await settle('the second request', () => keyRequests() === 2);
      assert.equal(brief(await bench.ask(token)), '503 TOKEN_CHECK_UNAVAILABLE');
    });

  it('expired and foreign tokens are 401 even without keys', async () => {
    issuer.answers.set('/jwks', cut);
    const bench = await open();
    assert.equal(brief(await bench.ask(await bench.token({ exp: 1 }))), '401 TOKEN_INVALID');
    assert.equal(brief(await bench.ask(await bench.token({ iss: 'https://evil.test' }))), '401 TOKEN_INVALID');
  });

  it('failures back off from 1 s to 30 s, with jitter', async () => {
    issuer.answers.set('/jwks', raw(500, 'application/json', ''));
    const bench = await open();
    for (const [index, most_ms] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      await settle('the attempt', () => fetches(bench, 'status') === index + 1);
      const next_ms = bench.clock.next_in_ms;
      assert.ok(next_ms >= most_ms / 2 && next_ms <= most_ms, `${next_ms} ms of at most ${most_ms}`);
      const more = retryAfter(await bench.ask(await bench.token())) - Math.max(1, Math.ceil(next_ms / 1000));
      assert.ok([0, 1, 2, 3, 4].includes(more), String(more));
      assert.equal(keyRequests(), index + 1);
      bench.clock.step();
    }
  });

  it('an outage is told when it begins and changes, then every five minutes, and when it is over', async () => {
    issuer.answers.set('/jwks', raw(500, 'application/json', ''));
    const bench = await open();
    const lines = () => bench.host.log.lines.filter(({ message }) => message.includes('keys'));
    let attempts = 0;
    const attempt = async (outcome: string): Promise<void> => {
      const before = fetches(bench, outcome);
      bench.clock.step();
      await settle('an attempt', () => fetches(bench, outcome) > before);
    };
    await settle('the first attempt', () => fetches(bench, 'status') === 1);
    const begun = bench.clock.now_ms();
    for (; bench.clock.now_ms() - begun + bench.clock.next_in_ms < 300_000; attempts++) await attempt('status');
    assert.ok(attempts >= 10);
    assert.deepEqual(
      lines().map(({ level, fields }) => [level, fields.failures]),
      [['error', 1]],
    );
    await attempt('status');
    assert.deepEqual([lines().length, lines()[1]?.fields.left_out, lines()[1]?.fields.failures], [2, attempts, attempts + 2]);
    issuer.answers.set('/jwks', raw(200, 'text/html', ''));
    await attempt('media_type');
    assert.deepEqual([lines().length, lines()[2]?.fields.reason], [3, 'media_type']);
    issuer.answers.set('/jwks', good);
    await attempt('ok');
    assert.deepEqual([lines().length, lines()[3]?.level, lines()[3]?.fields.failures], [4, 'info', attempts + 3]);
  });

  it('keys serve through an outage until an hour after they were due, then 503', async () => {
    const bench = await open({ remembered_tokens: 0 });
    const token = await bench.token({ exp: bench.clock.now_ms() / 1000 + 36_000 });
    assert.equal(brief(await bench.ask(token)), 'identify');
    issuer.answers.set('/jwks', raw(500, 'application/json', ''));
    const last_ms = 3_900_000;
    for (let failed = 1; bench.clock.mono_ms() + bench.clock.next_in_ms < last_ms; failed += 1) {
      bench.clock.step();
      await settle('the failure', () => fetches(bench, 'status') === failed);
      if (failed % 40 === 1) assert.equal(brief(await bench.ask(token)), 'identify');
    }
    bench.clock.advance(last_ms - bench.clock.mono_ms());
    assert.equal(bench.host.metrics.value('jwks_age_seconds', { issuer: 'token' }), 3900);
    assert.equal(brief(await bench.ask(token)), 'identify');
    bench.clock.advance(1);
    assert.equal(brief(await bench.ask(token)), '503 TOKEN_CHECK_UNAVAILABLE');
    issuer.answers.set('/jwks', good);
    bench.clock.step();
    await settle('the recovery', () => fetches(bench, 'ok') === 2);
    assert.equal(brief(await bench.ask(token)), 'identify');
  });

  it('a remembered token outlives the keys', async () => {
    const bench = await open({ jwks_stale_s: 0 });
    const token = await bench.token({ exp: bench.clock.now_ms() / 1000 + 3600 });
    assert.equal(brief(await bench.ask(token)), 'identify');
    issuer.answers.set('/jwks', cut);
    bench.clock.advance(600_000);
    assert.equal(brief(await bench.ask(token)), 'identify');
    assert.equal(brief(await bench.ask(await bench.token({ jti: 'new' }))), '503 TOKEN_CHECK_UNAVAILABLE');
  });

  it('concurrent requests at a cold start cause one load', async () => {
    const bench = await open();
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => bench.token({ sub: `user${i}` })));
    const decisions = await Promise.all(tokens.map((token) => bench.ask(token)));
    assert.deepEqual(new Set(decisions.map(brief)), new Set(['identify']));
    assert.equal(keyRequests(), 1);
  });

  it('keys are loaded again in the background before anybody asks', async () => {
    const bench = await open();
    await bench.ask(await bench.token());
    assert.ok(bench.clock.next_in_ms >= 270_000 && bench.clock.next_in_ms <= 300_000);
    bench.clock.step();
    await settle('the refresh', () => fetches(bench, 'ok') === 2);
    assert.equal(bench.host.metrics.value('jwks_age_seconds', { issuer: 'token' }), 0);
    assert.equal(bench.host.metrics.value('jwks_keys', { issuer: 'token' }), 1);
  });

  it('two gates of one host and issuer share one cache', async () => {
    const bench = await open();
    const second = await openBench(issuer, { jwks_uri: issuer.jwks_uri }, bench.host);
    assert.equal(brief(await second.ask(await bench.token())), 'identify');
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    assert.equal(keyRequests(), 1);
  });
});

describe('oauth-bearer key rotation', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  before(async () => {
    issuer = await startIssuer();
    bench = await openBench(issuer);
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
  });
  after(async () => {
    await bench.close();
    await issuer.close();
  });
  const keyRequests = (): number => issuer.asked.filter((path) => path === '/jwks').length;

  it('the first rotation after a cold start is followed at once', async () => {
    const next = await makeKey('k2');
    issuer.keys = [next, ...issuer.keys];
    bench.clock.advance(1);
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    assert.equal(keyRequests(), 2);
  });

  it('random kids cost one load a minute, whatever their number, and are answered 401', async () => {
    const asked = issuer.asked.length;
    const stranger = await makeKey('x');
    for (let minute = 0; minute < 3; minute += 1) {
      bench.clock.advance(60_000);
      const tokens = await Promise.all(
        Array.from({ length: 40 }, (_, i) => issuer.sign(bench.claims(), { kid: `random-${minute}-${i}` }, stranger)),
      );
      const decisions = await Promise.all(tokens.map((token) => bench.ask(token)));
      assert.deepEqual(new Set(decisions.map(brief)), new Set(['401 TOKEN_INVALID']));
    }
    assert.equal(issuer.asked.length - asked, 3);
    assert.deepEqual(new Set(issuer.asked.slice(asked)), new Set(['/jwks']));
  });

  it('a second rotation within the minute is followed when the minute is over', async () => {
    bench.clock.advance(59_000);
    const next = await makeKey('k3');
    issuer.keys = [next, ...issuer.keys];
    const token = await bench.token();
    assert.equal(brief(await bench.ask(token)), '401 TOKEN_INVALID');
    bench.clock.advance(1000);
    assert.equal(brief(await bench.ask(token)), 'identify');
  });

  it('what a withdrawn key has signed is no longer remembered', async () => {
    const [k3, ...older] = issuer.keys;
    assert.ok(k3 !== undefined && older.length === 2);
    const withdrawn = await issuer.sign(bench.claims(), {}, older[0]);
    const kept = await issuer.sign(bench.claims(), {}, k3);
    assert.equal(brief(await bench.ask(withdrawn)), 'identify');
    assert.equal(brief(await bench.ask(kept)), 'identify');
    issuer.keys = [k3];
    bench.clock.step();
    await settle('the refresh', () => bench.host.metrics.value('jwks_keys', { issuer: 'token' }) === 1);
    assert.equal(brief(await bench.ask(withdrawn)), '401 TOKEN_INVALID');
    assert.equal(brief(await bench.ask(kept)), 'identify');
  });

  it('an unknown key while the server is down is 503: the token may be good', async () => {
    issuer.answers.set('/jwks', cut);
    bench.clock.advance(60_000);
    const next = await makeKey('k4');
    issuer.keys = [next, ...issuer.keys];
    assert.equal(brief(await bench.ask(await bench.token())), '503 TOKEN_CHECK_UNAVAILABLE');
    assert.equal(brief(await bench.ask(await issuer.sign(bench.claims({ jti: 'k' }), {}, issuer.keys[1]))), 'identify');
  });

  it('keys without kid: each that fits is tried, and a rotation is followed', async () => {
    const [a, b, c] = [await makeKey(undefined), await makeKey(undefined), await makeKey(undefined)];
    const plain = await startIssuer('', [a, b]);
    const own = await openBench(plain);
    assert.equal(brief(await own.ask(await plain.sign(own.claims(), {}, a))), 'identify');
    assert.equal(brief(await own.ask(await plain.sign(own.claims(), {}, b))), 'identify');
    assert.equal(brief(await own.ask(await plain.sign(own.claims(), {}, c))), '401 TOKEN_INVALID');
    plain.keys = [c];
    own.clock.advance(60_000);
    assert.equal(brief(await own.ask(await plain.sign(own.claims({ jti: '2' }), {}, c))), 'identify');
    await own.close();
    await plain.close();
  });
});
