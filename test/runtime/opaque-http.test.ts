import assert from 'node:assert/strict';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Identity } from '../../src/contract/identity.js';
import type { HttpRuntime } from '../../src/contract/runtime.js';
import { createOpaqueHttp, type OpaqueHttpOptions } from '../../src/runtime/opaque-http.js';
import { makeHead, makeLog, type TestLog } from '../../src/testing.js';
import { issue } from '../gates/mtls/certificates.js';
import { createTold, delay, realClock, type Told } from '../support/proxied-bench.js';
import { type Answering, closeServer, listen, startUpstream, type Upstream } from '../support/upstream.js';

interface Front {
  readonly runtime: HttpRuntime;
  readonly port: number;
  readonly log: TestLog;
  readonly told: Told;
  close(): Promise<void>;
}

/** A server that hands every request to the runtime, as the listener does behind its gates. */
async function openFront(url: string, options: Partial<OpaqueHttpOptions> = {}, identity?: Identity): Promise<Front> {
  const log = makeLog();
  const told = createTold();
  const runtime = createOpaqueHttp({ name: 'console', url, ...options }, { log, clock: realClock, telemetry: told.telemetry });
  await runtime.start(new AbortController().signal);
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    response.setHeader('x-request-id', 'r1');
    const head = makeHead({ id: 'r1', method: request.method ?? '', path, query, headers: { host: request.headers.host ?? '' } });
    runtime.serve(request, response, { head, identity, facts: {}, prefix: '/console' });
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('error', () => {})));
  const port = await listen(server);
  return {
    runtime,
    port,
    log,
    told,
    async close() {
      await runtime.close(500);
      await closeServer(server, sockets);
    },
  };
}

interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function get(
  port: number,
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', path, method: init.method ?? 'GET', headers: init.headers ?? {}, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(init.body);
  });
}

const code = (got: Got): string => `${got.status} ${(JSON.parse(got.body) as { error: { data: { code: string } } }).error.data.code}`;

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

  it('B70 B16 the upstream sees its own Host, what the gateway knows of the client, and no credential', async () => {
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

  it('B60 no spelling leaves the base path: 404, and the upstream sees nothing', async () => {
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

  it('B69 redirects: inside the mount relayed, out of it 502, never followed', async () => {
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

  it('an answer that is cut after its head is cut for the client', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '10' }).write('abc');
      setTimeout(() => response.destroy(), 20);
    };
    await assert.rejects(get(front.port, '/console/x'));
  });

  it('B01 the head of a quiet stream is there before its first byte, and a quiet stream is not cut', async () => {
    let quiet: Parameters<Answering>[1] | undefined;
    answer = (_request, response) => {
      quiet = response;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    };
    const request = httpRequest({ port: front.port, host: '127.0.0.1', path: '/console/events', agent: false });
    const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve).end());
    assert.equal(response.headers['content-type'], 'text/event-stream');
    await delay(1700);
    quiet?.end('data: x\n\n');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    assert.equal(Buffer.concat(chunks).toString(), 'data: x\n\n');
  });

  it('an event stream opened under an identity ends whole when the identity does, and the upstream is let go; other answers go on', async () => {
    const expires_at_ms = Date.now() + 400;
    const own = await openFront(upstream.url, {}, { principal: 'a', issuer: 'b', scopes: new Set(), facts: {}, expires_at_ms });
    try {
      answer = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'Text/Event-Stream; charset=utf-8' }).flushHeaders();
        const beat = setInterval(() => response.write('data: x\n\n'), 50);
        response.on('close', () => clearInterval(beat));
      };
      const before = upstream.seen.filter((entry) => entry.aborted).length;
      const stream = await get(own.port, '/console/events');
      assert.match(stream.body, /^(?:data: x\n\n)+$/);
      assert.ok(Date.now() >= expires_at_ms);
      await upstream.aborted(before + 1);
      answer = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/zip' }).write('one');
        setTimeout(() => response.end('two'), 300);
      };
      assert.equal((await get(own.port, '/console/export')).body, 'onetwo', 'a call goes on');
    } finally {
      await own.close();
    }
  });

  it('an upstream that does not answer in time is 504', async () => {
    answer = () => {};
    assert.equal(code(await get(front.port, '/console/slow')), '504 DEADLINE');
  });

  it('B04 a client that leaves aborts the upstream, before its head and in its body', async () => {
    const leave = async (path: string, ready: () => boolean): Promise<void> => {
      const before = upstream.seen.filter((entry) => entry.aborted).length;
      const socket = connect(front.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      while (!ready()) await delay(5);
      socket.destroy();
      await upstream.aborted(before + 1);
    };
    let open = 0;
    answer = () => void (open += 1);
    const count = open;
    await leave('/console/silent', () => open > count);
    answer = (_request, response) => {
      response.writeHead(200).write('x');
      open += 1;
    };
    const now = open;
    await leave('/console/body', () => open > now);
    const lines = front.log.lines.length;
    await delay(20);
    assert.equal(front.log.lines.length, lines);
  });

  it('far more than 128 streams are open at once', async () => {
    let open = 0;
    answer = (_request, response) => {
      open += 1;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    };
    const sockets = Array.from({ length: 200 }, () => {
      const socket = connect(front.port, '127.0.0.1').on('error', () => {});
      socket.write('GET /console/events HTTP/1.1\r\nHost: x\r\n\r\n');
      return socket;
    });
    for (let i = 0; open < 200 && i < 400; i++) await delay(10);
    assert.equal(open, 200);
    for (const socket of sockets) socket.destroy();
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

describe('opaque http: upstream', () => {
  it('TLS is verified; a named authority is taken', async () => {
    const valid = {
      not_before: new Date(Date.now() - 86_400_000).toISOString(),
      not_after: new Date(Date.now() + 86_400_000).toISOString(),
    };
    const ca = await issue({ ca: true, subject: 'CN=Test CA', ...valid });
    const leaf = await issue({ issuer: ca, ip: ['127.0.0.1'], ...valid });
    const upstream = await startUpstream((_request, response) => void response.end('ok'), { key: leaf.key_pem, cert: leaf.pem });
    const closed = await openFront(upstream.url);
    assert.equal(code(await get(closed.port, '/console/x')), '502 UPSTREAM_UNREACHABLE');
    assert.equal(upstream.seen.length, 0);
    assert.equal(closed.log.lines[0]?.fields.reason, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await closed.close();
    const open = await openFront(upstream.url, { ca: ca.pem });
    assert.equal((await get(open.port, '/console/x')).body, 'ok');
    assert.equal(upstream.seen[0]?.url, '/x');
    await open.close();
    assert.equal(open.runtime.health, 'stopped');
    await upstream.close();
  });

  it('a URL with a query and header names that must not pass are refused at start', async () => {
    await assert.rejects(openFront('http://x/?a'), /runtimes\.console\.url: must not have a query/);
    await assert.rejects(
      openFront('http://x/', { request_headers: ['Authorization', 'X-Forwarded-For', 'x_y', 'x-fine'] }),
      (error: Error) => {
        assert.equal(error.message.split('\n').length, 3);
        return true;
      },
    );
  });
});
