import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ConnectOptions, connect } from '../../src/client.js';
import { failure, until, within } from '../support/client-bench.js';
import { ANSWERED, type Json, modern, sendEvents, sendJson, startAnswers } from '../support/mcp-answers.js';

describe('a client of a modern server', () => {
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

  it('takes an answer whose id is the string of its own, and JSON behind a byte order mark', async () => {
    const bom = '\ufeff';
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'hé' }] };
    const reply = modern((message, _request, response) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result });
      const spelt = JSON.stringify({ jsonrpc: '2.0', id: String(message.id), result });
      const json = (body: string) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      const events = (body: string) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
      switch (message.params?.name) {
        case 'json':
          json(spelt);
          return ANSWERED;
        case 'marked':
          json(`${bom}${text}`);
          return ANSWERED;
        case 'event':
          events(`data: ${spelt}\n\n`);
          return ANSWERED;
        case 'marked events':
          events(`${bom}data: ${bom}${text}\n\n`);
          return ANSWERED;
        case 'refused':
          response.writeHead(403).end(`${bom}{"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"not yours"}}`);
          return ANSWERED;
        case 'lines':
          events(`${'data:\n'.repeat(4096)}data: ${text}\n\n`);
          return ANSWERED;
        default:
          return undefined;
      }
    });
    const server = await startAnswers(reply);
    const client = await connect({ http: `${server.url}/mcp` });
    for (const name of ['json', 'marked', 'event', 'marked events'])
      assert.deepEqual((await client.callTool(name)).content, result.content, name);
    assert.match((await failure(client.callTool('refused'))).message, /not yours/);
    assert.equal((await failure(client.callTool('lines'))).code, 'TOO_LARGE');
    await client.close();
    await server.close();
  });
});
