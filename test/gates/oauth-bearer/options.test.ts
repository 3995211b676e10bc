import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeHost, openGate } from 'portcullis/testing';
import { gate } from '../../../gates/oauth-bearer/gate.js';

// Nobody listens on port 1: what is accepted here must open without any network.
const ISSUER = 'http://127.0.0.1:1';
const INTROSPECTION = { url: 'http://127.0.0.1:1/introspect', client_id: 'gw', client_secret: 's' };

async function open(options: Record<string, unknown>, url = 'https://mcp.example.com/mcp', path = '/mcp'): Promise<string> {
  const shared: { close?(): Promise<void> }[] = [];
  const host = makeHost({
    route: { path, url, runtime: 'main' },
    shared: <T extends { close?(): Promise<void> }>(_key: string, create: () => T): T => {
      const value = create();
      shared.push(value);
      return value;
    },
  });
  try {
    const opened = await openGate(gate, options, host);
    await opened.close?.();
    return 'opened';
  } catch (error) {
    return (error as Error).message;
  } finally {
    for (const value of shared) await value.close?.();
    assert.equal(host.clock.pending, 0, 'no timer is left behind');
  }
}

describe('oauth-bearer options', () => {
  const accepted: readonly (readonly [string, Record<string, unknown>])[] = [
    ['one issuer alone', { issuer: ISSUER }],
    ['https issuer', { issuer: 'https://id.example.com' }],
    ['several issuers', { issuer: [ISSUER, 'https://id.example.com/tenant'] }],
    ['a loopback name', { issuer: 'http://localhost:1' }],
    ['an IPv6 loopback', { issuer: 'http://[::1]:1' }],
    ['audiences', { issuer: ISSUER, audience: ['urn:a', 'https://mcp.example.com/mcp/'] }],
    ['tool scopes', { issuer: ISSUER, required_scopes: ['mcp.read'], tool_scopes: { 'delete_*': ['files.write'] } }],
    ['jwks_uri', { issuer: ISSUER, jwks_uri: `${ISSUER}/keys?v=1` }],
    ['dpop', { issuer: ISSUER, dpop: 'require', dpop_nonce: 'require', dpop_algorithms: ['ES256'] }],
    ['certificate_bound', { issuer: ISSUER, certificate_bound: 'require', certificate_from: 'gate' }],
    ['introspection', { issuer: ISSUER, introspection: INTROSPECTION }],
    ['introspection for one of several', { issuer: [ISSUER, 'https://b.example'], introspection: { ...INTROSPECTION, issuer: ISSUER } }],
  ];
  for (const [name, options] of accepted)
    it(`accepts ${name}, without the network`, async () => {
      assert.equal(await open(options), 'opened');
    });

  const refused: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ['nothing', {}, /issuer/],
    ['a misspelt key', { issuer: ISSUER, required_scope: ['a'] }, /required_scope: unknown key/],
    ['an empty issuer list', { issuer: [] }, /issuer/],
    ['plain http elsewhere', { issuer: 'http://id.example.com' }, /^issuer must be an https URL/],
    ['a loopback look-alike', { issuer: 'http://127.0.0.1.evil.test' }, /^issuer must be an https URL/],
    ['an issuer with a query', { issuer: 'https://id.example.com?x=1' }, /^issuer must have no query and no fragment/],
    ['an issuer without a scheme', { issuer: 'id.example.com' }, /^issuer must be an https URL/],
    [
      'credentials in a URL',
      { issuer: ISSUER, jwks_uri: 'https://a:b@id.example.com/keys' },
      /^jwks_uri must be an https URL without credentials/,
    ],
    ['a symmetric algorithm', { issuer: ISSUER, algorithms: ['HS256'] }, /algorithms/],
    ['alg none', { issuer: ISSUER, algorithms: ['none'] }, /algorithms/],
    ['no algorithm', { issuer: ISSUER, algorithms: [] }, /algorithms/],
    ['jwks_uri for several issuers', { issuer: [ISSUER, 'https://b.example'], jwks_uri: ISSUER }, /belong to one issuer/],
    ['two key sources', { issuer: ISSUER, jwks_uri: ISSUER, jwks_file: 'keys.json' }, /keep one of them/],
    ['offline_access', { issuer: ISSUER, required_scopes: ['offline_access'] }, /must not list offline_access/],
    ['a scope with a space', { issuer: ISSUER, required_scopes: ['a b'] }, /required_scopes/],
    [
      'too many scopes for one challenge',
      { issuer: ISSUER, tool_scopes: { '*': Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(250, 'x')) } },
      /exceed 4096/,
    ],
    [
      'introspection without saying for whom',
      { issuer: [ISSUER, 'https://b.example'], introspection: INTROSPECTION },
      /introspection.issuer must be one of/,
    ],
    ['a short nonce secret', { issuer: ISSUER, dpop_nonce_secret: 'short' }, /dpop_nonce_secret/],
  ];
  for (const [name, options, message] of refused)
    it(`refuses ${name}`, async () => {
      assert.match(await open(options), message);
    });

  it('a public URL that no client could dial is refused at start', async () => {
    assert.match(await open({ issuer: ISSUER }, 'mcp.example.com/x'), /^the route’s public URL must be http\(s\):\/\/host\/path/);
    assert.match(await open({ issuer: ISSUER }, 'https://mcp.example.com/x#y'), /^the route’s public URL must be/);
  });

  it('needs an earlier certificate only when asked to', () => {
    assert.deepEqual(requires({ certificate_from: 'any' }), []);
    assert.deepEqual(requires({ certificate_from: 'gate' }), ['certificate']);
  });
});

function requires(options: Record<string, unknown>): readonly string[] {
  assert.equal(typeof gate.requires, 'function');
  return typeof gate.requires === 'function' ? gate.requires(options as never) : [];
}
