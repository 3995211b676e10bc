import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { SourceFailure } from '../../../gates/oauth-bearer/endpoint.js';
import { parseKeySet } from '../../../gates/oauth-bearer/key-set.js';
import { json, makeKey, startIssuer } from './support/fake-issuer.js';
import { brief, openBench } from './support/open.js';
import { settle } from './support/settle.js';

const rsa = (bits: number): object => generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const good = ec.publicKey.export({ format: 'jwk' });
const okp = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });

/** What the set says beside a good key, and why it is skipped. */
const UNUSABLE: readonly (readonly [string, unknown, string])[] = [
  ['nothing', null, 'it is not an object'],
  ['text', 'key', 'it is not an object'],
  ['no kty', { kid: 'bad' }, 'its kty is unknown'],
  ['an unknown kty', { kty: 'LATTICE', kid: 'bad', pub: 'AA' }, 'its kty is unknown'],
  ['a symmetric key', { kty: 'oct', kid: 'bad', k: 'c2VjcmV0' }, 'it is symmetric'],
  ['a private key', { ...ec.privateKey.export({ format: 'jwk' }), kid: 'bad' }, 'it is private, and published: replace it at the issuer'],
  ['use enc', { ...rsa(2048), kid: 'bad', use: 'enc' }, 'it is for encryption'],
  ['an encryption alg', { ...rsa(2048), kid: 'bad', alg: 'RSA-OAEP' }, 'it is for encryption'],
  ['another use', { ...good, kid: 'bad', use: 'tls' }, 'its use is not sig'],
  ['an RSA key of 1 024 bits', { ...rsa(1024), kid: 'bad' }, 'it has 1024 bits; at least 2048 are needed'],
  ['an RSA key without e', { ...rsa(2048), e: undefined, kid: 'bad' }, 'it cannot be imported'],
  ['an RSA key whose n is no text', { ...rsa(2048), n: 7, kid: 'bad' }, 'it has 0 bits; at least 2048 are needed'],
  ['secp256k1', { ...good, crv: 'secp256k1', kid: 'bad' }, 'its crv is not supported'],
  ['X25519', { ...okp, crv: 'X25519', kid: 'bad' }, 'its crv is not supported'],
  ['no crv', { ...good, crv: undefined, kid: 'bad' }, 'its crv is not supported'],
  ['a point of another curve', { ...good, crv: 'P-384', kid: 'bad' }, 'it cannot be imported'],
  ['a point beside the curve', { ...good, y: good.x, kid: 'bad' }, 'it cannot be imported'],
  ['a short Ed25519 key', { ...okp, x: 'AAAA', kid: 'bad' }, 'it cannot be imported'],
  ['an alg of another kind', { ...good, alg: 'RS256', kid: 'bad' }, 'its alg, key_ops or ext do not allow verification'],
  ['an unknown alg', { ...good, alg: 'XX99', kid: 'bad' }, 'its alg is not supported'],
  ['a symmetric alg', { ...good, alg: 'HS256', kid: 'bad' }, 'its alg is not supported'],
  ['key_ops that only sign', { ...good, key_ops: ['sign'], kid: 'bad' }, 'its alg, key_ops or ext do not allow verification'],
];

const read = (keys: readonly unknown[]): ReturnType<typeof parseKeySet> => parseKeySet(Buffer.from(JSON.stringify({ keys })));

describe('a JWK Set with a key that is of no use', () => {
  for (const [name, key, why] of UNUSABLE)
    it(`${name}: it alone is skipped, before and behind a good one`, async () => {
      for (const keys of [
        [key, { ...good, kid: 'k1' }],
        [{ ...good, kid: 'k1' }, key],
      ]) {
        const set = await read(keys);
        assert.equal(set.size, 1);
        const named = typeof key === 'object' && key !== null ? '"bad"' : `key ${keys.indexOf(key) + 1} of the set`;
        assert.deepEqual(set.skipped, [{ key: named, why, faulty: why !== 'it is for encryption' }]);
      }
      await assert.rejects(read([key]), (error: SourceFailure) => error.reason === 'no_keys' && error.message.includes(why));
    });

  it('keys of every supported kind are used', async () => {
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
    const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey.export({ format: 'jwk' });
    const keys = [
      good,
      p384,
      p521,
      okp,
      { ...okp, alg: 'EdDSA' },
      rsa(2048),
      { ...rsa(2048), alg: 'PS512', key_ops: ['verify'], ext: true },
    ];
    const set = await read(keys);
    assert.deepEqual([set.size, set.skipped], [keys.length, []]);
  });

  it('skipped keys count toward the 100 of a set', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ kty: 'oct', kid: `k${i}` }));
    await assert.rejects(read([...many, good]), (error: SourceFailure) => error.reason === 'too_many_keys');
    assert.equal((await read([...many.slice(1), good])).size, 1);
  });

  it('its tokens are decided by the good keys, with a kid of their own, a shared kid and none', async () => {
    for (const kid of ['k1', 'bad', undefined]) {
      const issuer = await startIssuer('', [await makeKey(kid)]);
      const bad = UNUSABLE.map(([, key]) => key);
      issuer.answers.set(
        '/jwks',
        json(() => ({ keys: [...bad, ...issuer.keys.map(({ jwk }) => jwk), ...bad] })),
      );
      const bench = await openBench(issuer);
      assert.equal(brief(await bench.ask(await bench.token())), 'identify', String(kid));
      assert.equal(brief(await bench.ask(await issuer.sign(bench.claims(), {}, await makeKey(kid)))), '401 TOKEN_INVALID');
      await bench.close();
      await issuer.close();
    }
  });

  it('one log line names the kid and the reason; the next comes when the set changes, a minute later at the earliest', async () => {
    const issuer = await startIssuer();
    let bad: readonly unknown[] = [{ ...rsa(1024), kid: 'short-1' }];
    issuer.answers.set(
      '/jwks',
      json(() => ({ keys: [...bad, ...issuer.keys.map(({ jwk }) => jwk)] })),
    );
    const bench = await openBench(issuer);
    const loads = (): number => bench.host.metrics.value('jwks_fetches_total', { issuer: 'token', outcome: 'ok' });
    const lines = () => bench.host.log.lines.filter(({ message }) => message.includes('skipped'));
    const load = async (count: number): Promise<void> => {
      bench.clock.step();
      await settle('a load', () => loads() === count);
    };
    await settle('the first load', () => loads() === 1);
    const told = { issuer: issuer.url, skipped: 1, keys: ['"short-1": it has 1024 bits; at least 2048 are needed'] };
    assert.deepEqual(lines(), [{ level: 'warn', message: 'keys of the issuer are skipped; the others serve', fields: told }]);
    await load(2);
    assert.equal(lines().length, 1);
    bad = [{ ...rsa(2048), use: 'enc', kid: 'enc-1' }];
    await load(3);
    assert.deepEqual(lines()[1]?.level, 'info');
    assert.match(JSON.stringify(lines()[1]), /enc-1/);
    await bench.close();
    await issuer.close();
  });

  it('a published kid can neither fill nor break a log line', async () => {
    const set = await read([{ kty: 'oct', kid: `\n"${'x'.repeat(500)}` }, good]);
    assert.equal(set.skipped[0]?.key, `"\\n\\"${'x'.repeat(62)}"`);
  });
});
