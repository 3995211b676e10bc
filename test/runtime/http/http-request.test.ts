import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { confinedCookie, confinedPath, type HttpMount, publicLocation } from '../../../src/runtime/http/http-mount.js';
import { type HttpRequestPolicy, httpRequestHeaders, httpResponseHeaders } from '../../../src/runtime/http/http-request.js';
import { makeHead } from '../../../src/testing.js';

const mount: HttpMount = {
  origin: 'http://10.0.0.5:3002',
  base: '/app',
  prefix: '/console',
  redirects: 'own',
  public_origin: 'https://mcp.example.com',
};

describe('confined path', () => {
  it('puts the base in place of the prefix', () => {
    assert.equal(confinedPath('/console', '/console', ''), '/');
    assert.equal(confinedPath('/console/', '/console', '/app'), '/app/');
    assert.equal(confinedPath('/console/a/b.c', '/console', '/app'), '/app/a/b.c');
    assert.equal(confinedPath('/a%20b/%C3%BC/...', '', '/app'), '/app/a%20b/%C3%BC/...');
    assert.equal(confinedPath('/console/100%25', '/console', ''), '/100%25');
  });

  it('what two readers could take for different paths is nothing', () => {
    const rests = [
      ...[
        'x',
        '//a',
        '/a//b',
        '/./a',
        '/a/..',
        '/a/../b',
        '/a/.',
        '/a;x=1/b',
        '/a\\b',
        '/%2e%2e/b',
        '/a%2Fb',
        '/a%5cb',
        '/a%00',
        '/a%3Bb',
        '/%252e%252e/b',
      ],
      ...['/%25252f', '/a%', '/a%2', '/a%zz', '/%ff', '/ü', '/a b', '/a\tb', '/a\0', '/a?b', '/a#b', '/{a}', '/%0d%0a', '/%7f', '/a%C0%AF'],
    ];
    for (const rest of rests) assert.equal(confinedPath(`/console${rest}`, '/console', '/app'), undefined, rest);
    for (const path of ['/consol', '/Console/a', '/other', '//console/a', ''])
      assert.equal(confinedPath(path, '/console', '/app'), undefined, path);
  });
});

describe('mount', () => {
  it('a redirect inside the mount becomes public, one out of it is nothing', () => {
    const cases: [string, string | undefined][] = [
      ['/app/login?a=1#b', '/console/login?a=1#b'],
      ['login', '/console/x/login'],
      ['../y', '/console/y'],
      ['?a=1', '/console/x/page?a=1'],
      ['http://10.0.0.5:3002/app/', '/console/'],
      ['http://10.0.0.5:3002/app', '/console'],
      ['//10.0.0.5:3002/app/z', '/console/z'],
      ['https://mcp.example.com/console/z', '/console/z'],
      ['https://mcp.example.com/other/z', undefined],
      ['/other', undefined],
      ['/application', undefined],
      ['/app/../admin', undefined],
      ['/app/%2e%2e/admin', undefined],
      ['http://10.0.0.5:9/app/', undefined],
      ['https://10.0.0.5:3002/app/', undefined],
      ['//evil.test/app/', undefined],
      ['/\\evil.test/app', undefined],
      ['javascript:alert(1)', undefined],
      ['http://[', undefined],
    ];
    for (const [location, expected] of cases) assert.equal(publicLocation(location, mount, '/app/x/page'), expected, location);
  });

  it('at the root no redirect can become one to another host', () => {
    const root: HttpMount = { ...mount, base: '', prefix: '' };
    assert.equal(publicLocation('http://10.0.0.5:3002//evil.test', root, '/'), undefined);
    assert.equal(publicLocation('/.//evil.test', root, '/'), undefined);
    assert.equal(publicLocation('/a', root, '/'), '/a');
  });

  it('any: other origins pass as they are, the upstream’s own never', () => {
    const any: HttpMount = { ...mount, redirects: 'any' };
    assert.equal(publicLocation('http://localhost:33418/callback?code=1', any, '/app/'), 'http://localhost:33418/callback?code=1');
    assert.equal(publicLocation('cursor://oauth?code=1', any, '/app/'), 'cursor://oauth?code=1');
    assert.equal(publicLocation('/app/next', any, '/app/'), '/console/next');
    assert.equal(publicLocation('http://10.0.0.5:3002/admin', any, '/app/'), undefined);
  });

  it('cookies come back to the mount only', () => {
    assert.equal(confinedCookie('a=b; Path=/app/x; Domain=example.com; HttpOnly', mount), 'a=b; HttpOnly; Path=/console/x');
    assert.equal(confinedCookie('a=b;Secure;SameSite=Lax', mount), 'a=b; Secure; SameSite=Lax; Path=/console');
    assert.equal(confinedCookie('a=b=c; path=/', mount), 'a=b=c; Path=/console');
    assert.equal(confinedCookie('__Host-a=b; Path=/; Secure', mount), undefined);
    assert.equal(confinedCookie('__Host-a=b; Path=/; Secure', { ...mount, base: '', prefix: '' }), '__Host-a=b; Secure; Path=/');
  });
});

