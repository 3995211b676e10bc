import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Client, type ClientError, type ConnectOptions, connect } from '../../src/client.js';
import { makeLog } from '../../src/testing.js';
import { ANSWERED, type Heard, type Json, legacy, modern, type Reply, sendEvents, sendJson, startAnswers } from '../support/mcp-answers.js';

/** Connects to a server that answers so, for one test. */
async function within(reply: Reply, options: ConnectOptions, test: (client: Client, server: Heard) => Promise<void>): Promise<void> {
  const server = await startAnswers(reply);
  const client = await connect({ http: `${server.url}/mcp`, headers: { 'x-own': 'yes' }, bearer: 'token' }, options);
  try {
    await test(client, server);
  } finally {
    await client.close();
    await server.close();
  }
}
const failure = (promise: Promise<unknown>): Promise<ClientError> =>
  promise.then(
    () => assert.fail('it did not fail'),
    (error: ClientError) => error,
  );
const until = async (done: () => boolean): Promise<void> => {
  for (let n = 0; n < 5000 && !done(); n++) await turn();
  assert.ok(done(), String(done));
};

describe('a client of a modern server', () => {
  it('mirrors what the message says into its head, and the arguments that the tool wants mirrored', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: {
          type: 'object',
          properties: { n: { type: 'integer', 'x-mcp-header': 'N' }, on: { type: 'boolean', 'x-mcp-header': 'On' } },
        },
      },
    };
    await within(modern(undefined, [{ name: 'söme', inputSchema }]), {}, async (client, { seen }) => {
      await client.listTools();
      await client.callTool('söme', { region: ' a', deep: { n: 7, on: false } });
      await client.callTool('söme', { region: null });
      await client.readResource('x:1');
      const heads = seen.slice(-3).map(({ headers }) => headers);
      const [first, second, third] = heads;
      assert.deepEqual(
        [
          first?.['mcp-protocol-version'],
          first?.['mcp-method'],
          first?.['mcp-name'],
          first?.authorization,
          first?.['x-own'],
          first?.accept,
        ],
        ['2026-07-28', 'tools/call', '=?base64?c8O2bWU=?=', 'Bearer token', 'yes', 'application/json, text/event-stream'],
      );
      const params = (head: typeof first) => Object.entries(head ?? {}).filter(([name]) => name.startsWith('mcp-param-'));
      assert.deepEqual(params(first), [
        ['mcp-param-region', '=?base64?IGE=?='],
        ['mcp-param-n', '7'],
        ['mcp-param-on', 'false'],
      ]);
      assert.deepEqual([params(second), third?.['mcp-name']], [[], 'x:1']);
      const meta = JSON.parse(seen.at(-1)?.body.toString() ?? '').params._meta;
      assert.deepEqual(meta['io.modelcontextprotocol/clientCapabilities'], {});
      assert.equal(meta['io.modelcontextprotocol/clientInfo'].name, 'portcullis');
    });
  });

  it('drops a tool whose x-mcp-header is not valid, with a warning', async () => {
    const log = makeLog();
    const bad = { name: 'bad', inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } } };
    await within(modern(undefined, [bad, { name: 'good', inputSchema: { type: 'object' } }]), { log }, async (client) => {
      assert.deepEqual(
        (await client.listTools()).map(({ name }) => name),
        ['good'],
      );
    });
    const warned = log.lines.find(({ fields }) => fields.tool === 'bad');
    assert.deepEqual([warned?.level, warned?.message], ['warn', 'a tool was dropped: its x-mcp-header is not valid']);
    assert.deepEqual(warned?.fields.why, ['x-mcp-header "A" must be on a string, an integer or a boolean']);
  });

  it('reads the list anew when headers do not fit, and calls again, once', async () => {
    const tool = { name: 't', inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } } };
    const reply = modern(
      (message, request, response) => {
        if (message.method !== 'tools/call' || request.headers['mcp-param-a'] !== undefined) return undefined;
        sendJson(response, 400, { jsonrpc: '2.0', id: message.id, error: { code: -32020, message: 'Mcp-Param-A is missing' } });
        return ANSWERED;
      },
      [tool],
    );
    await within(reply, {}, async (client, { messages }) => {
      assert.deepEqual((await client.callTool('t', { a: 'b' })).content?.[0], { type: 'text', text: '{"a":"b"}' });
      assert.deepEqual(
        messages.map(({ method }) => method),
        ['server/discover', 'tools/call', 'tools/list', 'tools/call'],
      );
      assert.equal((await failure(client.callTool('t', {}))).rpc?.code, -32020);
    });
  });

  it('tells progress, which starts the time anew, and cancels by closing the stream', async () => {
    let say: ((message: Json) => void) | undefined;
    const reply = modern((message, _request, response) => {
      if (message.method !== 'tools/call') return undefined;
      say = sendEvents(response);
      return ANSWERED;
    });
    await within(reply, {}, async (client, server) => {
      const told: Json[] = [];
      const done = client.callTool('slow', {}, { onProgress: (progress) => told.push(progress) });
      await until(() => say !== undefined);
      const { id, params } = server.messages.at(-1);
      assert.equal(params._meta.progressToken, id);
      const progress = (progressToken: unknown, n: number) =>
        say?.({ method: 'notifications/progress', params: { progressToken, progress: n, total: 2, message: 'm' } });
      progress('other', 1);
      progress(id, 1);
      progress(id, 2);
      say?.({ id: 'other', result: {} });
      say?.({ id, result: { content: [] } });
      assert.deepEqual((await done).content, []);
      assert.deepEqual(told, [
        { progress: 1, total: 2, message: 'm' },
        { progress: 2, total: 2, message: 'm' },
      ]);
      const stop = new AbortController();
      say = undefined;
      const stopped = failure(client.callTool('slow', {}, { signal: stop.signal }));
      await until(() => say !== undefined);
      stop.abort();
      assert.equal((await stopped).code, 'CANCELLED');
      await server.aborted(1);
      assert.ok(server.messages.every(({ method }) => method !== 'notifications/cancelled'));
    });
  });

  it('answers questions by its callbacks, round by round, and gives the state back unread', async () => {
    const reply = modern((message) => {
      if (message.method !== 'tools/call') return undefined;
      const { inputResponses, requestState } = message.params;
      if (message.params.name === 'for-ever') return { result: { resultType: 'input_required', requestState: 's' } };
      if (message.params.name === 'odd') return { result: { resultType: 'odd' } };
      if (inputResponses === undefined) {
        const inputRequests = {
          name: { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object' } } },
          model: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
          roots: { method: 'roots/list' },
        };
        return { result: { resultType: 'input_required', inputRequests, requestState: 'seal' } };
      }
      return { result: { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify([requestState, inputResponses]) }] } };
    });
    const callbacks: ConnectOptions = {
      elicit: ({ message }) => ({ action: 'accept', content: { said: message } }),
      sample: () => ({ role: 'assistant' }),
      roots: () => [{ uri: 'file:///a' }],
    };
    const answers = {
      name: { action: 'accept', content: { said: 'Who?' } },
      model: { role: 'assistant' },
      roots: { roots: [{ uri: 'file:///a' }] },
    };
    await within(reply, callbacks, async (client, { messages }) => {
      const { content } = await client.callTool('ask');
      assert.deepEqual(content?.[0], { type: 'text', text: JSON.stringify(['seal', answers]) });
      const [first, second] = messages.slice(-2);
      assert.notEqual(first.id, second.id);
      assert.deepEqual(first.params._meta['io.modelcontextprotocol/clientCapabilities'], {
        elicitation: { form: {}, url: {} },
        sampling: {},
        roots: {},
      });
      const endless = await failure(client.callTool('for-ever'));
      assert.deepEqual([endless.code, endless.message], ['INPUT_REQUIRED', 'the server asked for input more than max_rounds (10) times']);
      assert.equal((await failure(client.callTool('odd'))).message, 'the result of tools/call has the unknown type "odd"');
    });
    await within(reply, {}, async (client) => {
      const error = await failure(client.callTool('ask'));
      assert.deepEqual(
        [error.code, error.message],
        ['INPUT_REQUIRED', 'the server asks for elicitation/create, which this client has no callback for'],
      );
    });
    const thrown = { ...callbacks, elicit: () => assert.fail('no') };
    await within(reply, thrown, async (client) => assert.equal((await failure(client.callTool('ask'))).code, 'CALLBACK_FAILED'));
  });

  it('asks for its token before each request; what fails there is told as that', async () => {
    const server = await startAnswers(modern());
    let calls = 0;
    const bearer = (): string => {
      calls++;
      if (calls === 3) throw new Error('the vault is shut');
      return calls === 4 ? 'a b' : `t${calls}`;
    };
    const client = await connect({ http: `${server.url}/mcp`, bearer });
    await client.callTool('echo');
    assert.deepEqual(
      server.seen.map(({ headers }) => headers.authorization),
      ['Bearer t1', 'Bearer t2'],
    );
    for (const message of ['the vault is shut', 'the bearer token has characters that no token has (RFC 6750 section 2.1)']) {
      const error = await failure(client.callTool('echo'));
      assert.deepEqual([error.code, error.message], ['CALLBACK_FAILED', `no token could be had: ${message}`]);
    }
    await client.callTool('echo');
    await client.close();
    await server.close();
  });

  it('collects pages up to its limits, and cuts nothing', async () => {
    const reply = modern((message) => {
      if (message.method !== 'prompts/list') return undefined;
      const at = Number(message.params.cursor ?? 0);
      return { result: { prompts: [{ name: `p${at}` }], ...(at < 4 ? { nextCursor: String(at + 1) } : {}) } };
    });
    await within(reply, { max_pages: 5 }, async (client) => {
      assert.deepEqual(
        (await client.listPrompts()).map(({ name }) => name),
        ['p0', 'p1', 'p2', 'p3', 'p4'],
      );
    });
    await within(reply, { max_pages: 4 }, async (client) => {
      assert.equal((await failure(client.listPrompts())).message, 'prompts/list has more than max_pages (4)');
    });
    await within(reply, { max_items: 2 }, async (client) => {
      assert.equal((await failure(client.listPrompts())).message, 'prompts/list has more than max_items (2)');
    });
    const circle = modern((message) => (message.method === 'prompts/list' ? { result: { prompts: [], nextCursor: 'x' } } : undefined));
    await within(circle, {}, async (client) => assert.equal((await failure(client.listPrompts())).code, 'PAGE_LIMIT'));
  });

  it('tells broken answers and large ones apart', async () => {
    const reply = modern((message, _request, response) => {
      switch (message.params?.name) {
        case 'large':
          return { result: { content: ['x'.repeat(2_000_000)] } };
        case 'stream':
          sendEvents(response)({ id: message.id, result: { text: 'x'.repeat(2_000_000) } });
          return ANSWERED;
        case 'cut':
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{');
          setTimeout(() => response.destroy(), 20);
          return ANSWERED;
        case 'ended':
          sendEvents(response);
          response.end();
          return ANSWERED;
        case 'other':
          sendJson(response, 200, { jsonrpc: '2.0', id: 'other', result: {} });
          return ANSWERED;
        case 'anonymous':
          sendJson(response, 200, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'who?' } });
          return ANSWERED;
        case 'neither':
          return { result: 1 };
        case 'text':
          response.writeHead(200, { 'content-type': 'application/json' }).end('<p>');
          return ANSWERED;
        case 'missing':
          sendJson(response, 404, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } });
          return ANSWERED;
        default:
          return undefined;
      }
    });
    const server = await startAnswers(reply);
    const client = await connect({ http: `${server.url}/mcp`, max_response_bytes: 1_000_000 });
    for (const [name, code] of Object.entries({
      large: 'TOO_LARGE',
      stream: 'TOO_LARGE',
      cut: 'ENDED',
      ended: 'ENDED',
      other: 'BROKEN',
      anonymous: 'RPC_ERROR',
      neither: 'BROKEN',
      text: 'BROKEN',
      missing: 'RPC_ERROR',
    })) {
      assert.equal((await failure(client.callTool(name))).code, code, name);
    }
    await client.close();
    await server.close();
  });
});

