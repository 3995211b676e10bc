import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { CompactEncrypt, type CryptoKey, exportSPKI, importJWK, type JWK } from 'jose';
import { type FakeIssuer, type FakeKey, makeKey, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, openBench } from './support/open.js';

const b64 = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('oauth-bearer refuses forged and foreign tokens', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  let rsa: FakeKey;
  let ec: FakeKey;
  let stranger: FakeKey;
  before(async () => {
    rsa = await makeKey('r1', 'RS256', { alg: 'RS256' });
    ec = await makeKey('k1');
    stranger = await makeKey('k1');
    issuer = await startIssuer('', [rsa, ec]);
    bench = await openBench(issuer);
    assert.equal(brief(await bench.ask(await issuer.sign(bench.claims(), {}, rsa))), 'identify');
  });
  after(async () => {
    await bench.close();
    await issuer.close();
  });

  const refused = async (token: string, why = /./): Promise<void> => {
    const decision = await bench.ask(token);
    assert.equal(brief(decision), '401 TOKEN_INVALID');
    assert.match(decision.kind === 'refuse' ? (decision.message ?? '') : '', why);
  };

  for (const alg of ['none', 'None', 'NONE', 'nOnE'])
    it(`alg ${alg}`, async () => {
      await refused(`${b64({ alg, typ: 'at+jwt' })}.${b64(bench.claims())}.`);
      await refused(`${b64({ alg, typ: 'at+jwt' })}.${b64(bench.claims())}.AAAA`, /algorithm/);
    });

  it('HS256 with the public key as PEM and as JWK text', async () => {
    const pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256', { extractable: true })) as CryptoKey);
    for (const secret of [pem, JSON.stringify(rsa.jwk), JSON.stringify({ keys: [rsa.jwk] })]) {
      const input = `${b64({ alg: 'HS256', typ: 'at+jwt', kid: 'r1' })}.${b64(bench.claims())}`;
      await refused(`${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`, /algorithm/);
    }
  });

  it('an embedded jwk', async () => {
    await refused(await issuer.sign(bench.claims(), { jwk: stranger.jwk }, stranger));
    await refused(await issuer.sign(bench.claims(), { jwk: ec.jwk }, ec), /header/);
  });

  it('jku and x5u are never fetched', async () => {
    let fetched = 0;
    const watched = createServer((_request, response) => {
      fetched += 1;
      response.end(JSON.stringify({ keys: [stranger.jwk] }));
    });
    await new Promise<void>((resolve) => watched.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(watched.address() as AddressInfo).port}/`;
    for (const header of [{ jku: url }, { x5u: url }]) {
      await refused(await issuer.sign(bench.claims(), header, stranger));
      await refused(await issuer.sign(bench.claims(), header, ec), /header/);
    }
    await new Promise((resolve) => watched.close(resolve));
    assert.equal(fetched, 0);
  });

  it('crit, b64 and zip', async () => {
    const input = `${b64({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', crit: ['x'], x: 1 })}.${b64(bench.claims())}`;
    await refused(`${input}.${'A'.repeat(86)}`, /header/);
    for (const header of [{ zip: 'DEF' }, { b64: true }]) await refused(await issuer.sign(bench.claims(), header, ec), /header/);
  });

  it('the key of RS256 used with PS256, and ES256 named with the RSA key', async () => {
    const pss = await importJWK({ ...(await privateJwk(rsa)), alg: 'PS256' }, 'PS256');
    await refused(await issuer.sign(bench.claims(), { alg: 'PS256' }, { ...rsa, alg: 'PS256', secret: pss as CryptoKey }));
    await refused(await issuer.sign(bench.claims(), { kid: 'r1' }, ec));
  });

  it('an encrypted token', async () => {
    const key = (await importJWK(rsa.jwk, 'RSA-OAEP')) as CryptoKey;
    await refused(
      await new CompactEncrypt(Buffer.from('x')).setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A128GCM' }).encrypt(key),
      /not a JWT/,
    );
  });

  it('an ID token as access token', async () => {
    for (const claim of ['nonce', 'at_hash', 'c_hash']) await refused(await bench.token({ [claim]: 'n' }).then(), /ID token/);
    await refused(await issuer.sign(bench.claims({ nonce: 'n' }), { typ: 'JWT' }, ec), /ID token/);
  });

  it('types: at+jwt and JWT in any case, with or without application/, or none; nothing else', async () => {
    for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'jwt', undefined])
      assert.equal(brief(await bench.ask(await issuer.sign(bench.claims(), { typ } as never, ec))), 'identify', String(typ));
    for (const typ of ['dpop+jwt', 'id_token', 'logout+jwt', 'secevent+jwt', '', 7])
      await refused(await issuer.sign(bench.claims(), { typ } as never, ec), /typ/);
  });

  it('another key with the same kid, a cut signature, a flipped payload', async () => {
    const token = await issuer.sign(bench.claims(), {}, ec);
    const [header = '', , signature = ''] = token.split('.');
    await refused(await issuer.sign(bench.claims(), {}, stranger), /signature/);
    await refused(`${header}.${token.split('.')[1]}.${signature.slice(0, 64)}`, /signature/);
    await refused(`${header}.${b64(bench.claims({ sub: 'root' }))}.${signature}`, /signature/);
  });

  it('second spellings of a good token: whitespace, padding, other last bits, standard base64, more segments', async () => {
    const token = await issuer.sign(bench.claims(), {}, ec);
    const last = token.at(-1) as string;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const twin = alphabet[alphabet.indexOf(last) + 1] as string;
    for (const spelt of [`${token}=`, `${token.slice(0, -1)}${twin}`, `${token}.`, `${token}.x`, `.${token}`, token.replace('.', '..')])
      assert.match(brief(await bench.ask(spelt)), /^401 TOKEN_INVALID$/, spelt.slice(-12));
    for (const spelt of [`${token.slice(0, -2)} ${token.slice(-2)}`, `${token}\n`, `${token.slice(0, -2)}\t${token.slice(-2)}`])
      assert.equal(brief(await bench.ask(spelt)), '400 TOKEN_REQUEST_INVALID');
  });

  it('claims that are there twice, at the top and inside', async () => {
    const text = JSON.stringify(bench.claims());
    for (const twice of [`{"sub":"root",${text.slice(1)}`, `{"\\u0073ub":"root",${text.slice(1)}`, `{"x":{"a":1,"a":2},${text.slice(1)}`])
      await refused(await signText(ec, { alg: 'ES256', typ: 'at+jwt', kid: 'k1' }, twice), /not a JWT/);
    const header = '{"alg":"ES256","alg":"ES256","kid":"k1"}';
    await refused(await signText(ec, header, text), /not a JWT/);
  });

  it('payloads that are no object, no UTF-8, or nested beyond reason', async () => {
    const header = { alg: 'ES256', typ: 'at+jwt', kid: 'k1' };
    for (const text of ['[]', '"x"', '1', 'null', '{', '']) await refused(await signText(ec, header, text), /not a JWT/);
    await refused(await signText(ec, header, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), /not a JWT/);
    const deep = `{"x":${'['.repeat(2000)}${']'.repeat(2000)},${JSON.stringify(bench.claims()).slice(1)}`;
    await refused(await signText(ec, header, deep), /not a JWT/);
  });

  it('a token of 16 384 bytes is read; a longer one is 431 without a challenge, whatever is in it', async () => {
    const pad = async (size: number): Promise<string> => {
      for (let length = 11_000; ; length += 1) {
        const token = await issuer.sign(bench.claims({ pad: 'x'.repeat(length) }), {}, ec);
        if (token.length >= size) return token;
      }
    };
    const exact = await pad(16_380);
    assert.ok(exact.length <= 16_384);
    assert.equal(brief(await bench.ask(exact)), 'identify');
    const options = { remembered_tokens: 0, dpop: 'accept', max_token_bytes: 300 };
    const short = await openBench(issuer, options);
    const must = await openBench(issuer, { ...options, dpop: 'require' });
    const long = await pad(16_385);
    for (const [asked, token] of [
      [bench, long],
      [bench, '-'.repeat(16_385)],
      [bench, 'é'.repeat(16_385)],
      [short, 'x'.repeat(301)],
      [must, 'x'.repeat(301)],
    ] as const) {
      const decision = await asked.ask(token);
      assert.equal(brief(decision), '431 TOKEN_TOO_LONG');
      assert.deepEqual(decision.kind === 'refuse' && decision.headers, { 'cache-control': 'no-store' });
    }
    assert.equal(brief(await short.ask(undefined, { headers: { authorization: `DPoP ${'x'.repeat(301)}` } })), '431 TOKEN_TOO_LONG');
    await short.close();
    await must.close();
  });

  const times: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ['no exp', { exp: undefined }, /no usable exp/],
    ['exp as text', { exp: '9999999999' }, /no usable exp/],
    ['exp null', { exp: null }, /no usable exp/],
    ['negative exp', { exp: -1 }, /no usable exp/],
    ['exp 1e308', { exp: 1e308 }, /too far/],
    ['exp of the year 9999', { exp: 253_402_300_799 }, /too far/],
    ['nbf as text', { nbf: '1' }, /not valid yet/],
    ['iat as text', { iat: '1' }, /future/],
  ];
  for (const [name, changes, why] of times)
    it(`time claims: ${name}`, async () => {
      await refused(await bench.token(changes).then(() => issuer.sign(bench.claims(changes), {}, ec)), why);
    });

  it('exp, nbf and iat to the second, with the tolerance of 30 s', async () => {
    const now = bench.host.clock.now_ms() / 1000;
    const ask = async (changes: Record<string, unknown>): Promise<string> =>
      brief(await bench.ask(await issuer.sign(bench.claims(changes), {}, ec)));
    assert.equal(await ask({ exp: now - 29 }), 'identify');
    assert.equal(await ask({ exp: now - 30 }), '401 TOKEN_INVALID');
    assert.equal(await ask({ nbf: now + 30 }), 'identify');
    assert.equal(await ask({ nbf: now + 31 }), '401 TOKEN_INVALID');
    assert.equal(await ask({ iat: now + 30 }), 'identify');
    assert.equal(await ask({ iat: now + 31 }), '401 TOKEN_INVALID');
    assert.equal(await ask({ iat: undefined }), 'identify');
  });

  it('max_token_age_s refuses old tokens and those without iat', async () => {
    const strict = await openBench(issuer, { max_token_age_s: 600 });
    const now = strict.host.clock.now_ms() / 1000;
    const ask = async (changes: Record<string, unknown>): Promise<string> =>
      brief(await strict.ask(await issuer.sign(strict.claims(changes), {}, ec)));
    assert.equal(await ask({ iat: now - 629 }), 'identify');
    assert.equal(await ask({ iat: now - 630 }), '401 TOKEN_INVALID');
    assert.equal(await ask({ iat: undefined }), '401 TOKEN_INVALID');
    await strict.close();
  });

  it('no usable principal: missing, empty, a number, control characters, half a character, too long', async () => {
    for (const sub of [undefined, '', 7, 'a\nb', '\ud800', 'a\udc00b', 'x'.repeat(1025)])
      await refused(await issuer.sign(bench.claims({ sub }), {}, ec), /principal/);
  });

  it('a kid that is a path, a list or a prototype name is only a name that is unknown', async () => {
    for (const kid of ['../../etc/passwd', '/dev/null', "k1' OR 1=1", '__proto__', 'constructor', 'k1\u0000'])
      await refused(await issuer.sign(bench.claims(), { kid }, ec), /unknown/);
    await refused(await issuer.sign(bench.claims(), { kid: ['k1'] } as never, ec), /kid/);
  });

  it('a claim named __proto__ changes nothing', async () => {
    const text = `{"__proto__":{"aud":"x","sub":"root"},${JSON.stringify(bench.claims({ sub: undefined })).slice(1)}`;
    await refused(await signText(ec, { alg: 'ES256', typ: 'at+jwt', kid: 'k1' }, text), /principal/);
  });
});

async function privateJwk(key: FakeKey): Promise<JWK> {
  return (await crypto.subtle.exportKey('jwk', key.secret)) as JWK;
}

/** ES256 over exactly these texts. */
async function signText(key: FakeKey, header: unknown, payload: string | Buffer): Promise<string> {
  const input = `${b64(header)}.${Buffer.from(payload).toString('base64url')}`;
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.secret, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}
