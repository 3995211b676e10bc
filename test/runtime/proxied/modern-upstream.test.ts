import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until as untilNamed } from '../../support/e2e/until.js';
import { ALL, type Answer, answerTo, initialize, inside, LegacyClients, said, tool } from '../../support/legacy-clients.js';
import { event, type Message } from '../../support/legacy-upstream.js';
import { legacyBare, legacyCall } from '../../support/proxied-bench.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);

describe('proxied: legacy clients of a modern server', { timeout: 30_000 }, () => {
  const clients = new LegacyClients();

  for (const [asked, told] of [
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ] as const)
    it(`initialize of ${asked} is answered with ${told}, from what the server says of itself`, async () => {
      const { result } = await answerTo(clients.send(initialize(ALL, asked)));
      assert.deepEqual(result, {
        protocolVersion: told,
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        serverInfo: { name: 'modern', version: '2' },
        instructions: 'Ask twice.',
      });
    });

  it('the server is asked once whether it serves legacy revisions', async () => {
    await clients.begin();
    await clients.begin();
    assert.equal(clients.upstream.count('initialize'), 1);
  });

  for (const [name, status, body] of [
    ['-32601 with 200', 200, { error: { code: -32601, message: 'x' } }],
    ['-32020 with 400', 400, { error: { code: -32020, message: 'x' } }],
    ['a 404 without a message', 404, undefined],
    ['a 405 without a message', 405, undefined],
    ['a 400 of text', 400, 'no'],
  ] as const)
    it(`${name} to initialize is the answer of a server without legacy revisions`, async () => {
      clients.upstream.special = ({ method, id }, reply) => {
        if (method !== 'initialize') return false;
        reply.writeHead(status, { 'content-type': typeof body === 'object' ? 'application/json' : 'text/plain' });
        reply.end(typeof body === 'object' ? JSON.stringify({ jsonrpc: '2.0', id, ...body }) : (body ?? ''));
        return true;
      };
      const { result } = await answerTo(clients.send(tool(await clients.begin(), { a: 1 })));
      assert.deepEqual(result?.content, [{ type: 'text', text: '{"a":1}' }]);
    });

  it('a server of both eras keeps its own sessions, and its calls go on byte for byte', async () => {
    clients.upstream.special = ({ method, id }, reply, { headers }) => {
      if (method === 'initialize') {
        reply.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'its-own' });
        reply.end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} } }));
      } else if (headers['mcp-session-id'] === 'its-own')
        reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
      else return false;
      return true;
    };
    const call = tool(await clients.begin());
    assert.deepEqual((await answerTo(clients.send(call))).result, { content: [] });
    assert.ok(clients.upstream.seen.at(-1)?.body.equals(call.body));
  });

  it('a call gets the metadata and fields of the modern revision, and its answer loses what legacy revisions have not', async () => {
    const session = await clients.begin();
    const call = legacyCall(
      'tools/call',
      { name: 'grüße', task: { ttl: 1 }, arguments: { n: 1 }, _meta: { 'io.modelcontextprotocol/logLevel': 'debug', mine: 1 } },
      inside(session, { over: { name: 'grüße' } }),
    );
    const exact = Buffer.from(call.body.toString().replace('"n":1', '"n":12345678901234567890.10'));
    clients.upstream.special = ({ id, method }, reply) => {
      if (method !== 'tools/call') return false;
      const result = { content: [], ttlMs: 1, structuredContent: { a: 1 }, resultType: 'complete', cacheScope: 'public' };
      reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return true;
    };
    const answer = await answerTo(clients.send({ ...call, body: exact }));
    assert.deepEqual(answer, { jsonrpc: '2.0', id: 1, result: { content: [], structuredContent: { a: 1 } } });
    const { headers, body } = clients.upstream.seen.at(-1) as (typeof clients.upstream.seen)[number];
    assert.deepEqual(
      [headers['mcp-protocol-version'], headers['mcp-method'], headers['mcp-name'], headers['mcp-session-id']],
      ['2026-07-28', 'tools/call', '=?base64?Z3LDvMOfZQ==?=', undefined],
    );
    assert.match(body.toString(), /"n":12345678901234567890\.10/);
    assert.deepEqual((JSON.parse(body.toString()) as Message).params, {
      name: 'grüße',
      arguments: { n: 12345678901234567000 },
      _meta: {
        mine: 1,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'old', version: '7' },
        'io.modelcontextprotocol/clientCapabilities': ALL,
        'io.modelcontextprotocol/logLevel': 'info',
      },
    });
  });

  it('any replica with the same keys serves the session; another caller, another key and a changed id do not', async () => {
    const session = await clients.begin();
    const other = await clients.start();
    const foreign = await clients.start({}, ['other']);
    try {
      assert.deepEqual((await answerTo(other.send(tool(session)))).result?.content, [{ type: 'text', text: '{}' }]);
      assert.equal((await foreign.send(tool(session)).done).error?.code, 'SESSION_NOT_FOUND');
      assert.equal((await clients.send(tool(session, {}, { identity: { principal: 'bob' } })).done).error?.code, 'SESSION_NOT_FOUND');
      assert.equal((await clients.send(tool(`${session.slice(0, -1)}_`)).done).error?.code, 'SESSION_NOT_FOUND');
    } finally {
      await other.runtime.close(1000);
      await foreign.runtime.close(1000);
    }
  });

  it('ping and logging/setLevel are answered here, notifications end here, and the level goes with later calls', async () => {
    const session = await clients.begin();
    const before = clients.upstream.seen.length;
    assert.deepEqual((await answerTo(clients.send(legacyCall('ping', {}, inside(session))))).result, {});
    assert.deepEqual((await answerTo(clients.send(legacyCall('logging/setLevel', { level: 'error' }, inside(session))))).result, {});
    assert.equal(
      (await clients.send(legacyCall('logging/setLevel', { level: 'loud' }, inside(session))).done).error?.code,
      'INVALID_ARGUMENTS',
    );
    const notified = legacyCall('notifications/initialized', {}, inside(session, { over: { kind: 'notification', id: undefined } }));
    assert.equal((await clients.send(notified).done).status, 202);
    assert.equal(clients.upstream.seen.length, before);
    await clients.send(tool(session)).done;
    const meta = clients.upstream.messages('tools/call')[0]?.params?._meta as Record<string, unknown>;
    assert.equal(meta['io.modelcontextprotocol/logLevel'], 'error');
  });

  it('methods of the modern revision are not there', async () => {
    const session = await clients.begin();
    for (const method of ['server/discover', 'subscriptions/listen', 'tasks/get'])
      assert.equal((await clients.send(legacyCall(method, {}, inside(session))).done).error?.code, 'METHOD_NOT_FOUND');
  });

  it('DELETE ends the session here: its streams end, its id is unknown, and the server is asked nothing', async () => {
    const session = await clients.begin();
    const stream = clients.send(legacyBare('get_stream', inside(session)));
    await until(() => clients.upstream.streams.size === 1);
    const before = clients.upstream.seen.length;
    assert.equal((await clients.send(legacyBare('session_end', inside(session))).done).status, 200);
    await stream.done;
    await until(() => clients.upstream.streams.size === 0);
    assert.equal((await clients.send(tool(session)).done).error?.code, 'SESSION_NOT_FOUND');
    assert.equal(clients.upstream.seen.length, before);
  });

  it('a client that cancels, or leaves, ends the request at the server', async () => {
    const session = await clients.begin();
    let closed = 0;
    clients.upstream.special = ({ method }, reply) => {
      if (method !== 'tools/call') return false;
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      reply.on('close', () => (closed += 1));
      return true;
    };
    const cancelled = clients.send(tool(session));
    await until(() => clients.upstream.count('tools/call') === 1);
    const over = { kind: 'notification', id: undefined } as const;
    clients.send(legacyCall('notifications/cancelled', { requestId: 1 }, inside(session, { over })));
    await cancelled.done;
    await until(() => closed === 1);
    const left = clients.send(tool(session));
    await until(() => clients.upstream.count('tools/call') === 2);
    left.cancel('client');
    await until(() => closed === 2);
    assert.equal(clients.upstream.count('notifications/cancelled'), 0);
  });

  it('progress and log messages come on the stream of their call, with the token of the client', async () => {
    const session = await clients.begin();
    clients.upstream.special = ({ method, id, params }, reply) => {
      if (method !== 'tools/call') return false;
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      const { progressToken } = (params as { readonly _meta: { readonly progressToken: number } })._meta;
      event(reply, { method: 'notifications/progress', params: { progressToken, progress: 1 } });
      event(reply, { method: 'notifications/message', params: { level: 'info', data: 'hello' } });
      event(reply, { id, result: { resultType: 'complete', content: [] } });
      reply.end();
      return true;
    };
    const call = legacyCall(
      'tools/call',
      { name: 'echo', _meta: { progressToken: 'a' } },
      inside(session, { over: { name: 'echo', progress_token: '"a"' } }),
    );
    const exchange = clients.send(call);
    await exchange.done;
    assert.deepEqual(
      said(exchange).map(({ method, params, result }) => [method, params ?? result]),
      [
        ['notifications/progress', { progressToken: 'a', progress: 1 }],
        ['notifications/message', { level: 'info', data: 'hello' }],
        [undefined, { content: [] }],
      ],
    );
  });

  for (const [method, code, told, status, data] of [
    ['tools/call', -32021, -32603, 400, { requiredCapabilities: { roots: {} } }],
    ['tools/call', -32601, -32601, 404, undefined],
    ['resources/read', -32602, -32002, 200, { uri: 'x://1' }],
    ['resources/read', -32602, -32602, 200, { uri: 'x://other' }],
    ['resources/read', -32602, -32602, 200, { uri: 5 }],
    ['resources/read', -32602, -32602, 200, undefined],
  ] as const)
    it(`${code} to ${method} (${JSON.stringify(data)}) is told as ${told}, with HTTP 200`, async () => {
      const session = await clients.begin();
      clients.upstream.special = ({ method: asked, id }, reply) => {
        if (asked !== method) return false;
        const error = { code, message: 'no', data };
        reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        return true;
      };
      const params = method === 'tools/call' ? { name: 'echo' } : { uri: 'x://1' };
      const over = { name: method === 'tools/call' ? 'echo' : 'x://1' };
      const answer = await clients.send(legacyCall(method, params, inside(session, { over }))).done;
      const { error } = JSON.parse(answer.body.toString()) as Answer;
      assert.deepEqual([answer.status, error], [200, { code: told, message: 'no', ...(data === undefined ? {} : { data }) }]);
    });

  it('a resource that the server names with other escapes is the one that was asked for', async () => {
    const session = await clients.begin();
    clients.upstream.special = ({ method, id }, reply) => {
      if (method !== 'resources/read') return false;
      const error = String.raw`{"code":-32602,"message":"no","data":{"uri":"x:\/\/gr\u00fc\u00DFe"}}`;
      reply.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},"error":${error}}`);
      return true;
    };
    const read = legacyCall('resources/read', { uri: 'x://grüße' }, inside(session, { over: { name: 'x://grüße' } }));
    assert.equal((await answerTo(clients.send(read))).error?.code, -32002);
  });

  it('a server that goes back to legacy revisions ends the session at the first call, and the next is its own', async () => {
    const session = await clients.begin();
    clients.upstream.special = ({ id, method }, reply, { headers }) => {
      const tell = (status: number, answer: object, fields = {}): true => {
        reply.writeHead(status, { 'content-type': 'application/json', ...fields }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
        return true;
      };
      if (method === 'initialize') return tell(200, { result: { protocolVersion: '2025-11-25' } }, { 'mcp-session-id': 'its-own' });
      if (headers['mcp-session-id'] === 'its-own') return tell(200, { result: { content: [] } });
      return tell(400, { error: { code: -32000, message: 'Bad Request: No valid session ID provided' } });
    };
    assert.equal((await answerTo(clients.send(tool(session)))).error?.code, -32000);
    await until(() => clients.bench.runtime.era.verdict === 'legacy');
    assert.equal((await clients.send(tool(session)).done).error?.code, 'SESSION_NOT_FOUND');
    assert.deepEqual((await answerTo(clients.send(tool(await clients.begin())))).result, { content: [] });
  });

  it('a client without a session is served as one that said nothing of itself', async () => {
    await clients.begin();
    assert.deepEqual((await answerTo(clients.send(tool('', {}, { headers: { 'Mcp-Session-Id': [] } })))).result?.content, [
      { type: 'text', text: '{}' },
    ]);
  });

  it('protocol: modern serves legacy clients without asking, and a legacy server not at all', async () => {
    const pinned = await clients.start({ protocol: 'modern' });
    try {
      const session = await clients.begin(initialize(), pinned);
      assert.deepEqual((await answerTo(pinned.send(tool(session)))).result?.content, [{ type: 'text', text: '{}' }]);
      assert.equal(clients.upstream.count('initialize'), 0);
      clients.upstream.special = ({ id }, reply) => {
        reply.writeHead(400, { 'content-type': 'application/json' });
        reply.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
        return true;
      };
      assert.equal((await pinned.send(initialize()).done).error?.code, 'ERA_UNAVAILABLE');
    } finally {
      await pinned.runtime.close(1000);
    }
  });
});
