import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RouteInfo } from 'portcullis/gate';
import { type HeadInit, makeContext, makeHead, makeHost, openGate } from 'portcullis/testing';
import { gate as module } from '../../../gates/oauth-bearer/gate.js';
import { toMetadataUrl } from '../../../gates/oauth-bearer/metadata.js';
import { type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { challenge } from './support/open.js';

describe('oauth-bearer resource metadata', () => {
  let issuer: FakeIssuer;
  const ends: (() => Promise<void> | undefined)[] = [];
  before(async () => {
    issuer = await startIssuer();
  });
  after(async () => {
    for (const end of ends) await end();
    await issuer.close();
  });

  async function open(route: Partial<RouteInfo>, options: Record<string, unknown> = {}) {
    const host = makeHost({
      route: { path: '/alpha/mcp', url: 'https://mcp.example.com/alpha/mcp', runtime: 'main', ...route },
      shared: <T extends { close?(): Promise<void> }>(_key: string, create: () => T): T => {
        const value = create();
        ends.push(() => value.close?.());
        return value;
      },
    });
    return openGate(module, { issuer: issuer.url, ...options }, host);
  }

  async function document(gate: Awaited<ReturnType<typeof open>>, head: HeadInit): Promise<Record<string, unknown>> {
    const decision = await gate.decide(makeHead({ method: 'GET', ...head }), makeContext());
    assert.equal(decision.kind, 'serve');
    return decision.kind === 'serve' ? (JSON.parse(decision.body) as Record<string, unknown>) : {};
  }

  const places: readonly (readonly [path: string, url: string, served: string, metadata: string])[] = [
    [
      '/alpha/mcp',
      'https://mcp.example.com/alpha/mcp',
      '/alpha/mcp',
      'https://mcp.example.com/.well-known/oauth-protected-resource/alpha/mcp',
    ],
    ['/', 'https://mcp.example.com', '', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    ['/', 'https://mcp.example.com/', '', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    ['/m', 'https://m.example.com/m', '/m', 'https://m.example.com/.well-known/oauth-protected-resource/m'],
    [
      '/alpha/mcp/',
      'https://mcp.example.com/alpha/mcp/',
      '/alpha/mcp/',
      'https://mcp.example.com/.well-known/oauth-protected-resource/alpha/mcp/',
    ],
    ['/mcp', 'http://127.0.0.1:8080/mcp', '/mcp', 'http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp'],
    ['*', 'https://mcp.example.com', '', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
  ];
  for (const [path, url, served, metadata] of places)
    it(`route ${path} at ${url}: challenge, place and resource agree`, async () => {
      const gate = await open({ path, url });
      assert.equal(challenge(await gate.decide(makeHead({ path }), makeContext())), `Bearer resource_metadata="${metadata}"`);
      assert.deepEqual(gate.serves, [`/.well-known/oauth-protected-resource${served}`]);
      assert.equal((await document(gate, { path: gate.serves?.[0] ?? '' })).resource, url);
    });

  const ROOT = '/.well-known/oauth-protected-resource';
  const alone: readonly (readonly [path: string, url: string, paths: readonly string[]])[] = [
    ['/alpha/mcp', 'https://mcp.example.com/alpha/mcp', [ROOT]],
    ['/', 'https://mcp.example.com', []],
    ['*', 'https://mcp.example.com', []],
    ['/mcp', 'https://h.example/base/mcp', [ROOT, `${ROOT}/base/mcp`]],
    ['/', 'https://h.example/base', [`${ROOT}/base`]],
    ['/mcp', 'https://files.example', [ROOT]],
    ['/mcp', 'https://h.example/a%20b/mcp', [ROOT]],
    ['/mcp', 'https://h.example/../mcp', [ROOT]],
    ['/mcp', 'https://h.example//mcp', [ROOT]],
  ];
  for (const [path, url, paths] of alone)
    it(`route ${path} at ${url}: the document is at ${JSON.stringify(paths)} too, if no other is`, async () => {
      const gate = await open({ path, url });
      assert.deepEqual(gate.serves_if_alone, paths);
      for (const at of paths) assert.equal((await document(gate, { path: at })).resource, url);
    });

  it('no header shapes the document or the challenge', async () => {
    const gate = await open({});
    const lies = {
      host: 'gw.internal:8080',
      'x-forwarded-proto': ['http', 'http'],
      'x-forwarded-host': 'evil.test',
      'x-forwarded-prefix': '/evil',
      forwarded: 'host=evil.test;proto=http',
    };
    for (const trusted of [false, true]) {
      const found = await document(gate, { path: gate.serves?.[0] ?? '', headers: lies, peer: { trusted } });
      assert.deepEqual(found, {
        resource: 'https://mcp.example.com/alpha/mcp',
        authorization_servers: [issuer.url],
        bearer_methods_supported: ['header'],
      });
      assert.equal(
        challenge(await gate.decide(makeHead({ path: '/alpha/mcp', headers: lies, peer: { trusted } }), makeContext())),
        'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/alpha/mcp"',
      );
    }
  });

  it('says what the options say', async () => {
    const gate = await open(
      {},
      {
        required_scopes: ['mcp.read'],
        authorization_servers: ['https://login.example.com'],
        resource_name: 'Files',
        dpop: 'require',
        dpop_algorithms: ['ES256'],
        certificate_bound: 'require',
      },
    );
    assert.deepEqual(await document(gate, { path: gate.serves?.[0] ?? '' }), {
      resource: 'https://mcp.example.com/alpha/mcp',
      authorization_servers: ['https://login.example.com'],
      scopes_supported: ['mcp.read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Files',
      dpop_signing_alg_values_supported: ['ES256'],
      dpop_bound_access_tokens_required: true,
      tls_client_certificate_bound_access_tokens: true,
    });
    const listed = await open({}, { required_scopes: ['a'], scopes_supported: ['a', 'b'], dpop: 'accept' });
    const found = await document(listed, { path: listed.serves?.[0] ?? '' });
    assert.deepEqual(found.scopes_supported, ['a', 'b']);
    assert.equal(found.dpop_bound_access_tokens_required, undefined);
  });

  it('is public, cacheable and readable by any origin, also by preflight', async () => {
    const gate = await open({});
    const path = gate.serves?.[0] ?? '';
    const got = await gate.decide(makeHead({ method: 'GET', path, headers: { authorization: 'Basic x' } }), makeContext());
    assert.deepEqual(
      { ...got, body: '' },
      {
        kind: 'serve',
        status: 200,
        headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' },
        body: '',
      },
    );
    assert.deepEqual(await gate.decide(makeHead({ method: 'HEAD', path }), makeContext()), got);
    const preflight = await gate.decide(
      makeHead({ method: 'OPTIONS', path, headers: { origin: 'https://app.example.com' } }),
      makeContext(),
    );
    assert.equal(preflight.kind === 'serve' && preflight.status, 204);
    assert.equal(preflight.kind === 'serve' && preflight.headers?.['access-control-allow-origin'], '*');
    assert.equal(preflight.kind === 'serve' && preflight.headers?.['access-control-allow-methods'], 'GET, HEAD, OPTIONS');
  });

  it('RFC 9728 section 3.1: the well-known part goes between host and path', () => {
    assert.equal(toMetadataUrl('https://h'), 'https://h/.well-known/oauth-protected-resource');
    assert.equal(toMetadataUrl('https://h/'), 'https://h/.well-known/oauth-protected-resource');
    assert.equal(toMetadataUrl('https://h:8443/a/b'), 'https://h:8443/.well-known/oauth-protected-resource/a/b');
  });
});
