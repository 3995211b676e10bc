import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Call, Exchange } from '../../../src/contract/runtime.js';
import { answerEmpty, type Listening, listening } from '../../support/listening.js';
import { rawExchange } from '../../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

async function ask(up: Listening, request: { method?: string; path?: string; headers?: string; body?: string }) {
  const { method = 'POST', path = '/mcp', headers = '', body = method === 'POST' ? PING : '' } = request;
  const host = headers.includes('Host:') ? '' : 'Host: a\r\n';
  const length = method === 'POST' ? `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` : '';
  const calls = up.calls.length;
  const answer = await rawExchange(
    up.port,
    [`${method} ${path} HTTP/1.1\r\n${host}Connection: close\r\n${headers}${length}\r\n${body}`],
    2000,
  );
  return { status: answer.statuses[0], text: answer.text, calls: up.calls.length - calls };
}

describe('path', () => {
  let up: Listening;
  before(async () => {
    up = await listening();
  });
  after(() => up.close());

  const spellings = [
    ['/mcp/', 404],
    ['//mcp', 404],
    ['/mcp//', 404],
    ['/%6dcp', 404],
    ['/MCP', 404],
    ['/mcp;x=1', 404],
    ['/./mcp', 404],
    ['/x/../mcp', 404],
    ['/mcp%00', 404],
    ['/mcp%2f', 404],
    ['/mcp/extra', 404],
    ['\\mcp', 400],
    ['/mcp\\', 404],
    ['/.well-known/oauth-protected-resource/../../mcp', 404],
  ] as const;
  for (const [path, status] of spellings) {
    test(`${path} is ${status}`, async () => {
      const answer = await ask(up, { path });
      assert.deepEqual([answer.status, answer.calls], [status, 0]);
      assert.match(answer.text, /connection: close/i);
    });
  }

  test('a query does not change the route', async () => {
    assert.deepEqual([(await ask(up, { path: '/mcp?x=/healthz' })).status], [200]);
  });

  test('no spelling is ever redirected', async () => {
    assert.doesNotMatch((await ask(up, { path: '/mcp/' })).text, /location:/i);
  });

  test('a method that is not served is 405 with Allow', async () => {
    const answer = await ask(up, { method: 'PUT', headers: 'Content-Length: 0\r\n' });
    assert.equal(answer.status, 405);
    assert.match(answer.text, /allow: POST, GET, DELETE/i);
  });

  test('a modern GET or DELETE is 405: the revision has neither', async () => {
    const headers = 'Accept: text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n';
    assert.equal((await ask(up, { method: 'GET', headers })).status, 405);
    assert.equal((await ask(up, { method: 'DELETE', headers })).status, 405);
  });
});

describe('Origin and Host', () => {
  let up: Listening;
  before(async () => {
    up = await listening({
      public_url: 'https://mcp.example.com',
      options: { allowed_origins: ['app.example.com', 'dev.example.com:3000', 'https://strict.example.com'], cors: true },
    });
  });
  after(() => up.close());

  const origins = [
    ['https://app.example.com', 200],
    ['https://APP.example.com:443', 200],
    ['http://app.example.com:8443', 200],
    ['https://dev.example.com:3000', 200],
    ['https://dev.example.com', 403],
    ['https://strict.example.com', 200],
    ['http://strict.example.com', 403],
    ['http://localhost:5173', 200],
    ['http://127.0.0.1:1', 200],
    ['http://[::1]:9', 200],
    ['https://mcp.example.com', 200],
    ['https://evil.test', 403],
    ['null', 403],
    ['https://app.example.com.evil.test', 403],
    ['https://user@app.example.com', 403],
    ['https://app.example.com/', 403],
    ['file://app.example.com', 403],
    ['app.example.com', 403],
    ['https://app.example.com?x', 403],
  ] as const;
  for (const [origin, status] of origins) {
    test(`Origin ${origin} is ${status}`, async () => {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const answer = await ask(up, { method, headers: `Origin: ${origin}\r\nAccept: */*\r\n` });
        assert.equal(answer.status === 403, status === 403, `${method} ${answer.text}`);
        assert.equal(answer.calls, status === 403 ? 0 : 1);
      }
    });
  }

  test('a repeated Origin is refused; an absent one is not', async () => {
    assert.equal((await ask(up, { headers: 'Origin: https://app.example.com\r\nOrigin: https://app.example.com\r\n' })).status, 403);
    assert.equal((await ask(up, {})).status, 200);
  });

  test('a preflight needs no credential and reaches no runtime', async () => {
    const asked = 'authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-session-id,last-event-id,mcp-param-region';
    const headers = `Origin: https://app.example.com\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: ${asked}\r\n`;
    const answer = await ask(up, { method: 'OPTIONS', headers });
    assert.deepEqual([answer.status, answer.calls], [204, 0]);
    assert.match(answer.text, /access-control-allow-origin: https:\/\/app\.example\.com\r\n/);
    assert.match(answer.text, /access-control-allow-methods: POST, GET, DELETE/);
    const allowed = /access-control-allow-headers: ([^\r]*)/.exec(answer.text)?.[1]?.split(', ') ?? [];
    for (const name of asked.split(',')) assert.ok(allowed.includes(name), name);
    assert.match(answer.text, /vary: Origin/);
    const denied = await ask(up, { method: 'OPTIONS', headers: headers.replace('app.', 'evil.') });
    assert.equal(denied.status, 403);
    assert.doesNotMatch(denied.text, /access-control-allow/);
  });

  test('an OPTIONS that asks for no method is no preflight and no call: 405, and nothing reaches the runtime', async () => {
    for (const headers of ['Origin: https://app.example.com\r\n', 'Mcp-Session-Id: s\r\n', '']) {
      const answer = await ask(up, { method: 'OPTIONS', headers });
      assert.deepEqual([answer.status, answer.calls], [405, 0], headers);
    }
  });

  test('refusals carry the CORS fields too', async () => {
    const answer = await ask(up, { headers: 'Origin: https://app.example.com\r\n', body: '[]' });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /access-control-allow-origin: https:\/\/app\.example\.com/);
    assert.match(answer.text, /access-control-expose-headers: WWW-Authenticate, Mcp-Session-Id/);
    const early = await ask(up, { path: '/none', headers: 'Origin: https://app.example.com\r\n' });
    assert.match(early.text, /access-control-allow-origin/);
  });

  test('Host is checked only when hosts are listed', async () => {
    const strict = await listening({ options: { allowed_hosts: ['mcp.example.com', 'dev.example.com:8080'] } });
    try {
      for (const [host, status] of [
        ['mcp.example.com', 200],
        ['MCP.example.com:9', 200],
        ['dev.example.com:8080', 200],
        ['dev.example.com', 403],
        ['evil.test', 403],
      ] as const) {
        assert.equal((await ask(strict, { headers: `Host: ${host}\r\n` })).status, status, host);
      }
      assert.equal((await ask(strict, { headers: 'Host: evil.test\r\nX-Forwarded-Host: mcp.example.com\r\n' })).status, 403);
    } finally {
      await strict.close();
    }
    const behind = await listening({ options: { allowed_hosts: ['mcp.example.com'], trusted_proxies: ['127.0.0.0/8'] } });
    assert.equal((await ask(behind, { headers: 'Host: gw.svc:8080\r\nX-Forwarded-Host: mcp.example.com\r\n' })).status, 200);
    await behind.close();
  });
});