describe('a client of a legacy server', () => {
  it('keeps its session, answers its questions, and ends it', async () => {
    let say: ((message: Json) => void) | undefined;
    const reply = legacy((message, request, response) => {
      if (request.method === 'DELETE') return void response.writeHead(204).end();
      if (message.params?.name !== 'ask') return undefined;
      say = sendEvents(response);
      say({ id: 'q1', method: 'elicitation/create', params: { message: 'Who?' } });
      say({ id: 'q2', method: 'sampling/createMessage', params: {} });
      say({ id: 'q3', method: 'ping' });
      return ANSWERED;
    });
    const server = await startAnswers(reply);
    const client = await connect({ http: `${server.url}/mcp` }, { elicit: () => ({ action: 'decline' }) });
    const answer = client.callTool('ask');
    await until(() => server.messages.filter(({ method }) => method === undefined).length === 3);
    const answered = (id: string) => server.messages.find((message) => message.id === id);
    assert.deepEqual(answered('q1').result, { action: 'decline' });
    assert.deepEqual(answered('q2').error, { code: -32601, message: 'The client has no sampling/createMessage.' });
    assert.deepEqual(answered('q3').result, {});
    const call = server.messages.find((message) => message.params?.name === 'ask');
    say?.({ id: call.id, result: { content: [] } });
    await answer;
    await client.close();
    const end = server.seen.at(-1);
    assert.deepEqual([end?.method, end?.headers['mcp-session-id'], end?.headers['mcp-protocol-version']], ['DELETE', 's-1', '2025-11-25']);
    const stream = server.seen.find(({ method }) => method === 'GET');
    assert.deepEqual([stream?.headers['mcp-session-id'], stream?.headers.accept], ['s-1', 'text/event-stream']);
    await server.close();
  });

  it('begins a new session in the place of one that is gone', async () => {
    let gone = false;
    const reply = legacy((message, _request, response) => {
      if (message.method === 'initialize') gone = false;
      if (!gone || message.method !== 'tools/call') return undefined;
      sendJson(response, 404, { jsonrpc: '2.0', id: message.id, error: { code: -32001, message: 'Session not found' } });
      return ANSWERED;
    });
    await within(reply, {}, async (client, { messages }) => {
      gone = true;
      const [one, two] = await Promise.all([client.callTool('echo', { a: 1 }), client.callTool('echo', { a: 2 })]);
      assert.deepEqual(
        [one.content?.[0], two.content?.[0]],
        [
          { type: 'text', text: '{"a":1}' },
          { type: 'text', text: '{"a":2}' },
        ],
      );
      assert.equal(messages.filter(({ method }) => method === 'initialize').length, 2);
    });
  });

  it('tells a cancelled call by a message too', async () => {
    const reply = legacy((message) => (message.method === 'tools/call' ? ANSWERED : undefined));
    await within(reply, {}, async (client, { messages }) => {
      const stop = new AbortController();
      const call = failure(client.callTool('echo', {}, { signal: stop.signal }));
      await until(() => messages.at(-1).method === 'tools/call');
      stop.abort();
      assert.equal((await call).code, 'CANCELLED');
      await until(() => messages.at(-1).method === 'notifications/cancelled');
      assert.equal(messages.at(-1).params.requestId, messages.at(-2).id);
    });
  });

  it('goes on reading an answer that was cut after an event with an id', async () => {
    let call: Json;
    const reply = legacy((message, request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === 'e-1') {
        sendEvents(response)({ id: call.id, result: { content: [] } });
        return undefined;
      }
      if (message.method !== 'tools/call') return undefined;
      call = message;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: e-1\nretry: 1\ndata:\n\n');
      return ANSWERED;
    });
    await within(reply, {}, async (client) => assert.deepEqual((await client.callTool('echo')).content, []));
  });
});
