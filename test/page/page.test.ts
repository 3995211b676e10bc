import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Explanation } from '../../src/explain/explain.js';
import type { Question } from '../../src/explain/question.js';
import { createOps } from '../../src/listener/ops.js';
import { createPage, type PageDeps, type PageOptions } from '../../src/page/page.js';
import { systemClock } from '../../src/system-clock.js';
import { until } from '../support/e2e/until.js';
import { type SendOptions, send, whole } from '../support/send.js';
import { statusWith } from '../support/status.js';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const FORM = 'application/x-www-form-urlencoded';
const ADMITTED: Explanation = {
  steps: [{ by: 'route', verdict: 'ok', code: '', milliseconds: 0 }],
  outcome: 'admitted',
  status: 0,
  code: '',
  why: 'Every gate passed.',
  remedy: '',
  headers: {},
  identity: undefined,
  facts: [],
};

async function withPage(
  change: { readonly options?: Partial<PageOptions>; readonly deps?: Partial<PageDeps> },
  run: (url: string, asked: readonly Question[]) => Promise<void>,
): Promise<void> {
  const asked: Question[] = [];
  const explain = async (question: Question): Promise<Explanation> => {
    asked.push(question);
    return ADMITTED;
  };
  const pages = createPage(
    { page: true, explain: true, allowed_hosts: [], ...change.options },
    { clock: systemClock, read: () => statusWith(), explain, ...change.deps },
  );
  const ops = createOps(
    { host: '127.0.0.1', port: 0 },
    {
      ready: () => ({ ready: true, reason: 'serving' }),
      started: () => true,
      render: async () => ({ content_type: 'text/plain', body: '' }),
      drain: () => undefined,
      pages,
    },
  );
  try {
    await run(await ops.start(), asked);
  } finally {
    await ops.close();
  }
}

const post = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): SendOptions => ({
  method: 'POST',
  headers: { 'content-type': FORM, ...headers },
  body: new URLSearchParams(fields).toString(),
});