describe('the client’s address', () => {
  const seen = async (trusted_proxies: string[], forwarded: string): Promise<string | undefined> => {
    const addresses: string[] = [];
    const handle = (call: Call, exchange: Exchange): void => {
      addresses.push(call.head.peer.client_address);
      answerEmpty(call, exchange);
    };
    const up = await listening({ options: { trusted_proxies }, handle });
    await ask(up, { headers: forwarded });
    await up.close();
    return addresses[0];
  };

  test('X-Forwarded-For is read from the right across trusted proxies only', async () => {
    assert.equal(await seen([], 'X-Forwarded-For: 9.9.9.9\r\n'), '127.0.0.1');
    assert.equal(await seen(['127.0.0.0/8'], 'X-Forwarded-For: 6.6.6.6, 9.9.9.9\r\n'), '9.9.9.9');
    assert.equal(await seen(['127.0.0.0/8', '10.0.0.0/8'], 'X-Forwarded-For: 6.6.6.6, 9.9.9.9, 10.1.1.1\r\n'), '9.9.9.9');
    assert.equal(await seen(['127.0.0.0/8'], 'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 9.9.9.9\r\n'), '9.9.9.9');
    assert.equal(await seen(['127.0.0.0/8'], 'X-Forwarded-For: ::ffff:9.9.9.9\r\n'), '9.9.9.9');
    assert.equal(await seen(['127.0.0.0/8'], 'X_Forwarded_For: 9.9.9.9\r\n'), '127.0.0.1');
  });

  test('a port beside an address is dropped, and an empty element does not count', async () => {
    const rows = [
      ['9.9.9.9:4444', '9.9.9.9'],
      ['[2001:db8::9]', '2001:db8::9'],
      ['[2001:db8::9]:443', '2001:db8::9'],
      ['6.6.6.6, 9.9.9.9:1, 127.0.0.2:2', '9.9.9.9'],
      ['9.9.9.9,', '9.9.9.9'],
      ['9.9.9.9, ,', '9.9.9.9'],
      ['', '127.0.0.1'],
    ] as const;
    for (const [value, expected] of rows) assert.equal(await seen(['127.0.0.0/8'], `X-Forwarded-For: ${value}\r\n`), expected, value);
  });

  test('an element that is no address leaves the client unknown: it is never the proxy, whom an allowlist may trust', async () => {
    for (const value of [
      'junk',
      '9.9.9.9, junk',
      '_hidden',
      '"9.9.9.9"',
      'for=9.9.9.9',
      '010.0.0.1',
      '9.9.9.9:',
      '9.9.9.9:123456',
      '[9.9.9',
    ]) {
      assert.equal(await seen(['127.0.0.0/8'], `X-Forwarded-For: ${value}\r\n`), 'unknown', value);
    }
  });
});
