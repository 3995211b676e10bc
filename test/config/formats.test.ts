import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FORMATS } from '../../src/config/format/formats.js';
import { isLoopback } from '../../src/config/format/network.js';

type Table = readonly [format: string, good: readonly string[], bad: Readonly<Record<string, string>>];
const CANONICAL_ORIGIN = 'must be in the form that clients use: lower-case scheme and host, no default port, no trailing slash';
const CANONICAL = 'must be in the form that clients use: lower-case scheme and host, no default port, no dot segments';
const V6 = '[2001:db8::1]';

const TABLE: readonly Table[] = [
  [
    'public-url',
    ['https://mcp.example.com', 'http://127.0.0.1:8080', `https://${V6}:8443`, 'https://a.example/base', 'https://a.example/b/c'],
    {
      'mcp.example.com/x': 'must be a URL that begins with http:// or https://',
      'ftp://a.example': 'must be a URL that begins with http:// or https://',
      'javascript:alert(1)': 'must be a URL that begins with http:// or https://',
      'https://': 'is not a valid URL',
      'https://a.example/': 'must not end with a slash: the path of a route is appended',
      'https://a.example/base/': 'must not end with a slash: the path of a route is appended',
      'https://a.example?': 'must not have a query',
      'https://a.example/x?y=1': 'must not have a query',
      'https://a.example#': 'must not have a fragment',
      'https://u:p@a.example': 'must not carry a user name or password; put credentials into headers',
      'https://@a.example': 'must not carry a user name or password; put credentials into headers',
      'HTTPS://MCP.example.com:443': CANONICAL_ORIGIN,
      'https://a.example:443': CANONICAL_ORIGIN,
      'https://A.example/base': CANONICAL,
      'https://a.example/x/../base': CANONICAL,
      'https://a.example /': 'must not contain white space, control characters or a backslash',
      'https:\\\\a.example': 'must not contain white space, control characters or a backslash',
      'https://a.example\n': 'must not contain white space, control characters or a backslash',
    },
  ],
  ['dialed-url', ['https://a.example/mcp/', 'https://a.example', 'https://a.example/mcp'], { 'https://a.example/': CANONICAL_ORIGIN }],
  ['plain-url', ['http://u/mcp', 'HTTPS://U:443/', 'http://127.0.0.1:3001/mcp/'], { 'http://u/?k=1': 'must not have a query' }],
  [
    'upstream-url',
    ['http://u/mcp', 'HTTPS://U:443/', 'https://u/mcp?project=abc&features=a,b', 'http://u/?', 'http://u/mcp?x=a@b/c'],
    {
      'http://u/mcp?a#b': 'must not have a fragment',
      'http://u/mcp?a b': 'must not contain white space, control characters or a backslash',
      'http://a:b@u/mcp?c': 'must not carry a user name or password; put credentials into headers',
      'ftp://u/?a': 'must be a URL that begins with http:// or https://',
    },
  ],
  [
    'cidr',
    ['10.0.0.0/8', '0.0.0.0/0', '127.0.0.1', '2001:db8::/32', '::1', '::/0', '::ffff:10.0.0.1/128'],
    {
      '10.0.0.0/33': 'must have a prefix length from 0 to 32',
      '::/129': 'must have a prefix length from 0 to 128',
      '10.0.0.0/': 'must have a prefix length from 0 to 32',
      '10.1.2.3/8': 'has bits beside its prefix; write 10.0.0.0/8, or 10.1.2.3 for the one address',
      '10.0.0.0/08': 'must have a prefix length from 0 to 32',
      '10.0.0.0/255.0.0.0': 'must have a prefix length from 0 to 32',
      '10.0.0': 'must be an IP address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32',
      '010.0.0.1': 'must be an IP address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32',
      'fe80::1%eth0': 'must be an IP address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32',
      localhost: 'must be an IP address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32',
    },
  ],
  [
    'host',
    ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost', 'gw.internal'],
    {
      '[::1]': 'must be written without brackets',
      '127.0.0.1:8080': 'must not have a port; use the separate key',
      'a b': 'must be an IP address or a host name',
      'http://x': 'must be an IP address or a host name',
      '-a': 'must be an IP address or a host name',
    },
  ],
  [
    'authority',
    ['mcp.example.com', 'localhost:3000', '[::1]', '[::1]:8080', '10.0.0.1:80'],
    {
      'MCP.example.com': 'must be in lower case',
      '*.example.com': 'must name one host; wildcards are not understood',
      '::1': 'must have brackets around the IPv6 address, as in [::1]:8080',
      'a:0': 'must have a port from 1 to 65535',
      'a:65536': 'must have a port from 1 to 65535',
      'a:080': 'must have a port from 1 to 65535',
      'a:': 'must be host or host:port',
      'a/b': 'must be host or host:port',
      'u@a': 'must be host or host:port',
      '[::1': 'must be host or host:port',
      '[zz]': 'must be host or host:port',
    },
  ],
  [
    'listed-origin',
    ['app.example.com', 'localhost:3000', 'https://app.example.com', 'https://app.example.com:8443', 'http://[::1]:3000'],
    {
      null: 'null is the origin of sandboxed pages and can not be allowed',
      '*': 'must name one origin; list each that may call',
      'https://app.example.com/': 'must be scheme://host or scheme://host:port, without path or slash at the end',
      'https://u@app.example.com': 'must be scheme://host or scheme://host:port, without path or slash at the end',
      'HTTPS://app.example.com': 'must begin with http:// or https://, in lower case',
      'chrome-extension://abc': 'must begin with http:// or https://, in lower case',
      'https://app.example.com:443': 'must be without the default port: browsers leave it out of Origin',
      'http://app.example.com:80': 'must be without the default port: browsers leave it out of Origin',
      'https://*.example.com': 'must name one host; wildcards are not understood',
    },
  ],
  [
    'route-path',
    ['/', '/mcp', '/files/mcp', '/mcp/', "/a.b-c_d~!$&'()*+,=:@"],
    {
      mcp: 'must begin with /',
      '/a?b': 'must not have a query or fragment',
      '/a#b': 'must not have a query or fragment',
      '/%61': 'must not be percent-encoded; encoded spellings never match',
      '//a': 'must not contain //',
      '/a//b': 'must not contain //',
      '/a;b': 'must not contain ; or \\',
      '/a\\b': 'must not contain ; or \\',
      '/a b': 'must be visible ASCII',
      '/é': 'must be visible ASCII',
      '/a\0': 'must be visible ASCII',
      '/{x}': 'must not contain any of " < > ^ ` { | }; clients encode them',
      '/a/../b': 'must not contain . or .. segments',
      '/.': 'must not contain . or .. segments',
    },
  ],
  [
    'passed-header',
    ['x-csrf-token', 'X-Tenant', 'content-md5'],
    {
      'x y': 'is not a plain header field name: letters, digits and -',
      x_y: 'is not a plain header field name: letters, digits and -',
      Authorization: 'is controlled by forward_authorization',
      cookie: 'is controlled by forward_cookies',
      Host: 'is set by the gateway itself and can not be configured',
      expect: 'is set by the gateway itself and can not be configured',
      'X-Forwarded-For': 'is set by the gateway itself and can not be configured',
      'proxy-authorization': 'is set by the gateway itself and can not be configured',
    },
  ],
  [
    'static-header',
    ['x-api-key', 'Authorization', 'cookie', 'X_Odd'],
    {
      'a b': 'is not a header field name',
      '': 'is not a header field name',
      'a:': 'is not a header field name',
      Host: 'is set by the gateway itself and can not be configured',
      'content-length': 'is set by the gateway itself and can not be configured',
      'Proxy-Authorization': 'is set by the gateway itself and can not be configured',
      'mcp-session-id': 'mirrors the message and can not be configured',
      Accept: 'mirrors the message and can not be configured',
    },
  ],
  [
    'identity-header',
    ['x-portcullis-identity', 'X-User'],
    {
      x_user: 'must not contain _: many servers take it for -',
      Authorization: 'already means something to an upstream; choose a name such as x-portcullis-identity',
      'x-forwarded-for': 'already means something to an upstream; choose a name such as x-portcullis-identity',
      connection: 'is set by the gateway itself and can not be configured',
    },
  ],
  [
    'header-value',
    ['k', 'Bearer abc==', 'a\tb'],
    {
      'a\r\nx: y': 'must be one line: CR, LF and NUL can not be in a header',
      'a\n': 'must be one line: CR, LF and NUL can not be in a header',
      'a\0': 'must be one line: CR, LF and NUL can not be in a header',
      é: 'must be printable ASCII',
      ' ': 'must not be blank',
      'a ': 'must not begin or end with white space',
    },
  ],
  ['session-key', ['k'.repeat(16)], { short: 'must have at least 16 characters, better 32 and more, e.g. from: openssl rand -base64 32' }],
  ['process-text', ['npx', '', 'a b\n', '--x=${Y}'], { 'a\0b': 'must not contain NUL' }],
  [
    'variable-name',
    ['PATH', 'a.b', 'ProgramFiles(x86)'],
    {
      '': 'is not the name of an environment variable: 1 to 256 characters, no = and no NUL',
      'A=B': 'is not the name of an environment variable: 1 to 256 characters, no = and no NUL',
    },
  ],
];