describe('/status', () => {
  it('is a page for browsers under a strict policy, JSON for everybody else, and the same state in both', () =>
    withPage({}, async (url) => {
      const page = await whole(`${url}/status`, { headers: { accept: HTML } });
      assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
      assert.match(page.text, /^<!doctype html>\n<html lang="en">/);
      const policy = page.headers['content-security-policy'];
      assert.equal(
        policy,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      assert.deepEqual(
        ['x-content-type-options', 'x-frame-options', 'cache-control', 'referrer-policy', 'vary', 'access-control-allow-origin'].map(
          (name) => page.headers[name],
        ),
        ['nosniff', 'DENY', 'no-store', 'same-origin', 'accept', undefined],
      );
      for (const [path, headers] of [
        ['/status', {}],
        ['/status', { accept: '*/*' }],
        ['/status.json', { accept: HTML }],
      ] as const) {
        const json = await whole(`${url}${path}`, { headers });
        assert.equal(json.headers['content-type'], 'application/json; charset=utf-8');
        assert.deepEqual(JSON.parse(json.text), JSON.parse(JSON.stringify(statusWith())));
      }
      assert.equal((await whole(`${url}/status`, { method: 'HEAD' })).status, 200);
    }));

  it('its files have an ETag and are sent once', () =>
    withPage({}, async (url) => {
      for (const [path, type] of [
        ['/status.css', 'text/css; charset=utf-8'],
        ['/status.js', 'text/javascript; charset=utf-8'],
        ['/status.svg', 'image/svg+xml'],
      ] as const) {
        const first = await whole(url + path);
        assert.deepEqual([first.status, first.headers['content-type'], first.headers['cache-control']], [200, type, 'no-cache'], path);
        assert.equal(first.headers['x-content-type-options'], 'nosniff');
        const again = await whole(url + path, { headers: { 'if-none-match': first.headers.etag ?? '' } });
        assert.deepEqual([again.status, again.text], [304, '']);
      }
    }));

  it('a name that a stranger can own is not answered', () =>
    withPage({ options: { allowed_hosts: ['ops.example.com'] } }, async (url) => {
      for (const path of ['/status', '/status.json', '/status/events', '/status.js', '/status/explain']) {
        const refused = await whole(url + path, { headers: { host: 'evil.example:9090' } });
        assert.deepEqual([refused.status, JSON.parse(refused.text).error.code], [403, 'HOST_NOT_ALLOWED'], path);
      }
      assert.equal((await whole(`${url}/status`, { headers: { host: 'ops.example.com' } })).status, 200);
      assert.equal((await whole(`${url}/readyz`, { headers: { host: 'evil.example:9090' } })).status, 200);
    }));

  it('changes nothing by GET, and says which methods there are', () =>
    withPage({}, async (url, asked) => {
      assert.equal((await whole(`${url}/status/explain?route=/files/mcp&token=t`)).status, 200);
      assert.equal(asked.length, 0);
      const refused = await whole(`${url}/status`, { method: 'POST' });
      assert.deepEqual([refused.status, refused.headers.allow], [405, 'GET, HEAD']);
      assert.deepEqual((await whole(`${url}/status/explain`, { method: 'PUT' })).headers.allow, 'GET, HEAD, POST');
    }));

  it('sends events while somebody looks, to 16 at most, and ends them when the listener closes', async () => {
    let connections = 1;
    let last = '';
    await withPage({ deps: { read: () => statusWith({ connections: { idle: connections } }) } }, async (url) => {
      const watchers = await Promise.all(Array.from({ length: 16 }, () => send(`${url}/status/events`)));
      const [first] = watchers;
      assert.ok(first !== undefined);
      assert.deepEqual(
        [first.status, first.headers['content-type'], first.headers['cache-control']],
        [200, 'text/event-stream', 'no-store'],
      );
      await first.shows(/"id":"config"/);
      connections = 77;
      await first.shows(/>77</);
      const more = await whole(`${url}/status/events`);
      assert.deepEqual([more.status, JSON.parse(more.text).error.code], [503, 'OVERLOADED']);
      assert.match(more.headers['retry-after'] ?? '', /^1[0-4]$/);
      watchers[1]?.leave();
      await until('there is room again', async () => {
        const next = await send(`${url}/status/events`);
        next.leave();
        return next.status === 200;
      });
      void first.ended.then(() => (last = first.text.slice(-30)));
    });
    await until('the stream ends', () => last !== '');
    assert.match(last, /event: end\ndata: \{\}\n\n$/);
  });

  it('with page: false it is JSON for everybody', () =>
    withPage({ options: { page: false } }, async (url) => {
      assert.equal(
        (await whole(`${url}/status`, { headers: { accept: HTML } })).headers['content-type'],
        'application/json; charset=utf-8',
      );
      for (const path of ['/status/events', '/status/explain', '/status.js']) assert.equal((await whole(url + path)).status, 404, path);
    }));

  it('a state that cannot be read is 500 without a reason', () => {
    const read = () => {
      throw new Error('SECRET');
    };
    return withPage({ deps: { read } }, async (url) => {
      for (const path of ['/status', '/status.json', '/status/events']) {
        const failed = await whole(url + path);
        assert.equal(failed.status, 500, path);
        assert.doesNotMatch(failed.text, /SECRET/);
      }
    });
  });
});

describe('Explain', () => {
  it('answers a form with the page or with JSON, never stored, and never shows the token again', () =>
    withPage({}, async (url, asked) => {
      const fields = { route: '/files/mcp', token: 'THE-TOKEN', header: 'x-api-key: THE-KEY', tool: 'read' };
      const json = await whole(`${url}/status/explain`, post(fields));
      assert.deepEqual(
        [json.status, json.headers['cache-control'], JSON.parse(json.text)],
        [200, 'no-store', JSON.parse(JSON.stringify(ADMITTED))],
      );
      const page = await whole(`${url}/status/explain`, post(fields, { accept: HTML }));
      assert.deepEqual([page.status, page.headers['cache-control']], [200, 'no-store']);
      assert.match(page.text, /Admitted/);
      assert.match(page.text, /name="tool"[^>]*value="read"/);
      for (const { text } of [json, page]) assert.doesNotMatch(text, /THE-TOKEN|THE-KEY/);
      assert.deepEqual(
        asked.map(({ path, token, headers }) => [path, token, headers]),
        Array(2).fill(['/files/mcp', 'THE-TOKEN', [['x-api-key', 'THE-KEY']]]),
      );
    }));

  it('refuses pages of other origins, bodies that are no form and bodies that are too large', () =>
    withPage({}, async (url, asked) => {
      const fields = { route: '/files/mcp' };
      for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
        const refused = await whole(`${url}/status/explain`, post(fields, headers as Record<string, string>));
        assert.deepEqual([refused.status, JSON.parse(refused.text).error.code], [403, 'ORIGIN_NOT_ALLOWED']);
      }
      const other = await whole(`${url}/status/explain`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
      assert.equal(other.status, 415);
      assert.equal((await whole(`${url}/status/explain`, post({ ...fields, token: 'x'.repeat(70_000) }))).status, 413);
      const wrong = await whole(`${url}/status/explain`, post({ route: '/mcp', address: 'nowhere' }, { accept: HTML }));
      assert.equal(wrong.status, 400);
      assert.match(wrong.text, /Client address must be one IPv4 or IPv6 address/);
      assert.equal(asked.length, 0);
      const own = await whole(`${url}/status/explain`, post(fields, { origin: url, 'sec-fetch-site': 'same-origin' }));
      assert.deepEqual([own.status, asked.length], [200, 1]);
    }));

  it('is not there with explain: false', () =>
    withPage({ options: { explain: false } }, async (url, asked) => {
      assert.equal((await whole(`${url}/status/explain`, post({ route: '/mcp' }))).status, 404);
      assert.doesNotMatch((await whole(`${url}/status`, { headers: { accept: HTML } })).text, /explain-form/);
      assert.equal(asked.length, 0);
    }));
});
