import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gate } from '../../../gates/forward-auth/gate.js';
import type { GateDecision } from '../../../src/gate.js';
import { type HeadInit, makeContext, makeHead, makeHost, openGate, type TestHost } from '../../../src/testing.js';
import { brief } from '../../support/gate-tables.js';

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {};
const server = createServer((request, response) => answer(request, response));
let url = '';
before(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/check?via=gw`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const identity = { principal_header: 'X-User', scopes_header: 'x-scopes', groups_header: 'x-groups', client_header: 'x-client' };
const answers =
  (status: number, headers: Record<string, string | string[]> = {}, body = 'secret page') =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);

async function decide(options: object, head: HeadInit = {}, host: TestHost = makeHost()): Promise<GateDecision> {
  const opened = await openGate(gate, { url, ...options }, host);
  try {
    return await opened.decide(makeHead(head), makeContext());
  } finally {
    await opened.close?.();
    assert.equal(host.clock.pending, 0);
  }
}

const broken = '502 FORWARD_AUTH_BROKEN';
const unreachable = '503 FORWARD_AUTH_UNREACHABLE';

describe('forward-auth: answers', () => {
  const rows: readonly (readonly [name: string, answer: typeof answer, options: object, expected: string, outcome: string])[] = [
    ['200', answers(200), {}, 'pass', 'pass'],
    ['204', answers(204, {}, ''), {}, 'pass', 'pass'],
    ['200 with identity', answers(200, { 'x-user': 'alice' }), { identity }, 'forward-auth#alice', 'pass'],
    ['200 without identity', answers(200), { identity }, broken, 'broken'],
    ['200 with an empty identity', answers(200, { 'x-user': ' ' }), { identity }, broken, 'broken'],
    ['200 with a tab inside the identity', answers(200, { 'x-user': 'a\tb' }), { identity }, broken, 'broken'],
    [
      '200 with an identity of two characters at the ends of Unicode',
      answers(200, { 'x-user': '\xc2\xa0\xf4\x8f\xbf\xbd' }),
      { identity },
      'forward-auth#\u00a0\u{10fffd}',
      'pass',
    ],
    ['200 with two identities', answers(200, { 'x-user': ['alice', 'bob'] }), { identity }, broken, 'broken'],
    ['200 with two scope fields', answers(200, { 'x-user': 'a', 'x-scopes': ['a', 'b'] }), { identity }, broken, 'broken'],
    ['401', answers(401), {}, '401 FORWARD_AUTH_UNAUTHENTICATED', 'refused'],
    ['403', answers(403), {}, '403 FORWARD_AUTH_FORBIDDEN', 'refused'],
    ['a redirect', answers(302, { location: 'http://127.0.0.1/login' }), {}, broken, 'broken'],
    ['404', answers(404), {}, broken, 'broken'],
    ['407', answers(407), {}, broken, 'broken'],
    ['429', answers(429), {}, broken, 'broken'],
    ['500', answers(500), {}, broken, 'broken'],
    ['a closed connection', (request) => request.socket.destroy(), {}, unreachable, 'unreachable'],
    ['no HTTP', (request) => request.socket.end('junk\r\n\r\n'), {}, unreachable, 'unreachable'],
    [
      'an answer that is cut',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('a', () => request.socket.destroy());
      },
      {},
      unreachable,
      'unreachable',
    ],
    ['a head over 16 KiB', answers(200, { 'x-a': 'a'.repeat(17_000) }), {}, unreachable, 'unreachable'],
    ['a body of 1 MB', answers(200, {}, 'a'.repeat(1_000_000)), {}, 'pass', 'pass'],
  ];
  for (const [name, say, options, expected, outcome] of rows) {
    test(`${name}: ${expected}`, async () => {
      answer = say;
      const host = makeHost();
      assert.equal(brief(await decide(options, {}, host)), expected);
      assert.equal(host.metrics.value('forward_auth_answers_total', { gate: 'test', outcome }), 1);
      assert.ok(!JSON.stringify(host.log.lines).includes('127.0.0.1'));
    });
  }

  test('a 2xx gives exactly the configured fields', async () => {
    answer = answers(200, {
      'x-user': 'alice',
      'x-scopes': 'read, call  write',
      'x-groups': 'platform team, staff',
      'x-client': 'cli',
      'x-admin': 'true',
    });
    const decision = await decide({ identity });
    assert.deepEqual(decision, {
      kind: 'identify',
      identity: { principal: 'alice', issuer: 'forward-auth', scopes: new Set(['read', 'call', 'write']), client: 'cli' },
      facts: { groups: ['platform team', 'staff'] },
    });
  });

  test('a 403 of a service that was told what is called, and does not say who calls, is about the call', async () => {
    answer = answers(403, {});
    const about = async (options: object): Promise<unknown> => {
      const decision = await decide(options);
      return decision.kind === 'refuse' && decision.about;
    };
    assert.equal(await about({ request_headers: ['Mcp-Name'] }), 'call');
    assert.equal(await about({ request_headers: ['mcp-method', 'authorization'] }), 'call');
    assert.equal(await about({ request_headers: ['authorization'] }), undefined);
    assert.equal(await about({ request_headers: ['mcp-name'], identity }), undefined);
    answer = answers(401, {});
    assert.equal(await about({ request_headers: ['mcp-name'] }), undefined);
  });

  test('a 401 relays its challenge and nothing else', async () => {
    answer = answers(401, {
      'www-authenticate': ['Bearer realm="a"', 'Basic realm="b"'],
      'set-cookie': 'a=b',
      location: '/login',
      'x-internal': 'host-7',
    });
    assert.deepEqual(await decide({}), {
      kind: 'refuse',
      status: 401,
      code: 'FORWARD_AUTH_UNAUTHENTICATED',
      message: 'The request needs a valid credential.',
      headers: { 'www-authenticate': ['Bearer realm="a"', 'Basic realm="b"'] },
    });
  });

  test('nobody there is 503; the gateway adds Retry-After', async () => {
    const decision = await decide({ url: 'http://127.0.0.1:1/' });
    assert.equal(brief(decision), unreachable);
    assert.equal(decision.kind === 'refuse' && decision.headers, undefined);
  });
});

describe('forward-auth: questions', () => {
  test('are the head, by allowlist', async () => {
    let seen: IncomingMessage | undefined;
    answer = (request, response) => {
      seen = request;
      response.end();
    };
    await decide(
      { request_headers: ['Authorization', 'x-absent'], headers: { 'X-Gateway': 'me' } },
      {
        id: 'r1',
        path: '/mcp',
        query: 'a=b',
        peer: { address: '10.0.0.1', client_address: '192.0.2.7' },
        headers: {
          Authorization: 'Bearer t',
          Cookie: 'c=1',
          'X-Forwarded-Uri': '/healthz',
          'Content-Length': '5',
          'Transfer-Encoding': 'chunked',
          Host: 'evil',
        },
      },
    );
    const { host, connection, ...headers } = seen?.headers ?? {};
    assert.equal(host, new URL(url).host);
    assert.equal(connection, 'keep-alive');
    assert.deepEqual([seen?.method, seen?.url], ['GET', '/check?via=gw']);
    assert.deepEqual(headers, {
      authorization: 'Bearer t',
      'x-gateway': 'me',
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-host': 'mcp.example.com',
      'x-forwarded-method': 'POST',
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/mcp?a=b',
      'x-request-id': 'r1',
    });
  });

  test('are not asked with a deciding header twice', async () => {
    answer = answers(200);
    assert.equal(brief(await decide({}, { headers: { authorization: ['Bearer a', 'Bearer b'] } })), '400 FORWARD_AUTH_HEADER_REPEATED');
  });

  test('end at timeout_ms, while the head is awaited and while the body is', async () => {
    for (const say of [() => {}, (_: IncomingMessage, response: ServerResponse) => void response.writeHead(200).write('a')]) {
      const host = makeHost();
      const opened = await openGate(gate, { url, timeout_ms: 500 }, host);
      const arrived = new Promise<void>((resolve) => {
        answer = (request, response) => {
          say(request, response);
          resolve();
        };
      });
      const decision = opened.decide(makeHead(), makeContext());
      await arrived;
      host.clock.advance(499);
      assert.equal(host.clock.pending, 1);
      host.clock.advance(1);
      assert.equal(brief(await decision), unreachable);
      await opened.close?.();
    }
  });

  test('end when the chain aborts, uncounted', async () => {
    const host = makeHost();
    const opened = await openGate(gate, { url }, host);
    const gone = new AbortController();
    const cut = new Promise<void>((resolve) => {
      answer = (request) => {
        request.on('close', resolve);
        gone.abort();
      };
    });
    assert.equal(brief(await opened.decide(makeHead(), makeContext({ signal: gone.signal }))), unreachable);
    await cut;
    assert.deepEqual(host.log.lines, []);
    assert.equal(host.metrics.value('forward_auth_answers_total', { gate: 'test', outcome: 'unreachable' }), 0);
    await opened.close?.();
  });

  test('are at most 1 024 at a time', async () => {
    const host = makeHost();
    const opened = await openGate(gate, { url, max_connections: 1 }, host);
    answer = () => {};
    const open = Array.from({ length: 1_024 }, () => opened.decide(makeHead(), makeContext()));
    assert.equal(brief((await opened.decide(makeHead(), makeContext())) as GateDecision), unreachable);
    await opened.close?.();
    assert.deepEqual(new Set((await Promise.all(open)).map(brief)), new Set([unreachable]));
    assert.equal(host.clock.pending, 0);
  });

  test('over plaintext beyond loopback are warned about', async () => {
    const host = makeHost();
    await (await openGate(gate, { url: 'http://auth.internal/' }, host)).close?.();
    assert.deepEqual(
      host.log.lines.map((line) => line.level),
      ['warn'],
    );
  });
});