describe('formats', () => {
  for (const [format, good, bad] of TABLE) {
    it(`${format}: what is refused, and why`, () => {
      const whyNot = FORMATS[format];
      assert.ok(whyNot);
      for (const text of good) assert.equal(whyNot(text), undefined, text);
      for (const [text, message] of Object.entries(bad)) assert.equal(whyNot(text), message, text);
    });
  }

  it('has a row here for each', () => {
    assert.deepEqual(TABLE.map(([format]) => format).sort(), Object.keys(FORMATS).sort());
  });

  it('answers any text at once and never repeats it (property)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(FORMATS)),
        fc.string({ unit: 'binary', minLength: 8, maxLength: 300 }),
        (whyNot, text) => {
          const message = whyNot(text);
          assert.ok(message === undefined || !message.includes(text));
        },
      ),
    );
    for (const whyNot of Object.values(FORMATS)) {
      for (const unit of ['a.', '-', '::', '://@', '[', 'a:', '/.', 'https://']) {
        const started = performance.now();
        whyNot(unit.repeat(2_000));
        assert.ok(performance.now() - started < 1_000, unit);
      }
    }
  });

  it('knows what is loopback', () => {
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '::1']) assert.ok(isLoopback(host), host);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.test', 'localhost.evil.test', '']) assert.ok(!isLoopback(host), host);
  });
});
