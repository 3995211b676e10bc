import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import type { ProxiedOptions } from '../../../src/runtime/proxied/proxied.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import type { FakeExchange, FakeExchangeInit } from '../../support/fake-exchange.js';
import { event, type Message } from '../../support/legacy-upstream.js';
import { type ModernUpstream, startModernUpstream } from '../../support/modern-upstream.js';
import { BRIDGE, type CallInit, fields, legacyBare, legacyCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

type Answer = Record<string, unknown> & { readonly result?: Record<string, unknown>; readonly error?: Record<string, unknown> };

describe('proxied: legacy clients of a modern server', { timeout: 30_000 }, () => {
  let upstream: ModernUpstream;
  let bench: ProxiedBench;
  const start = async (options: Partial<ProxiedOptions> = {}, keys: readonly string[] = ['k']): Promise<ProxiedBench> => {
    const opened = await openProxied(`${upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE, ...options }, { state_keys: keys });
    if (options.protocol === undefined) await until(() => opened.runtime.era.verdict !== undefined);
    return opened;
  };
  const answerTo = async (exchange: FakeExchange): Promise<Answer> => JSON.parse((await exchange.done).body.toString());
  const initialize = (capabilities: object = ALL, protocolVersion = '2025-11-25', init: CallInit = {}): Call =>
    legacyCall('initialize', { protocolVersion, capabilities, clientInfo: { name: 'old', version: '7' } }, init);
  const begin = async (call: Call = initialize(), at: ProxiedBench = bench): Promise<string> => {
    const { headers, body } = await at.send(call).done;
    const session = fields(headers)['mcp-session-id'];
    assert.ok(session !== undefined, body.toString());
    return session;
  };
  const inside = (session: string, init: CallInit = {}): CallInit => ({ ...init, headers: { 'Mcp-Session-Id': session, ...init.headers } });
  const tool = (session: string, args: object = {}, init: CallInit = {}): Call => ({
    ...legacyCall('tools/call', { name: 'echo', arguments: args, ...(init.over as { params?: object })?.params }, inside(session, init)),
    name: 'echo',
  });
  const response = (session: string, id: string, answer: object, init: CallInit = {}): Call =>
    legacyCall(
      '',
      {},
      inside(session, {
        ...init,
        over: { kind: 'response', id: JSON.stringify(id), body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, ...answer })) },
      }),
    );
  const said = (exchange: FakeExchange): readonly Answer[] =>
    exchange.writes.map((text) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null') as Answer);
  const send = (call: Call, init?: FakeExchangeInit): FakeExchange => bench.send(call, init);

  beforeEach(async () => {
    upstream = await startModernUpstream();
    bench = await start();
  });
  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  for (const [asked, told] of [
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ] as const)
    it(`initialize of ${asked} is answered with ${told}, from what the server says of itself`, async () => {
      const { result } = await answerTo(send(initialize(ALL, asked)));
      assert.deepEqual(result, {
        protocolVersion: told,
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        serverInfo: { name: 'modern', version: '2' },
        instructions: 'Ask twice.',
      });
    });

  it('the server is asked once whether it serves legacy revisions', async () => {
    await begin();
    await begin();
    assert.equal(upstream.count('initialize'), 1);
  });

  for (const [name, status, body] of [
    ['-32601 with 200', 200, { error: { code: -32601, message: 'x' } }],
    ['-32020 with 400', 400, { error: { code: -32020, message: 'x' } }],
    ['a 404 without a message', 404, undefined],
    ['a 405 without a message', 405, undefined],
    ['a 400 of text', 400, 'no'],
  ] as const)
    it(`${name} to initialize is the answer of a server without legacy revisions`, async () => {
      upstream.special = ({ method, id }, reply) => {
        if (method !== 'initialize') return false;
        reply.writeHead(status, { 'content-type': typeof body === 'object' ? 'application/json' : 'text/plain' });
        reply.end(typeof body === 'object' ? JSON.stringify({ jsonrpc: '2.0', id, ...body }) : (body ?? ''));
        return true;
      };
      const { result } = await answerTo(send(tool(await begin(), { a: 1 })));
      assert.deepEqual(result?.content, [{ type: 'text', text: '{"a":1}' }]);
    });

  it('a server of both eras keeps its own sessions, and its calls go on byte for byte', async () => {
    upstream.special = ({ method, id }, reply, { headers }) => {
      if (method === 'initialize') {
        reply.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'its-own' });
        reply.end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} } }));
      } else if (headers['mcp-session-id'] === 'its-own')
        reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
      else return false;
      return true;
    };
    const call = tool(await begin());
    assert.deepEqual((await answerTo(send(call))).result, { content: [] });
    assert.ok(upstream.seen.at(-1)?.body.equals(call.body));
  });

  it('a call gets the metadata and fields of the modern revision, and its answer loses what legacy revisions have not', async () => {
    const session = await begin();
    const call = legacyCall(
      'tools/call',
      { name: 'grüße', task: { ttl: 1 }, arguments: { n: 1 }, _meta: { 'io.modelcontextprotocol/logLevel': 'debug', mine: 1 } },
      inside(session, { over: { name: 'grüße' } }),
    );
    const exact = Buffer.from(call.body.toString().replace('"n":1', '"n":12345678901234567890.10'));
    upstream.special = ({ id, method }, reply) => {
      if (method !== 'tools/call') return false;
      const result = { content: [], ttlMs: 1, structuredContent: { a: 1 }, resultType: 'complete', cacheScope: 'public' };
      reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return true;
    };
    const answer = await answerTo(send({ ...call, body: exact }));
    assert.deepEqual(answer, { jsonrpc: '2.0', id: 1, result: { content: [], structuredContent: { a: 1 } } });
    const { headers, body } = upstream.seen.at(-1) as (typeof upstream.seen)[number];
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
    const session = await begin();
    const other = await start();
    const foreign = await start({}, ['other']);
    try {
      assert.deepEqual((await answerTo(other.send(tool(session)))).result?.content, [{ type: 'text', text: '{}' }]);
      assert.equal((await foreign.send(tool(session)).done).error?.code, 'SESSION_NOT_FOUND');
      assert.equal((await send(tool(session, {}, { identity: { principal: 'bob' } })).done).error?.code, 'SESSION_NOT_FOUND');
      assert.equal((await send(tool(`${session.slice(0, -1)}_`)).done).error?.code, 'SESSION_NOT_FOUND');
    } finally {
      await other.runtime.close(1000);
      await foreign.runtime.close(1000);
    }
  });

  it('ping and logging/setLevel are answered here, notifications end here, and the level goes with later calls', async () => {
    const session = await begin();
    const before = upstream.seen.length;
    assert.deepEqual((await answerTo(send(legacyCall('ping', {}, inside(session))))).result, {});
    assert.deepEqual((await answerTo(send(legacyCall('logging/setLevel', { level: 'error' }, inside(session))))).result, {});
    assert.equal((await send(legacyCall('logging/setLevel', { level: 'loud' }, inside(session))).done).error?.code, 'INVALID_ARGUMENTS');
    const notified = legacyCall('notifications/initialized', {}, inside(session, { over: { kind: 'notification', id: undefined } }));
    assert.equal((await send(notified).done).status, 202);
    assert.equal(upstream.seen.length, before);
    await send(tool(session)).done;
    const meta = upstream.messages('tools/call')[0]?.params?._meta as Record<string, unknown>;
    assert.equal(meta['io.modelcontextprotocol/logLevel'], 'error');
  });

  it('methods of the modern revision are not there', async () => {
    const session = await begin();
    for (const method of ['server/discover', 'subscriptions/listen', 'tasks/get'])
      assert.equal((await send(legacyCall(method, {}, inside(session))).done).error?.code, 'METHOD_NOT_FOUND');
  });

  it('DELETE ends the session here: its streams end, its id is unknown, and the server is asked nothing', async () => {
    const session = await begin();
    const stream = send(legacyBare('get_stream', inside(session)));
    await until(() => upstream.streams.size === 1);
    const before = upstream.seen.length;
    assert.equal((await send(legacyBare('session_end', inside(session))).done).status, 200);
    await stream.done;
    await until(() => upstream.streams.size === 0);
    assert.equal((await send(tool(session)).done).error?.code, 'SESSION_NOT_FOUND');
    assert.equal(upstream.seen.length, before);
  });

  it('a client that cancels, or leaves, ends the request at the server', async () => {
    const session = await begin();
    let closed = 0;
    upstream.special = ({ method }, reply) => {
      if (method !== 'tools/call') return false;
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      reply.on('close', () => (closed += 1));
      return true;
    };
    const cancelled = send(tool(session));
    await until(() => upstream.count('tools/call') === 1);
    const over = { kind: 'notification', id: undefined } as const;
    send(legacyCall('notifications/cancelled', { requestId: 1 }, inside(session, { over })));
    await cancelled.done;
    await until(() => closed === 1);
    const left = send(tool(session));
    await until(() => upstream.count('tools/call') === 2);
    left.cancel('client');
    await until(() => closed === 2);
    assert.equal(upstream.count('notifications/cancelled'), 0);
  });

  it('progress and log messages come on the stream of their call, with the token of the client', async () => {
    const session = await begin();
    upstream.special = ({ method, id, params }, reply) => {
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
    const exchange = send(call);
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
    ['resources/read', -32602, -32602, 200, undefined],
  ] as const)
    it(`${code} to ${method} (${JSON.stringify(data)}) is told as ${told}, with HTTP 200`, async () => {
      const session = await begin();
      upstream.special = ({ method: asked, id }, reply) => {
        if (asked !== method) return false;
        const error = { code, message: 'no', data };
        reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        return true;
      };
      const params = method === 'tools/call' ? { name: 'echo' } : { uri: 'x://1' };
      const over = { name: method === 'tools/call' ? 'echo' : 'x://1' };
      const answer = await send(legacyCall(method, params, inside(session, { over }))).done;
      const { error } = JSON.parse(answer.body.toString()) as Answer;
      assert.deepEqual([answer.status, error], [200, { code: told, message: 'no', ...(data === undefined ? {} : { data }) }]);
    });

  it('a list of items loses what the revision has no word for', async () => {
    const session = await begin(initialize({}, '2025-03-26'));
    upstream.special = ({ method, id }, reply) => {
      const results: Record<string, object> = {
        'tools/list': {
          tools: [
            { name: 'a', inputSchema: { type: 'object', properties: { x: { type: 'array', 'x-mcp-header': 'X' } } } },
            { name: 'b', icons: [{ src: 'i' }], outputSchema: { type: 'object' }, inputSchema: { type: 'object' } },
            { name: 'c', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } },
          ],
        },
        'tools/call': {
          content: [
            { type: 'resource_link', uri: 'x://1', name: 'x' },
            { type: 'audio', data: '', mimeType: 'audio/wav' },
          ],
          structuredContent: [1],
        },
        'prompts/get': { messages: [{ role: 'user', content: { type: 'resource_link', name: 'x', uri: 'x://2' } }] },
      };
      const result = results[method];
      if (result === undefined) return false;
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } });
      reply.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return true;
    };
    const tools = await answerTo(send(legacyCall('tools/list', {}, inside(session))));
    assert.deepEqual(tools.result, {
      tools: [
        { name: 'b', icons: [{ src: 'i' }], inputSchema: { type: 'object' } },
        { name: 'c', inputSchema: { type: 'object' } },
      ],
    });
    const called = await answerTo(send(tool(session)));
    assert.deepEqual(called.result, {
      content: [
        { type: 'text', text: 'x://1' },
        { type: 'audio', data: '', mimeType: 'audio/wav' },
      ],
    });
    const got = await answerTo(send(legacyCall('prompts/get', { name: 'p' }, inside(session, { over: { name: 'p' } }))));
    assert.deepEqual(got.result, { messages: [{ role: 'user', content: { type: 'text', text: 'x://2' } }] });
    const oldest = await begin(initialize({}, '2024-11-05'));
    const heard = await answerTo(send(tool(oldest)));
    assert.deepEqual(heard.result?.content, [
      { type: 'text', text: 'x://1' },
      { type: 'text', text: 'audio' },
    ]);
    const newer = await begin(initialize({}, '2025-06-18'));
    const structured = await answerTo(send(tool(newer)));
    assert.deepEqual(structured.result, {
      content: [
        { type: 'resource_link', uri: 'x://1', name: 'x' },
        { type: 'audio', data: '', mimeType: 'audio/wav' },
      ],
    });
  });

  it('mirrored arguments are learnt from the list, or from the refusal of a call, which is then sent once more', async () => {
    const session = await begin();
    let header = 'Region';
    upstream.special = ({ method, id, params }, reply, { headers }) => {
      const answer = (status: number, body: object): true => {
        reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
        return true;
      };
      if (method === 'tools/list') {
        const properties = { region: { type: 'string', 'x-mcp-header': header }, n: { type: 'integer', 'x-mcp-header': 'N' } };
        return answer(200, { result: { resultType: 'complete', tools: [{ name: 'echo', inputSchema: { type: 'object', properties } }] } });
      }
      if (method !== 'tools/call') return false;
      const { region } = (params as { readonly arguments: { readonly region: string } }).arguments;
      const sent = headers[`mcp-param-${header.toLowerCase()}`];
      const wanted = region === 'ü' ? '=?base64?w7w=?=' : region;
      if (sent !== wanted || headers['mcp-param-n'] !== '5') return answer(400, { error: { code: -32020, message: 'Header mismatch' } });
      return answer(200, { result: { resultType: 'complete', content: [] } });
    };
    const first = await answerTo(send(tool(session, { region: 'ü', n: 5 })));
    assert.deepEqual(first.result, { content: [] });
    assert.deepEqual([upstream.count('tools/call'), upstream.count('tools/list')], [2, 1]);
    await send(tool(session, { region: 'eu', n: 5 })).done;
    assert.equal(upstream.count('tools/call'), 3);
    header = 'Place';
    assert.deepEqual((await answerTo(send(tool(session, { region: 'eu', n: 5 })))).result, { content: [] });
    assert.deepEqual([upstream.count('tools/call'), upstream.count('tools/list')], [5, 2]);
    const wrong = await answerTo(send(tool(session, { region: 'eu', n: 6 })));
    assert.equal(wrong.error?.code, -32603);
    assert.equal(upstream.count('tools/call'), 7);
  });

  describe('questions', () => {
    const STATE = `"${'s'.repeat(8000)}\\u00fc\\u2028 \\/"`;
    const REQUESTS = {
      name: {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
      },
      dirs: { method: 'roots/list' },
      text: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } },
    };
    const asks = (requests: object | null = REQUESTS, rounds = 1): void => {
      let asked = 0;
      upstream.special = ({ method, id }, reply, { body }) => {
        if (method !== 'tools/call') return false;
        const json =
          asked++ < rounds
            ? `{"resultType":"input_required",${requests === null ? '' : `"inputRequests":${JSON.stringify(requests)},`}"requestState":${STATE}}`
            : JSON.stringify({ resultType: 'complete', content: [{ type: 'text', text: body.toString() }] });
        reply.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},"result":${json}}`);
        return true;
      };
    };
    const ask = async (
      session: string,
      init: CallInit = {},
    ): Promise<{ readonly exchange: FakeExchange; readonly asked: readonly Answer[] }> => {
      const exchange = send(tool(session, {}, init));
      await exchange.wrote(3);
      return { exchange, asked: said(exchange) };
    };

    it('each is asked on the stream of its call, and the retry carries the answers and the very state', async () => {
      const session = await begin();
      asks();
      const { exchange, asked } = await ask(session);
      assert.deepEqual(
        asked.map(({ method, params }) => ({ method, ...(params === undefined ? {} : { params }) })),
        Object.values(REQUESTS),
      );
      const answers = [{ result: { action: 'accept', content: { n: 1 } } }, { result: { roots: [] } }, { result: { role: 'assistant' } }];
      for (const [at, { id }] of asked.entries())
        assert.equal((await send(response(session, id as string, answers[at] as object)).done).status, 202);
      await exchange.done;
      assert.equal(exchange.question_count, 1);
      const { result } = said(exchange).at(-1) as { readonly result: { readonly content: readonly [{ readonly text: string }] } };
      const sent = result.content[0].text;
      assert.ok(sent.includes(`"requestState":${STATE}`));
      const { params } = JSON.parse(sent) as Message;
      assert.deepEqual(params?.inputResponses, {
        name: { action: 'accept', content: { n: 1 } },
        dirs: { roots: [] },
        text: { role: 'assistant' },
      });
    });

    it('nobody else can answer', async () => {
      const session = await begin(initialize(ALL, '2025-11-25', { identity: {} }));
      asks({ dirs: REQUESTS.dirs });
      const exchange = send(tool(session, {}, { identity: {} }));
      await exchange.wrote(1);
      const id = said(exchange)[0]?.id as string;
      const foreign = await begin(initialize(ALL, '2025-11-25', { identity: { principal: 'bob' } }));
      await send(response(foreign, id, { result: { roots: [{ uri: 'file:///bob' }] } }, { identity: { principal: 'bob' } })).done;
      await send(response(session, id, { result: { roots: [] } }, { identity: {} })).done;
      await exchange.done;
      assert.match(exchange.writes.at(-1) ?? '', /\\"roots\\":\[\]/);
    });

    it('an error of the client is a cancelled elicitation, and ends the call for the others', async () => {
      const session = await begin();
      asks({ name: REQUESTS.name });
      const first = send(tool(session));
      await first.wrote(1);
      await send(response(session, said(first)[0]?.id as string, { error: { code: -1, message: 'x' } })).done;
      await first.done;
      assert.match(first.writes.at(-1) ?? '', /\{\\"action\\":\\"cancel\\"\}/);
      asks({ text: REQUESTS.text });
      const second = send(tool(session));
      await second.wrote(1);
      await send(response(session, said(second)[0]?.id as string, { error: { code: -1, message: 'no model' } })).done;
      await second.done;
      const { error } = said(second).at(-1) as Answer;
      assert.deepEqual(error, { code: -32603, message: 'The client answered sampling/createMessage with an error. It said: no model' });
      assert.equal(upstream.count('tools/call'), 3);
    });

    it('an elicitation by URL gets an id, and its end is told', async () => {
      const session = await begin();
      asks({ go: { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://x.example/' } } });
      const exchange = send(tool(session));
      await exchange.wrote(1);
      const [question] = said(exchange);
      const { elicitationId } = (question as unknown as { readonly params: { readonly elicitationId: string } }).params;
      assert.match(elicitationId, /^[0-9a-f-]{36}$/);
      await send(response(session, question?.id as string, { result: { action: 'accept' } })).done;
      await exchange.done;
      assert.deepEqual(said(exchange)[1], { jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } });
    });

    it('what the client has not declared, or its revision has not, breaks the call and asks nobody', async () => {
      for (const [capabilities, revision, requests] of [
        [{}, '2025-11-25', { dirs: REQUESTS.dirs }],
        [ALL, '2025-03-26', { name: REQUESTS.name }],
        [ALL, '2025-06-18', { go: { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://x/' } } }],
        [ALL, '2025-11-25', { x: { method: 'tools/list' } }],
        [ALL, '2025-11-25', { x: 5 }],
      ] as const) {
        const session = await begin(initialize(capabilities, revision));
        asks(requests);
        assert.equal((await send(tool(session)).done).error?.code, 'UPSTREAM_BROKEN');
      }
    });

    it('without an event stream the client cannot be asked', async () => {
      const session = await begin();
      asks();
      assert.equal((await send(tool(session), { accepts_events: false }).done).error?.code, 'MISSING_CAPABILITY');
      const stream = send(legacyBare('get_stream', inside(session)));
      asks({ dirs: REQUESTS.dirs });
      const exchange = send(tool(session), { accepts_events: false });
      await stream.wrote(1);
      await send(response(session, said(stream)[0]?.id as string, { result: { roots: [] } })).done;
      assert.match((await exchange.done).body.toString(), /roots/);
    });

    it('a server that gives a state alone is asked again after a pause; sixteen rounds are the most', async () => {
      const session = await begin();
      asks(null, 1);
      assert.match((await send(tool(session)).done).body.toString(), /requestState/);
      asks({ dirs: REQUESTS.dirs }, 17);
      const exchange = send(tool(session));
      for (let round = 1; round <= 16; round++) {
        await exchange.wrote(round);
        await send(response(session, said(exchange).at(-1)?.id as string, { result: { roots: [] } })).done;
      }
      const { error } = await exchange.done;
      assert.equal(error?.code, 'TOO_MANY_ROUNDS');
    });
  });

  describe('the GET stream', () => {
    const WATCHED = 'x://watched';
    const subscribe = (session: string, method = 'resources/subscribe'): Call =>
      legacyCall(method, { uri: WATCHED }, inside(session, { over: { name: WATCHED } }));

    it('carries the notices of one subscription without its mark, and ends it when the client leaves', async () => {
      const session = await begin();
      const stream = send(legacyBare('get_stream', inside(session)));
      await until(() => upstream.streams.size === 1);
      upstream.tell('notifications/tools/list_changed');
      await stream.wrote(1);
      assert.deepEqual(said(stream), [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }]);
      stream.cancel('client');
      await until(() => upstream.streams.size === 0);
    });

    it('a resource that is subscribed to is taken into a new subscription before the old one ends', async () => {
      const session = await begin();
      const stream = send(legacyBare('get_stream', inside(session)));
      await until(() => upstream.streams.size === 1);
      assert.deepEqual((await answerTo(send(subscribe(session)))).result, {});
      await until(() => upstream.streams.size === 1 && upstream.count('subscriptions/listen') === 2);
      const filter = upstream.messages('subscriptions/listen')[1]?.params?.notifications as Record<string, unknown>;
      assert.deepEqual(filter.resourceSubscriptions, [WATCHED]);
      upstream.tell('notifications/resources/updated', { uri: WATCHED });
      await stream.wrote(1);
      assert.deepEqual(said(stream)[0]?.params, { uri: WATCHED });
      assert.deepEqual((await answerTo(send(subscribe(session, 'resources/unsubscribe')))).result, {});
      await until(() => upstream.count('subscriptions/listen') === 3 && upstream.streams.size === 1);
    });

    it('a resource that the server does not acknowledge is refused; without a stream it is remembered', async () => {
      const session = await begin();
      upstream.special = ({ method, id }, reply) => {
        if (method !== 'subscriptions/listen') return false;
        reply.writeHead(200, { 'content-type': 'text/event-stream' });
        const params = { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
        event(reply, { method: 'notifications/subscriptions/acknowledged', params });
        return true;
      };
      assert.deepEqual((await answerTo(send(subscribe(session)))).result, {});
      assert.equal(upstream.count('subscriptions/listen'), 0);
      send(legacyBare('get_stream', inside(session)));
      await until(() => upstream.count('subscriptions/listen') === 1);
      assert.equal((await send(subscribe(session)).done).error?.code, 'INVALID_ARGUMENTS');
    });

    it('a subscription that the server ends is opened again', async () => {
      const session = await begin();
      send(legacyBare('get_stream', inside(session)));
      await until(() => upstream.streams.size === 1);
      for (const response of upstream.streams.keys()) response.end();
      await until(() => upstream.count('subscriptions/listen') === 2);
    });
  });

  it('a client without a session is served as one that said nothing of itself', async () => {
    await begin();
    assert.deepEqual((await answerTo(send(tool('', {}, { headers: { 'Mcp-Session-Id': [] } })))).result?.content, [
      { type: 'text', text: '{}' },
    ]);
  });

  it('protocol: modern serves legacy clients without asking, and a legacy server not at all', async () => {
    const pinned = await start({ protocol: 'modern' });
    try {
      const session = await begin(initialize(), pinned);
      assert.deepEqual((await answerTo(pinned.send(tool(session)))).result?.content, [{ type: 'text', text: '{}' }]);
      assert.equal(upstream.count('initialize'), 0);
      upstream.special = ({ id }, reply) => {
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
