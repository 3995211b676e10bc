import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gate } from '../../../gates/forward-auth/gate.js';
import { configTable } from '../../support/gate-tables.js';

configTable(gate, [
  ['only a url', { url: 'http://127.0.0.1:9000/check' }, undefined],
  [
    'everything',
    {
      url: 'https://auth.example.com/check?x=1',
      timeout_ms: 1,
      request_headers: ['Authorization', 'cookie'],
      headers: { 'x-me': 'gw' },
      identity: {
        principal_header: 'x-user',
        scopes_header: 'x-scopes',
        groups_header: 'x-groups',
        client_header: 'x-client',
        issuer: 'sso',
      },
      max_connections: 1,
    },
    undefined,
  ],
  ['no url', {}, 'options.url: is required'],
  ['another scheme', { url: 'ftp://x/' }, 'options.url: must match pattern "^https?://[^\\s#]{1,2000}$"'],
  ['a password', { url: 'http://a:b@127.0.0.1/' }, 'url holds a user name or password; send a credential by headers'],
  [
    'a header of ours',
    { url: 'http://127.0.0.1/', request_headers: ['X-Forwarded-For'] },
    'header x-forwarded-for is set by the gateway; remove it from request_headers and headers',
  ],
  [
    'a framing header',
    { url: 'http://127.0.0.1/', headers: { 'Content-Length': '1' } },
    'header content-length is set by the gateway; remove it from request_headers and headers',
  ],
  ['a header twice', { url: 'http://127.0.0.1/', request_headers: ['x-a'], headers: { 'X-A': '1' } }, 'header x-a is configured twice'],
  [
    'a header with a line break',
    { url: 'http://127.0.0.1/', headers: { a: 'b\r\nc: d' } },
    'options.headers.a: must match pattern "^[ -~]{0,2048}$"',
  ],
  ['an identity without principal', { url: 'http://127.0.0.1/', identity: {} }, 'options.identity.principal_header: is required'],
  [
    'an issuer with #',
    { url: 'http://127.0.0.1/', identity: { principal_header: 'a', issuer: 'a#b' } },
    'options.identity.issuer: must match pattern "^[^#\\s]{1,512}$"',
  ],
  [
    'a CA file that is not there',
    { url: 'https://127.0.0.1/', ca_file: '/nonexistent/ca.pem' },
    "ENOENT: no such file or directory, open '/nonexistent/ca.pem'",
  ],
  ['a misspelt key', { url: 'http://127.0.0.1/', timeout: 1 }, 'options.timeout: unknown key; did you mean timeout_ms?'],
]);

test('forward-auth identifies only when an identity is configured', () => {
  const { identifies } = gate;
  assert.ok(typeof identifies === 'function');
  const options = { url: 'http://127.0.0.1/', timeout_ms: 1, request_headers: [], headers: {}, max_connections: 1 };
  assert.equal(identifies(options), undefined);
  assert.equal(identifies({ ...options, identity: { principal_header: 'x', issuer: 'a' } }), 'always');
});
