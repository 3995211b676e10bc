import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeHost } from 'portcullis/testing';
import { toDiscoveryUrls } from '../../../gates/oauth-bearer/discovery.js';
import { json, startIssuer } from './support/fake-issuer.js';
import { brief, openBench } from './support/open.js';
import { settle } from './support/settle.js';
import { makeSteppedClock } from './support/stepped-clock.js';

const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

describe('oauth-bearer discovery', () => {
  it('asks RFC 8414 first, then OpenID Connect, with the path inserted and appended', () => {
    assert.deepEqual(toDiscoveryUrls('https://id.example.com'), [`https://id.example.com${OAUTH}`, `https://id.example.com${OPENID}`]);
    assert.deepEqual(toDiscoveryUrls('https://id.example.com/'), [`https://id.example.com${OAUTH}`, `https://id.example.com${OPENID}`]);
    assert.deepEqual(toDiscoveryUrls('https://id.example.com/t/1'), [
      `https://id.example.com${OAUTH}/t/1`,
      `https://id.example.com${OPENID}/t/1`,
      `https://id.example.com/t/1${OPENID}`,
    ]);
  });

  for (const place of [`${OAUTH}/t`, `${OPENID}/t`, `/t${OPENID}`])
    it(`finds the keys of an issuer that publishes at ${place} only`, async () => {
      const issuer = await startIssuer('/t');
      issuer.answers.delete(`${OAUTH}/t`);
      issuer.answers.set(
        place,
        json(() => ({ issuer: issuer.url, jwks_uri: issuer.jwks_uri })),
      );
      const bench = await openBench(issuer);
      assert.equal(brief(await bench.ask(await bench.token())), 'identify');
      assert.deepEqual(issuer.asked.slice(-2), [place, '/jwks']);
      await bench.close();
      await issuer.close();
    });

  const unusable: readonly (readonly [string, (issuer: string, jwks: string) => unknown, string])[] = [
    ['names another issuer', (_issuer, jwks_uri) => ({ issuer: 'https://honest.example', jwks_uri }), 'issuer_mismatch'],
    ['names the issuer with a slash', (issuer, jwks_uri) => ({ issuer: `${issuer}/`, jwks_uri }), 'issuer_mismatch'],
    ['names no issuer', (_issuer, jwks_uri) => ({ jwks_uri }), 'issuer_mismatch'],
    ['has no jwks_uri', (issuer) => ({ issuer }), 'malformed'],
    ['has a jwks_uri that is not https', (issuer) => ({ issuer, jwks_uri: 'http://keys.example/jwks' }), 'insecure'],
    ['has a jwks_uri that is a file', (issuer) => ({ issuer, jwks_uri: 'file:///etc/passwd' }), 'insecure'],
    ['is a list', () => [], 'malformed'],
  ];
  for (const [name, make, outcome] of unusable)
    it(`a document that ${name} is not used: 503`, async () => {
      const issuer = await startIssuer();
      issuer.answers.set(
        OAUTH,
        json(() => make(issuer.url, issuer.jwks_uri)),
      );
      const bench = await openBench(issuer);
      assert.equal(brief(await bench.ask(await bench.token())), '503 TOKEN_CHECK_UNAVAILABLE');
      assert.equal(bench.host.metrics.value('jwks_fetches_total', { issuer: 'token', outcome }), 1);
      assert.ok(!issuer.asked.includes('/jwks'));
      await bench.close();
      await issuer.close();
    });

  it('keys that have moved are found again', async () => {
    const issuer = await startIssuer();
    const bench = await openBench(issuer, { remembered_tokens: 0 });
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    const old = issuer.answers.get('/jwks');
    assert.ok(old !== undefined);
    issuer.answers.delete('/jwks');
    issuer.answers.set('/keys', old);
    issuer.answers.set(
      OAUTH,
      json(() => ({ issuer: issuer.url, jwks_uri: issuer.jwks_uri.replace('/jwks', '/keys') })),
    );
    bench.clock.step();
    await settle('the failure', () => bench.host.metrics.value('jwks_fetches_total', { issuer: 'token', outcome: 'status' }) === 1);
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    bench.clock.step();
    await settle('the new place', () => issuer.asked.at(-1) === '/keys');
    await bench.close();
    await issuer.close();
  });

  it('several issuers are numbered in the metrics', async () => {
    const a = await startIssuer('/a');
    const b = await startIssuer('/b');
    const bench = await openBench(a, { issuer: [a.url, b.url] });
    await bench.ask(await bench.token());
    await bench.ask(await b.sign(bench.claims({ iss: b.url })));
    for (const label of ['token#0', 'token#1'])
      assert.equal(bench.host.metrics.value('jwks_fetches_total', { issuer: label, outcome: 'ok' }), 1);
    await bench.close();
    await a.close();
    await b.close();
  });

  it('a jwks_file is read from the config folder and followed', async () => {
    const issuer = await startIssuer();
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-jwks-'));
    const clock = makeSteppedClock();
    const bench = await openBench(issuer, { jwks_file: 'keys.json' }, makeHost({ name: 'token', folder, clock }));
    assert.equal(brief(await bench.ask(await bench.token())), '503 TOKEN_CHECK_UNAVAILABLE');
    await writeFile(join(folder, 'keys.json'), JSON.stringify({ keys: issuer.keys.map((key) => key.jwk) }));
    clock.step();
    await settle('the file', () => bench.host.metrics.value('jwks_keys', { issuer: 'token' }) === 1);
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    assert.deepEqual(issuer.asked, []);
    await bench.close();
    await issuer.close();
    await rm(folder, { recursive: true });
  });
});
