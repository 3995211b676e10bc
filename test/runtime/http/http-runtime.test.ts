import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { code, type Front, get, openFront } from '../../support/http-front.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

describe('opaque http', () => {
  let upstream: Upstream;
  let front: Front;
  let answer: Answering = (_request, response) => void response.end('ok');

  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    front = await openFront(`${upstream.url}/app`, { headers: { 'X-Api-Key': 'k' }, response_timeout_ms: 1000 });
  });
  after(async () => {
    await front.close();
    await upstream.close();
  });

  it('carries a request below the base path and its answer back, bytes and coding untouched', async () => {
    const body = Buffer.from([0, 255, 10, 13, 123]);
    answer = (_request, response) =>
      void response.writeHead(201, { 'Content-Encoding': 'br', 'Content-Type': 'x/y', ETag: '"1"', 'X-Request-Id': 'u1' }).end(body);
    const got = await get(front.port, '/console/a%20b?q=%2e%2e/&&x', {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'br' },
      body,
    });
    const seen = upstream.seen.at(-1);
    assert.deepEqual([seen?.method, seen?.url, seen?.body], ['PUT', '/app/a%20b?q=%2e%2e/&&x', body]);
    assert.deepEqual(
      [
        got.status,
        got.body,
        got.headers['content-encoding'],
        got.headers.etag,
        got.headers['x-request-id'],
        got.headers['x-upstream-request-id'],
      ],
      [201, body.toString(), 'br', '"1"', 'r1', 'u1'],
    );
  });

  it('the upstream sees its own Host, what the gateway knows of the client, and no credential', async () => {
    answer = (_request, response) => void response.end();
    await get(front.port, '/console', {
      headers: {
        Host: 'mcp.example.com',
        Authorization: 'Bearer T',
        'X-Forwarded-For': '1.1.1.1',
        Connection: 'x-api-key, x-forwarded-for',
      },
    });
    assert.deepEqual(
      { ...upstream.seen.at(-1)?.headers },
      {
        host: `127.0.0.1:${upstream.port}`,
        connection: 'keep-alive',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'mcp.example.com',
        'x-forwarded-prefix': '/console',
        'x-api-key': 'k',
      },
    );
  });

  it('every method and kind of body passes: none, empty, without a type, chunked, odd types', async () => {
    answer = (request, response) => void response.end(request.body);
    const cases: [string, Record<string, string>, string | undefined][] = [
      ['POST', {}, undefined],
      ['POST', { 'Content-Length': '0' }, ''],
      ['POST', { 'Content-Length': '3' }, 'abc'],
      ['POST', { 'Transfer-Encoding': 'chunked' }, 'abc'],
      ['POST', { 'Content-Type': 'application/json', 'Content-Length': '3' }, '{"a'],
      ['PATCH', { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': '3' }, 'abc'],
      ['DELETE', { 'Content-Type': 'application/json' }, undefined],
      ['DELETE', { 'Content-Type': 'text/plain', 'Content-Length': '3' }, 'abc'],
      ['OPTIONS', {}, undefined],
      ['GET', {}, undefined],
    ];
    for (const [method, headers, body] of cases) {
      const got = await get(front.port, '/console/x', { method, headers, ...(body === undefined ? {} : { body }) });
      assert.deepEqual([got.status, got.body, upstream.seen.at(-1)?.method], [200, body ?? '', method], JSON.stringify([method, headers]));
    }
    const headed = await get(front.port, '/console/x', { method: 'HEAD' });
    assert.deepEqual([headed.status, headed.body, upstream.seen.at(-1)?.method], [200, '', 'HEAD']);
    assert.equal(code(await get(front.port, '/console/x', { method: 'PROPFIND' })), '405 METHOD_NOT_ALLOWED');
  });

  it('no spelling leaves the base path: 404, and the upstream sees nothing', async () => {
    const count = upstream.seen.length;
    for (const path of [
      '/console/../admin',
      '/console/%2e%2e/admin',
      '/console//x',
      '/console/a;b',
      '/console/a%2fb',
      '/console/a%5c..%5cb',
      '/console/%00',
      '/consolex',
      '/console/%zz',
    ]) {
      assert.equal(code(await get(front.port, path)), '404 NO_ROUTE', path);
    }
    assert.equal(upstream.seen.length, count);
    answer = (_request, response) => void response.end();
    const long = `/console/${'a'.repeat(5000)}/${'b/'.repeat(500)}`;
    assert.equal((await get(front.port, long)).status, 200);
    assert.equal(upstream.seen.at(-1)?.url, long.replace('/console', '/app'));
  });

  it('redirects: inside the mount relayed, out of it 502, never followed', async () => {
    answer = (_request, response) => void response.writeHead(302, { Location: `${upstream.url}/app/login` }).end();
    const inside = await get(front.port, '/console/x');
    assert.deepEqual([inside.status, inside.headers.location], [302, '/console/login']);
    for (const location of ['/admin', 'https://evil.test/', `${upstream.url}/admin`, '//evil.test']) {
      answer = (_request, response) => void response.writeHead(307, { Location: location }).end('secret');
      const got = await get(front.port, '/console/x', { method: 'POST', body: 'x', headers: { 'Content-Length': '1' } });
      assert.equal(code(got), '502 UPSTREAM_BROKEN', location);
      assert.equal(got.headers.location, undefined);
    }
    assert.ok(!upstream.seen.some((entry) => entry.url === '/admin' || entry.url === '/app/login'));
  });

  it('nothing is retried: neither a 503 with Retry-After nor a cut answer', async () => {
    const count = upstream.seen.length;
    answer = (_request, response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
    const busy = await get(front.port, '/console/x');
    assert.deepEqual([busy.status, busy.headers['retry-after'], upstream.seen.length], [503, '1', count + 1]);
    answer = (_request, response) => void response.destroy();
    assert.equal(code(await get(front.port, '/console/x')), '502 UPSTREAM_UNREACHABLE');
    assert.equal(upstream.seen.length, count + 2);
    assert.ok(front.told.lines.includes('answered console 5xx'));
    assert.ok(front.told.lines.includes('answered console error'));
  });

  it('Expect is not sent on', async () => {
    answer = (request, response) => void response.end(String(request.headers.expect));
    const got = await get(front.port, '/console/x', {
      method: 'POST',
      headers: { Expect: '100-continue', 'Content-Length': '1' },
      body: 'x',
    });
    assert.deepEqual([got.status, got.body], [200, 'undefined']);
  });
});
