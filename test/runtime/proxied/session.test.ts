import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import type { FakeAnswer } from '../../support/fake-exchange.js';
import { type CallInit, fields, legacyBare, legacyCall, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { startUpstream, type Upstream } from '../../support/upstream.js';

const ok = '{"jsonrpc":"2.0","id":1,"result":{}}';

/** One session `up-1`, as a legacy server keeps it. */
describe('proxied: legacy sessions', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let status = 200;
  const alice = { principal: 'alice', client: 'cli' };

  before(async () => {
    upstream = await startUpstream((request, response) => {
      const begins = request.body.includes('"initialize"');
      const known = begins || request.headers['mcp-session-id'] === 'up-1';
      if (!known) return void response.writeHead(404).end();
      if (request.method === 'GET')
        return void response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Mcp-Session-Id': 'up-1' }).end();
      if (request.method === 'DELETE') return void response.writeHead(status).end();
      response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 'up-1' }).end(ok);
    });
    bench = await openProxied(`${upstream.url}/mcp`);
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  const session = async (identity: CallInit['identity'] = alice, more: CallInit = {}): Promise<string> => {
    const result = await bench.send(legacyCall('initialize', {}, { identity: identity ?? {}, ...more })).done;
    return fields(result.headers)['mcp-session-id'] ?? '';
  };
  const told = (result: FakeAnswer): string => `${result.status} ${result.error?.code ?? result.by}`;
  const calls = (init: CallInit): Call[] => [
    legacyCall('tools/list', {}, init),
    legacyCall('notifications/x', {}, { ...init, over: { kind: 'notification', id: undefined } }),
    legacyCall('', {}, { ...init, over: { kind: 'response', id: '4' } }),
    legacyBare('get_stream', init),
    legacyBare('session_end', init),
  ];

  it('a client is given a sealed id and the upstream its own', async () => {
    const sealed = await session();
    assert.match(sealed, /^[\x21-\x7e]{40,}$/);
    assert.equal(sealed.includes('up-1'), false);
    const result = await bench.send(legacyCall('tools/list', {}, { identity: alice, headers: { 'Mcp-Session-Id': sealed } })).done;
    assert.equal(told(result), '200 respond');
    assert.equal(upstream.seen.at(-1)?.headers['mcp-session-id'], 'up-1');
    assert.equal(fields(result.headers)['mcp-session-id'], sealed);
  });

  it('an unknown, expired or broken id is 404 for every kind of message, before the upstream is asked', async () => {
    const count = upstream.seen.length;
    const sealed = await session();
    for (const id of ['00000000-0000-4000-8000-000000000000', 'up-1', '', `${sealed.slice(0, -1)}!`, 'x'.repeat(4097)]) {
      for (const call of calls({ identity: alice, headers: { 'Mcp-Session-Id': id } })) {
        assert.equal(told(await bench.send(call).done), '404 SESSION_NOT_FOUND', `${call.kind} ${id.slice(0, 40)}`);
      }
    }
    assert.equal(upstream.seen.length, count + 1);
  });

  it('two session headers are 400; without one the upstream decides, but a DELETE is 400', async () => {
    const sealed = await session();
    const count = upstream.seen.length;
    for (const call of calls({ identity: alice, headers: { 'Mcp-Session-Id': [sealed, sealed] } })) {
      assert.equal(told(await bench.send(call).done), '400 SESSION_REQUIRED', call.kind);
    }
    assert.equal(told(await bench.send(legacyBare('session_end', { identity: alice })).done), '400 SESSION_REQUIRED');
    assert.equal(upstream.seen.length, count);
    assert.equal(told(await bench.send(legacyCall('tools/list', {}, { identity: alice })).done), '404 UPSTREAM_ANSWER');
    assert.equal(upstream.seen.length, count + 1);
  });

  it('a session of A is unknown to B, to another client or issuer of A, to nobody, and on another route', async () => {
    const sealed = await session();
    const headers = { 'Mcp-Session-Id': sealed };
    const count = upstream.seen.length;
    const others: CallInit[] = [
      { identity: { principal: 'bob', client: 'cli' } },
      { identity: { principal: 'alice', client: 'other' } },
      { identity: { principal: 'alice', client: 'cli', issuer: 'https://other.example.com' } },
      { identity: alice, route: { path: '/beta/mcp' } },
      {},
    ];
    for (const other of others) {
      for (const call of calls({ ...other, headers })) assert.equal(told(await bench.send(call).done), '404 SESSION_NOT_FOUND');
    }
    assert.equal(upstream.seen.length, count);
    const renewed = { ...alice, scopes: new Set(['more']), expires_at_ms: 9e12 };
    assert.equal(told(await bench.send(legacyCall('tools/list', {}, { identity: renewed, headers })).done), '200 respond');
  });

  it('initialize begins anew whatever session it names, and modern calls have none', async () => {
    const result = await bench.send(legacyCall('initialize', {}, { identity: alice, headers: { 'Mcp-Session-Id': 'stale' } })).done;
    assert.equal(told(result), '200 respond');
    assert.equal(upstream.seen.at(-1)?.headers['mcp-session-id'], undefined);
    const modern = await bench.send(modernCall('tools/list', {}, { identity: alice, headers: { 'Mcp-Session-Id': 'stale' } })).done;
    assert.equal(upstream.seen.at(-1)?.headers['mcp-session-id'], undefined);
    assert.equal(told(modern), '404 UPSTREAM_ANSWER');
    const minted = await bench.send(modernCall('initialize', {}, { identity: alice })).done;
    assert.equal(fields(minted.headers)['mcp-session-id'], undefined);
  });

  it('a session that the upstream has forgotten is 404 SESSION_NOT_FOUND', async () => {
    const sealed =
      bench.seal.seal('up-2', { route: '/alpha/mcp', issuer: 'https://id.example.com', principal: 'alice', client: 'cli' }) ?? '';
    const result = await bench.send(legacyCall('tools/list', {}, { identity: alice, headers: { 'Mcp-Session-Id': sealed } })).done;
    assert.equal(told(result), '404 SESSION_NOT_FOUND');
  });

  it('DELETE relays the status, GET relays the stream', async () => {
    const headers = { 'Mcp-Session-Id': await session() };
    for (status of [200, 202, 204]) {
      const result = await bench.send(legacyBare('session_end', { identity: alice, headers })).done;
      assert.deepEqual([result.by, result.status, result.body.length], ['accept', status, 0]);
      assert.deepEqual([upstream.seen.at(-1)?.method, upstream.seen.at(-1)?.headers['content-length']], ['DELETE', undefined]);
    }
    const stream = await bench.send(legacyBare('get_stream', { identity: alice, headers })).done;
    assert.deepEqual(
      [stream.by, stream.reason, fields(stream.headers)],
      ['events', 'source', { 'mcp-session-id': headers['Mcp-Session-Id'] }],
    );
  });
});