describe('plain HTTP headers', () => {
  const policy: HttpRequestPolicy = {
    headers: { 'x-api-key': 'k' },
    forward_authorization: false,
    forward_cookies: true,
    request_headers: new Set(['x-mine']),
    public_url: undefined,
  };
  const head = makeHead({
    method: 'POST',
    headers: { Host: 'mcp.example.com' },
    peer: { address: '10.0.0.9', client_address: '203.0.113.7' },
  });
  const passed = { head, identity: undefined, facts: {}, prefix: '/console' };

  it('requests go by allowlist and say what the gateway knows', () => {
    const client = {
      host: 'mcp.example.com',
      authorization: 'Bearer T',
      cookie: 's=1',
      'proxy-authorization': 'Basic x',
      'x-forwarded-for': '1.1.1.1',
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      'x-forwarded-client-cert': 'Hash=a',
      'x-real-ip': '1.1.1.1',
      forwarded: 'for=1.1.1.1',
      'x-original-url': '/admin',
      'x-http-method-override': 'DELETE',
      'x-remote-user': 'root',
      'x-api-key': 'stolen',
      x_mine: 'x',
      expect: '100-continue',
      te: 'trailers',
      upgrade: 'websocket',
      'content-type': 'text/plain',
      'content-length': '3',
      'sec-fetch-site': 'same-origin',
      'x-mine': 'yes',
      origin: 'https://mcp.example.com',
    };
    assert.deepEqual(httpRequestHeaders(client, policy, passed), {
      cookie: 's=1',
      'content-type': 'text/plain',
      'content-length': '3',
      'sec-fetch-site': 'same-origin',
      'x-mine': 'yes',
      origin: 'https://mcp.example.com',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'mcp.example.com',
      'x-forwarded-prefix': '/console',
      'x-api-key': 'k',
    });
  });

  it('credentials, cookies, identity and public URL follow the route', () => {
    const identity = { principal: 'a', issuer: 'i', scopes: new Set<string>(), facts: {} };
    const headers = httpRequestHeaders(
      { authorization: 'Basic x', cookie: 's=1', 'x-mine': 'forged' },
      { ...policy, headers: {}, forward_authorization: true, forward_cookies: false, public_url: new URL('https://mcp.example.com:8443') },
      { ...passed, identity, forward_identity_header: 'x-mine' },
    );
    assert.deepEqual(headers, {
      authorization: 'Basic x',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'mcp.example.com:8443',
      'x-forwarded-prefix': '/console',
      'x-mine': Buffer.from('{"iss":"i","sub":"a","scope":""}').toString('base64url'),
    });
    const nobody = httpRequestHeaders({ 'x-mine': 'forged' }, policy, { ...passed, forward_identity_header: 'x-mine' });
    assert.equal(nobody['x-mine'], undefined);
  });

  it('answers lose hop-by-hop, listed and origin-wide fields, and values that cannot be sent', () => {
    const answer = {
      connection: 'X-Up, close',
      'x-up': '1',
      'keep-alive': 'timeout=5',
      'transfer-encoding': 'chunked',
      'proxy-authenticate': 'Basic',
      server: 'x',
      'x-accel-redirect': '/internal',
      'strict-transport-security': 'max-age=1',
      'service-worker-allowed': '/',
      'x-request-id': 'u',
      'www-authenticate': 'Basic realm="as"',
      'retry-after': '3',
      'set-cookie': ['a=1; Path=/app', '__Host-b=2; Path=/'],
      'x-odd': 'a\u0100b',
      location: '/app/next',
    };
    assert.deepEqual(httpResponseHeaders(answer, mount, '/app/'), [
      ['x-upstream-request-id', 'u'],
      ['www-authenticate', 'Basic realm="as"'],
      ['retry-after', '3'],
      ['set-cookie', 'a=1; Path=/console'],
      ['location', '/console/next'],
    ]);
    assert.equal(httpResponseHeaders({ location: 'https://evil.test/' }, mount, '/app/'), undefined);
  });
});
