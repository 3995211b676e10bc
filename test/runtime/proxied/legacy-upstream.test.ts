import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ProxiedOptions } from '../../../src/runtime/proxied/proxied.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { event, type LegacyUpstream, startLegacyUpstream } from '../../support/legacy-upstream.js';
import { BRIDGE, type CallInit, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);

describe('proxied: modern clients of a legacy server', () => {
  let upstream: LegacyUpstream;
  let bench: ProxiedBench;
  const open = async (options: Partial<ProxiedOptions> = {}, capabilities?: object): Promise<void> => {
    upstream = await startLegacyUpstream(capabilities);
    bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE, ...options });
  };
  const answerTo = async (exchange: FakeExchange): Promise<{ readonly result?: unknown }> =>
    JSON.parse((await exchange.done).body.toString());
  const tool = (init: CallInit = {}) => modernCall('tools/call', { name: 'echo', arguments: {} }, init);

  beforeEach(() => {
    upstream = undefined as unknown as LegacyUpstream;
  });
  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('calls, lists and discover are answered as a modern server would, over one session', async () => {
    await open();
    const discover = await answerTo(bench.send(modernCall('server/discover')));
    const list = await answerTo(bench.send(modernCall('tools/list')));
    const call = await answerTo(bench.send(tool()));
    const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'legacy', version: '1' } };
    assert.deepEqual(discover.result, {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
      _meta: serverInfo,
    });
    assert.deepEqual(list.result, {
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: serverInfo,
    });
    assert.deepEqual(call.result, { content: [{ type: 'text', text: 'echo in s1' }], resultType: 'complete', _meta: serverInfo });
    assert.deepEqual([upstream.count('initialize'), upstream.count('server/discover')], [1, 1]);
    const seen = upstream.seen.filter(({ headers }) => headers['mcp-session-id'] === 's1');
    assert.ok(seen.length >= 4);
    for (const { headers } of seen) assert.deepEqual([headers['mcp-protocol-version'], headers['mcp-method']], ['2025-11-25', undefined]);
    assert.deepEqual(bench.runtime.era.verdict, 'legacy');
    assert.equal(bench.runtime.era.leased, 1);
  });

  it('a server that lists the modern revision is never bridged, and its calls go on byte for byte', async () => {
    await open();
    upstream.special = ({ id, method }, response) => {
      const result = method === 'server/discover' ? { supportedVersions: ['2026-07-28'], capabilities: {} } : { content: [] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return true;
    };
    const call = tool();
    assert.deepEqual((await answerTo(bench.send(call))).result, { content: [] });
    assert.ok(upstream.seen.at(-1)?.body.equals(call.body));
    assert.equal(bench.runtime.era.verdict, 'modern');
  });

  for (const [name, answer] of [
    ['a result that lists legacy revisions only', [200, { result: { supportedVersions: ['2025-11-25'], capabilities: {} } }]],
    ['-32022 without the modern revision', [400, { error: { code: -32022, message: 'x', data: { supported: ['2025-11-25'] } } }]],
    ['-32602 with 200', [200, { error: { code: -32602, message: 'x' } }]],
    ['an error with id null', [400, { id: null, error: { code: -32600, message: 'x' } }]],
    ['an empty 200', [200, undefined]],
    ['a 400 of text', [400, 'Bad Request']],
    ['a 405', [405, undefined]],
  ] as const) {
    it(`${name} tells a legacy server`, async () => {
      await open({ max_event_bytes: 100_000 });
      upstream.special = ({ id, method }, response) => {
        if (method !== 'server/discover') return false;
        const [status, body] = answer;
        const type = typeof body === 'string' ? 'text/plain' : 'application/json';
        const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', id, ...body });
        response.writeHead(status, { 'content-type': type }).end(text);
        return true;
      };
      await bench.runtime.close(1000);
      bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE });
      const { result } = await answerTo(bench.send(tool()));
      assert.deepEqual((result as { resultType: string }).resultType, 'complete');
    });
  }

  for (const status of [401, 403, 429, 503, 302]) {
    it(`${status} tells nothing: the call goes on as it is, and the next one asks again`, async () => {
      await open({ protocol: 'as_is' });
      upstream.special = (_message, response) => {
        response.writeHead(status, { location: '/x' }).end();
        return true;
      };
      await bench.runtime.close(1000);
      bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE });
      await bench.send(tool()).done;
      await bench.send(tool()).done;
      assert.equal(upstream.count('initialize'), 0);
      assert.equal(upstream.count('tools/call'), 2);
      assert.ok(upstream.count('server/discover') >= 2);
      assert.equal(bench.runtime.era.verdict, undefined);
    });
  }

  it('a server that does not answer the question holds a call for probe_timeout_ms at most', async () => {
    upstream = await startLegacyUpstream();
    upstream.special = ({ id, method }, response) => {
      if (method !== 'server/discover')
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
      return true;
    };
    bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: { ...BRIDGE, probe_timeout_ms: 50 } });
    assert.deepEqual((await answerTo(bench.send(tool()))).result, {});
    assert.ok(bench.told.includes('probed alpha inconclusive'));
  });

  it('a session that the server has lost is opened again, and the call is sent once more; a second loss is an error', async () => {
    await open();
    await bench.send(tool()).done;
    upstream.sessions.clear();
    assert.deepEqual((await answerTo(bench.send(tool()))).result, {
      content: [{ type: 'text', text: 'echo in s2' }],
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'legacy', version: '1' } },
    });
    assert.equal(upstream.count('initialize'), 2);
    upstream.special = ({ method }, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(404).end();
      return true;
    };
    const before = upstream.count('tools/call');
    assert.equal((await bench.send(tool()).done).error?.code, 'UPSTREAM_BROKEN');
    assert.equal(upstream.count('tools/call'), before + 2);
    assert.ok(bench.told.includes('session alpha lost'));
  });

  it('a call of which an event was seen is not sent again', async () => {
    await open();
    upstream.special = ({ method }, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      event(response, { method: 'notifications/message', params: { level: 'info', data: 1 } });
      response.end();
      return true;
    };
    assert.equal((await bench.send(tool()).done).error?.code, 'UPSTREAM_BROKEN');
    assert.equal(upstream.count('tools/call'), 1);
  });

  it('a stream that is cut after an event id goes on where it was cut', async () => {
    await open();
    upstream.special = ({ id, method }, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 7\nretry: 1\ndata:\n\n');
      response.end();
      void until(() => upstream.streams.size > 0).then(() => {
        for (const stream of upstream.streams) event(stream, { id, result: { content: [] } }, '8');
      });
      return true;
    };
    const { result } = await answerTo(bench.send(tool()));
    assert.deepEqual((result as { content: unknown }).content, []);
    assert.equal(upstream.seen.find(({ method }) => method === 'GET')?.headers['last-event-id'], '7');
  });

  it('progress comes on the stream of its call with the client’s own token, and a client that leaves cancels', async () => {
    await open();
    const ids: unknown[] = [];
    upstream.special = ({ id, method, params }, response) => {
      if (method !== 'tools/call') return false;
      ids.push(id);
      const token = (params?._meta as { progressToken?: unknown })?.progressToken;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      event(response, { method: 'notifications/progress', params: { progressToken: token, progress: 1 } });
      return true;
    };
    const meta = { _meta: { progressToken: 'a' } };
    const exchange = bench.send(modernCall('tools/call', { name: 'echo', ...meta }, { over: { progress_token: '"a"' } }));
    await exchange.wrote(1);
    assert.match(exchange.writes[0] ?? '', /"progressToken":"a","progress":1/);
    exchange.cancel('client');
    await until(() => upstream.count('notifications/cancelled') === 1);
    assert.equal(upstream.messages('notifications/cancelled')[0]?.params?.requestId, ids[0]);
    await upstream.aborted(1);
  });

  it('subscriptions get what the server says on its GET stream', async () => {
    await open({}, { tools: { listChanged: true }, resources: { subscribe: true } });
    const listen = bench.send(
      modernCall('subscriptions/listen', { notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b'] } }),
    );
    await listen.wrote(1);
    assert.match(listen.writes[0] ?? '', /notifications\/subscriptions\/acknowledged/);
    await until(() => upstream.streams.size === 1);
    for (const stream of upstream.streams) event(stream, { method: 'notifications/resources/updated', params: { uri: 'a:b' } });
    await listen.wrote(2);
    assert.match(listen.writes[1] ?? '', /notifications\/resources\/updated/);
    assert.equal(upstream.count('resources/subscribe'), 1);
    listen.cancel('client');
    await until(() => upstream.count('resources/unsubscribe') === 1);
  });

  it('Mcp-Param fields go along, the fields of the modern revision do not', async () => {
    await open();
    await bench.send(tool({ headers: { 'Mcp-Param-Owner': 'x' } })).done;
    const seen = upstream.seen.find(({ body }) => body.includes('tools/call'));
    assert.equal(seen?.headers['mcp-param-owner'], 'x');
    assert.equal(seen?.headers['mcp-name'], undefined);
  });

  it('a question of the server to a client that cannot be asked ends its call with the reason', async () => {
    await open();
    upstream.special = ({ method }, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      event(response, { id: 'q', method: 'elicitation/create', params: { message: 'x', requestedSchema: {} } });
      return true;
    };
    assert.equal((await bench.send(tool()).done).error?.code, 'MISSING_CAPABILITY');
    assert.deepEqual(
      bench.told.filter((line) => line.startsWith('question')),
      ['question alpha elicitation/create'],
    );
  });

  it('a modern server that was replaced by a legacy one costs one error, and is bridged then', async () => {
    await open();
    let modern = true;
    upstream.special = ({ id, method }, response) => {
      if (!modern) return false;
      const result = method === 'server/discover' ? { supportedVersions: ['2026-07-28'] } : {};
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return true;
    };
    const { runtime } = bench;
    await bench.send(tool()).done;
    assert.equal(runtime.era.verdict, 'modern');
    modern = false;
    assert.equal((await bench.send(tool()).done).status, 400);
    assert.match(JSON.stringify(await answerTo(bench.send(tool()))), /echo in s1/);
    assert.equal(runtime.era.verdict, 'legacy');
    assert.ok(bench.told.includes('flipped alpha'));
  });
});
