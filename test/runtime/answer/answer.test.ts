import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readUpstreamHead } from '../../../src/runtime/answer/answer.js';

const raw = (...fields: string[]): string[] => fields.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));

describe('upstream response headers', () => {
  it('end-to-end fields pass; hop-by-hop fields and those that Connection lists do not', () => {
    const head = readUpstreamHead(
      429,
      raw(
        ...[
          'Content-Type',
          'application/json',
          'Content-Length',
          '2',
          'Mcp-Session-Id',
          's',
          'Cache-Control',
          'no-store',
          'Retry-After',
          '3',
        ],
        ...[
          'X-Request-Id',
          'up-1',
          'Keep-Alive',
          'timeout=5',
          'Upgrade',
          'h2c',
          'Connection',
          'X-Up',
          'X-Up',
          '1',
          'Connection',
          'close, X-Two',
        ],
        ...['X-Two', '2', 'Transfer-Encoding', 'chunked', 'Trailer', 'x', 'Proxy-Authenticate', 'Basic', 'ETag', '"a"', 'X-Custom', 'é'],
      ),
      2,
    );
    assert.deepEqual(head, {
      status: 429,
      relayed: ['cache-control', 'no-store', 'retry-after', '3', 'x-upstream-request-id', 'up-1', 'etag', '"a"', 'x-custom', 'é'],
      media: 'json',
      content_type: 'application/json',
      length: 2,
      encoded: false,
      session: 's',
    });
  });

  it('credentials, challenges, addresses and origin-wide fields of the upstream stay behind', () => {
    const names = [
      ...['Location', 'Content-Location', 'Refresh', 'WWW-Authenticate', 'Authentication-Info', 'Set-Cookie', 'Server', 'X-Powered-By'],
      ...['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'X-Accel-Redirect', 'X-Accel-Buffering', 'X-Sendfile', 'Alt-Svc'],
      ...['Strict-Transport-Security', 'Clear-Site-Data', 'Service-Worker-Allowed', 'Date', 'Proxy-Connection', 'TE'],
    ];
    assert.deepEqual(readUpstreamHead(200, raw(...names.flatMap((name) => [name, 'x'])), undefined).relayed, []);
  });

  it('a media type is read whatever its case and parameters; two of them are none', () => {
    const media = (...types: string[]): string =>
      readUpstreamHead(200, raw(...types.flatMap((type) => ['content-type', type])), undefined).media;
    assert.equal(media('application/json'), 'json');
    assert.equal(media('Application/JSON ; charset=utf-8'), 'json');
    assert.equal(media('TEXT/event-stream;charset=utf-8'), 'events');
    assert.equal(media('text/html'), 'other');
    assert.equal(media('application/json-seq'), 'other');
    assert.equal(media('application/json', 'text/event-stream'), 'other');
    assert.equal(media(), 'none');
  });

  it('tells a coded body', () => {
    assert.equal(readUpstreamHead(200, raw('content-encoding', 'gzip'), undefined).encoded, true);
    assert.equal(readUpstreamHead(200, raw('content-encoding', 'Identity'), undefined).encoded, false);
    assert.equal(readUpstreamHead(200, raw('content-encoding', 'identity', 'content-encoding', 'br'), undefined).encoded, true);
  });
});
