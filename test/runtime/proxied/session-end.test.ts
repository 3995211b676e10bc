import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { fields, idle, legacyBare, legacyCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

const json = { 'Content-Type': 'application/json' };
const ok = '{"jsonrpc":"2.0","id":1,"result":{}}';

/** What GET, POST and DELETE are answered, and whether the session lives after it. */
describe('proxied: the end of a legacy session', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  const answers = new Map<string, Answering>();
  const plain =
    (status: number, headers: Record<string, string> = {}, body = ''): Answering =>
    (_request, response) =>
      void response.writeHead(status, headers).end(body);
  const stream: Answering = (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();

  before(async () => {
    upstream = await startUpstream((request, response, raw) => answers.get(request.method)?.(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp`);
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  let sessions = 0;
  /** A session with its GET stream open. */
  const begin = async (): Promise<{ readonly headers: { readonly 'Mcp-Session-Id': string }; readonly get: FakeExchange }> => {
    answers.set('POST', plain(200, { ...json, 'Mcp-Session-Id': `up-${++sessions}` }, ok));
    answers.set('GET', stream);
    const { headers: given } = await bench.send(legacyCall('initialize')).done;
    const headers = { 'Mcp-Session-Id': fields(given)['mcp-session-id'] ?? '' };
    const get = bench.send(legacyBare('get_stream', { headers }));
    assert.equal((await get.head).status, 200);
    return { headers, get };
  };
  const ended = async (get: FakeExchange, count: number): Promise<void> => {
    const { by, reason } = await get.done;
    assert.deepEqual([by, reason], ['events', 'source']);
    await upstream.aborted(count);
    await idle(bench.runtime);
  };
  const aborted = (): number => upstream.seen.filter((entry) => entry.aborted).length;

  const gone = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}';
  const ends: readonly (readonly [string, 'session_end' | 'request' | 'notification' | 'response', Answering])[] = [
    ['DELETE 200', 'session_end', plain(200)],
    ['DELETE 202', 'session_end', plain(202)],
    ['DELETE 204', 'session_end', plain(204)],
    ['DELETE 404', 'session_end', plain(404)],
    ['DELETE 404 in JSON-RPC', 'session_end', plain(404, json, gone)],
    ['a request 404', 'request', plain(404, { 'Content-Type': 'text/plain' }, 'no')],
    ['a request 404 in JSON-RPC', 'request', plain(404, json, gone)],
    ['a notification 404', 'notification', plain(404)],
    ['a response 404 in JSON-RPC', 'response', plain(404, json, gone)],
  ];
  for (const [name, kind, answer] of ends) {
    it(`${name} ends the streams of its session, and of no other`, async () => {
      const one = await begin();
      const other = await begin();
      const second = bench.send(legacyBare('get_stream', { headers: one.headers }));
      await second.head;
      const count = aborted();
      answers.set(kind === 'session_end' ? 'DELETE' : 'POST', answer);
      const { headers } = one;
      const over = { kind, id: kind === 'request' ? '1' : undefined } as const;
      await bench.send(kind === 'session_end' ? legacyBare(kind, { headers }) : legacyCall('tools/list', {}, { headers, over })).done;
      await Promise.all([one.get.done, second.done]);
      assert.equal(other.get.ended, false);
      other.get.cancel('client');
      await ended(one.get, count + 3);
    });
  }

  it('a GET that waits for the upstream is told that the session has ended', async () => {
    const { headers, get } = await begin();
    let asked = (): void => undefined;
    const waits = new Promise<void>((resolve) => (asked = resolve));
    answers.set('GET', () => asked());
    const late = bench.send(legacyBare('get_stream', { headers }));
    await waits;
    answers.set('DELETE', plain(200));
    await bench.send(legacyBare('session_end', { headers })).done;
    assert.equal((await late.done).error?.code, 'SESSION_NOT_FOUND');
    assert.equal((await get.done).reason, 'source');
    await idle(bench.runtime);
  });

  const goesOn: readonly (readonly [string, 'session_end' | 'request', Answering])[] = [
    ['DELETE 405', 'session_end', plain(405)],
    ['DELETE 501', 'session_end', plain(501)],
    ['DELETE 500', 'session_end', plain(500)],
    ['a request 200', 'request', plain(200, json, ok)],
    ['a request 400', 'request', plain(400)],
    ['a request 500', 'request', plain(500)],
    [
      'a method that a server of both eras does not have',
      'request',
      plain(404, json, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":""}}'),
    ],
  ];
  it('any other answer leaves the session and its stream as they are', async () => {
    const { headers, get } = await begin();
    for (const [name, kind, answer] of goesOn) {
      answers.set(kind === 'session_end' ? 'DELETE' : 'POST', answer);
      await bench.send(kind === 'session_end' ? legacyBare(kind, { headers }) : legacyCall('tools/list', {}, { headers })).done;
      assert.equal(get.ended, false, name);
    }
    get.cancel('client');
    await idle(bench.runtime);
  });

  it('a GET that the upstream does not have, as its framework says it, is 405 with Allow, and the session goes on', async () => {
    const { headers, get } = await begin();
    for (const own of [headers, {}]) {
      for (const status of [404, 405, 501]) {
        for (const [type, body] of [
          ['text/html', '<p>'],
          ['application/json', gone],
          ['application/json', '{"detail":"Not Found"}'],
        ] as const) {
          answers.set('GET', plain(status, { 'Content-Type': type }, body));
          const result = await bench.send(legacyBare('get_stream', { headers: own })).done;
          assert.deepEqual([result.status, fields(result.headers).allow], [405, 'POST'], `${status} ${body}`);
          assert.equal(result.body.includes('"id"'), false);
        }
      }
    }
    answers.set('GET', plain(404, { Allow: 'POST, DELETE', 'Content-Encoding': 'gzip' }, 'x'));
    assert.equal(fields((await bench.send(legacyBare('get_stream', { headers })).done).headers).allow, 'POST, DELETE');
    answers.set('POST', plain(200, json, ok));
    assert.equal((await bench.send(legacyCall('tools/list', {}, { headers })).done).status, 200);
    assert.equal(get.ended, false);
    get.cancel('client');
  });

  it('501 is 405 to DELETE, and no answer of an MCP server to POST', async () => {
    const { headers, get } = await begin();
    for (const method of ['DELETE', 'POST']) answers.set(method, plain(501));
    const end = await bench.send(legacyBare('session_end', { headers })).done;
    assert.deepEqual([end.status, end.error?.code, fields(end.headers).allow], [405, 'UPSTREAM_ANSWER', 'POST']);
    const post = await bench.send(legacyCall('tools/list', {}, { headers })).done;
    assert.deepEqual([post.status, post.error?.code], [502, 'UPSTREAM_BROKEN']);
    get.cancel('client');
    await idle(bench.runtime);
  });
});
