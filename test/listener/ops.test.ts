import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createOps, type OpsPages, type OpsView } from '../../src/listener/ops.js';

async function withOps(change: Partial<OpsView>, run: (url: string) => Promise<void>): Promise<void> {
  const view: OpsView = {
    ready: () => ({ ready: true, reason: 'serving' }),
    started: () => true,
    render: async (accept) => ({ content_type: 'text/plain; version=0.0.4; charset=utf-8', body: `# ${accept}\n` }),
    drain: () => undefined,
    ...change,
  };
  const ops = createOps({ host: '127.0.0.1', port: 0 }, view);
  try {
    await run(await ops.start());
  } finally {
    await ops.close();
  }
}

async function ask(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
}

/** Sends raw bytes and returns everything until the other side closes. */
function raw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

describe('ops listener', () => {
  it('a reload may last longer than a silent connection: gates and modules have deadlines of their own', async () => {
    let socket: Socket | undefined;
    const pages: OpsPages = { allow: {}, add: (app) => void app.addHook('onRequest', async ({ raw }) => void (socket = raw.socket)) };
    const during: (number | undefined)[] = [];
    const reload = async () => {
      during.push(socket?.timeout);
      return { restart: [] };
    };
    await withOps({ pages, reload }, async (url) => {
      assert.equal((await ask(`${url}/reload`, { method: 'POST' })).status, 200);
      assert.deepEqual(during, [0]);
      await ask(`${url}/livez`);
      assert.ok((socket?.timeout ?? 0) > 0, 'other requests have the limit');
    });
  });

  it('answers each probe with a status and a JSON body', () =>
    withOps({}, async (url) => {
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
      const expected: readonly [string, unknown][] = [
        ['/livez', { live: true }],
        ['/healthz', { live: true }],
        ['/readyz', { ready: true, reason: 'serving' }],
        ['/startupz', { started: true }],
      ];
      for (const [path, body] of expected) {
        const answer = await ask(`${url}${path}`);
        assert.deepEqual([answer.status, answer.body], [200, body], path);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assert.equal(answer.headers.get('access-control-allow-origin'), null);
        assert.equal((await ask(`${url}${path}`, { method: 'HEAD' })).status, 200);
      }
    }));

  it('says not ready while it starts or drains, with the reason, and stays live', () => {
    const state = { ready: { ready: false, reason: 'starting' }, started: false };
    return withOps({ ready: () => state.ready, started: () => state.started }, async (url) => {
      assert.deepEqual([(await ask(`${url}/readyz`)).status, (await ask(`${url}/startupz`)).status], [503, 503]);
      assert.deepEqual((await ask(`${url}/readyz`)).body, { ready: false, reason: 'starting' });
      state.started = true;
      for (const reason of ['draining', 'runtime files is stopped']) {
        state.ready = { ready: false, reason };
        const answer = await ask(`${url}/readyz`);
        assert.deepEqual([answer.status, answer.body], [503, { ready: false, reason }]);
        assert.equal((await ask(`${url}/startupz`)).status, 200);
        assert.equal((await ask(`${url}/livez`)).status, 200);
        assert.equal((await ask(`${url}/healthz`)).status, 200);
      }
    });
  });

  it('asks no probe for a Host, an Origin or a token', () =>
    withOps({}, async (url) => {
      const answer = await raw(
        url,
        'GET /readyz HTTP/1.1\r\nHost: anything.example\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n',
      );
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(await raw(url, 'GET /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/);
    }));

  it('shows the metrics in the format the scraper prefers', () =>
    withOps({}, async (url) => {
      const answer = await ask(`${url}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
      assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      assert.equal(answer.text, '# application/openmetrics-text\n');
    }));

  it('begins a drain for an operator, with or without a body, and never for a browser', () => {
    let drains = 0;
    return withOps({ drain: () => void (drains += 1) }, async (url) => {
      const accepted = await ask(`${url}/drain`, { method: 'POST' });
      assert.deepEqual([accepted.status, accepted.body, drains], [202, { draining: true }, 1]);
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      assert.equal((await ask(`${url}/drain`, { method: 'POST', headers: form, body: 'a=b' })).status, 202);
      assert.equal((await ask(`${url}/drain`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' })).status, 202);
      assert.equal(drains, 3);
      for (const headers of ['Origin: http://127.0.0.1:9090', 'Origin: null', 'Sec-Fetch-Site: same-origin']) {
        const refused = await raw(url, `POST /drain HTTP/1.1\r\nHost: x\r\n${headers}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        assert.match(refused, /^HTTP\/1\.1 403 Forbidden\r\n/);
        assert.match(refused, /\{"error":\{"code":"ORIGIN_NOT_ALLOWED","message":"A browser page may not begin a drain\."\}\}$/);
      }
      const got = await ask(`${url}/drain`);
      assert.deepEqual([got.status, got.headers.get('allow'), got.body.error.code], [405, 'POST', 'METHOD_NOT_ALLOWED']);
      assert.equal(drains, 3);
    });
  });

  it('is no part of the public listener: it has its own paths only', () =>
    withOps({}, async (url) => {
      for (const path of ['/', '/mcp', '/livez/', '/LIVEZ', '/%6civez/x', '/constructor']) {
        const answer = await ask(`${url}${path}`);
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'NO_ROUTE'], path);
      }
      assert.equal((await ask(`${url}/livez?verbose`)).status, 200);
      assert.equal((await ask(`${url}/readyz`, { method: 'POST' })).headers.get('allow'), 'GET, HEAD');
    }));

  it('shows no stack and no message of a failure', () =>
    withOps(
      {
        started: () => {
          throw new Error('10.0.0.7 refused');
        },
        render: async () => {
          throw new Error('secret');
        },
      },
      async (url) => {
        for (const path of ['/startupz', '/metrics']) {
          const answer = await ask(`${url}${path}`);
          assert.deepEqual(
            [answer.status, answer.body],
            [500, { error: { code: 'RUNTIME_FAILED', message: 'This answer could not be made; the other endpoints are not affected.' } }],
          );
        }
        assert.equal((await ask(`${url}/livez`)).status, 200);
      },
    ));

  it('bounds head and body, and answers what it cannot read as JSON', () =>
    withOps({}, async (url) => {
      const large = await ask(`${url}/drain`, { method: 'POST', body: 'x'.repeat(2_000) });
      assert.deepEqual([large.status, large.body.error.code], [413, 'BAD_REQUEST']);
      for (const bytes of ['NONSENSE\r\n\r\n', `GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`]) {
        const answer = await raw(url, bytes);
        assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
        assert.equal(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.code, 'BAD_REQUEST');
      }
    }));

  it('closes at once although a client keeps its connection', async () => {
    const started = performance.now();
    await withOps({}, async (url) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      await ask(`${url}/livez`);
    });
    assert.ok(performance.now() - started < 3_000);
  });

  it('says why it cannot bind', () =>
    withOps({}, async (url) => {
      const second = createOps(
        { host: '127.0.0.1', port: Number(new URL(url).port) },
        {
          ready: () => ({ ready: true, reason: '' }),
          started: () => true,
          render: async () => ({ content_type: '', body: '' }),
          drain: () => undefined,
        },
      );
      await assert.rejects(second.start(), { code: 'EADDRINUSE' });
      await second.close();
    }));
});
