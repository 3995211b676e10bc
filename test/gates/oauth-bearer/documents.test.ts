import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeHost } from 'portcullis/testing';
import { type Answer, type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, openBench, RESOURCE } from './support/open.js';
import { makeSteppedClock } from './support/stepped-clock.js';

const BOM = '\ufeff';

/** Media types as servers label JSON; undefined: no field at all. */
const JSON_TYPES = [
  'application/json',
  'Application/JSON; charset=UTF-8',
  'application/jwk-set+json',
  'application/jwk+json',
  'application/vnd.example.v1+json; q="a;b"',
  'text/json',
  'text/plain',
  'text/plain; charset=utf-8',
  'application/octet-stream',
  '',
  undefined,
];
const OTHER_TYPES = ['text/html', 'text/html; charset=utf-8', 'application/xhtml+xml', 'text/javascript', 'application/jsonp', 'image/png'];

type Place = 'metadata' | 'keys' | 'introspection';
const PLACES: readonly Place[] = ['metadata', 'keys', 'introspection'];

/** Opens a gate whose issuer serves one of its documents in an unusual way, and asks it with a token. */
async function ask(place: Place, type: string | undefined, before: string): Promise<string> {
  const issuer: FakeIssuer = await startIssuer();
  const answer =
    (make: () => unknown): Answer =>
    (_request, response) =>
      void response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(before + JSON.stringify(make()));
  const introspection = { url: issuer.jwks_uri.replace('/jwks', '/introspect'), client_id: 'gw', client_secret: 'secret' };
  let bench: Bench | undefined;
  if (place === 'metadata')
    issuer.answers.set(
      '/.well-known/oauth-authorization-server',
      answer(() => ({ issuer: issuer.url, jwks_uri: issuer.jwks_uri })),
    );
  if (place === 'keys')
    issuer.answers.set(
      '/jwks',
      answer(() => ({ keys: issuer.keys.map(({ jwk }) => jwk) })),
    );
  if (place === 'introspection')
    issuer.answers.set(
      '/introspect',
      answer(() => ({ active: true, sub: 'alice', aud: RESOURCE, iss: issuer.url, exp: (bench?.clock.now_ms() ?? 0) / 1000 + 600 })),
    );
  bench = await openBench(issuer, place === 'introspection' ? { introspection } : {});
  const told = brief(await bench.ask(place === 'introspection' ? 'opaque' : await bench.token()));
  await bench.close();
  await issuer.close();
  return told;
}

describe('documents of an issuer', () => {
  for (const place of PLACES) {
    it(`${place}: JSON under any label that JSON is served with`, async () => {
      for (const type of JSON_TYPES) assert.equal(await ask(place, type, ''), 'identify', String(type));
    });
    it(`${place}: not what is labelled as something else`, async () => {
      for (const type of OTHER_TYPES) assert.equal(await ask(place, type, ''), '503 TOKEN_CHECK_UNAVAILABLE', type);
    });
    it(`${place}: a byte order mark is ignored, once`, async () => {
      assert.equal(await ask(place, 'application/json', BOM), 'identify');
      assert.equal(await ask(place, 'application/json', BOM + BOM), '503 TOKEN_CHECK_UNAVAILABLE');
      assert.equal(await ask(place, 'application/json', ` ${BOM}`), '503 TOKEN_CHECK_UNAVAILABLE');
    });
  }

  it('a jwks_file may begin with a byte order mark', async () => {
    const issuer = await startIssuer();
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-jwks-'));
    await writeFile(join(folder, 'keys.json'), BOM + JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }));
    const host = makeHost({ name: 'token', folder, clock: makeSteppedClock() });
    const bench = await openBench(issuer, { jwks_file: 'keys.json' }, host);
    assert.equal(brief(await bench.ask(await bench.token())), 'identify');
    await bench.close();
    await issuer.close();
    await rm(folder, { recursive: true });
  });

  it('a token is no document: a byte order mark in its header or claims refuses it', async () => {
    const issuer = await startIssuer();
    const bench = await openBench(issuer);
    const [header = '', claims = '', signature = ''] = (await bench.token()).split('.');
    const marked = (part: string): string => Buffer.concat([Buffer.from(BOM), Buffer.from(part, 'base64url')]).toString('base64url');
    assert.equal(brief(await bench.ask(`${marked(header)}.${claims}.${signature}`)), '401 TOKEN_INVALID');
    assert.equal(brief(await bench.ask(`${header}.${marked(claims)}.${signature}`)), '401 TOKEN_INVALID');
    await bench.close();
    await issuer.close();
  });
});
