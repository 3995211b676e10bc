// Requests of a server: each gets an answer, whatever it asks and whenever, also before it has answered our own handshake.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Callbacks, connect } from '../../src/client.js';
import { within } from '../support/client-bench.js';
import { until } from '../support/e2e/until.js';
import { ANSWERED, type Json, legacy, modern, sendEvents, sendJson, startAnswers } from '../support/mcp-answers.js';
import { repositoryPath } from '../support/repository.js';

const ALL: Callbacks = {
  roots: () => [{ uri: 'file:///a' }],
  elicit: () => ({ action: 'decline' }),
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'm' }),
};
/** What is asked, with what a client answers that has every callback, and one that has none. */
const QUESTIONS: readonly (readonly [method: string, withAll: unknown, withNone: unknown])[] = [
  ['ping', {}, {}],
  ['roots/list', { roots: [{ uri: 'file:///a' }] }, -32601],
  ['elicitation/create', { action: 'decline' }, -32601],
  ['sampling/createMessage', { role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'm' }, -32601],
  ['vendor/unknown', -32601, -32601],
  ['toString', -32601, -32601],
];
const METHODS = QUESTIONS.map(([method]) => method);
const wanted = (callbacks: Callbacks) => QUESTIONS.map(([, all, none]) => (callbacks === ALL ? all : none));
const said = (answers: ReadonlyMap<unknown, Json>) =>
  METHODS.map((method) => answers.get(`q ${method}`)?.result ?? answers.get(`q ${method}`)?.error?.code);

for (const [who, callbacks] of [
  ['with every callback', ALL],
  ['without callbacks', {}],
] as const)
  describe(`a client ${who} answers each request of the server`, () => {
    for (const stage of ['server/discover', 'initialize', 'tools/list', 'tools/call'])
      it(`on the event stream of its ${stage}, which is answered only then`, async () => {
        const answers = new Map<unknown, Json>();
        let answer = (): void => undefined;
        const server = await startAnswers(
          legacy((message, request, response) => {
            if (message.method === undefined && request.method === 'POST') {
              // Like servers with sessions: what names none is no answer.
              if (stage !== 'server/discover' && request.headers['mcp-session-id'] !== 's-1') return void sendJson(response, 400, {});
              answers.set(message.id, message);
              response.writeHead(202).end();
              if (answers.size === METHODS.length) answer();
              return ANSWERED;
            }
            if (message.method !== stage) return undefined;
            response.writeHead(200, {
              'content-type': 'text/event-stream',
              ...(stage === 'initialize' ? { 'mcp-session-id': 's-1' } : {}),
            });
            const say = (body: Json): void => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...body })}\n\n`);
            answer = () => say({ id: message.id, ...(RESULTS[stage] as object) });
            for (const method of METHODS) say({ id: `q ${method}`, method });
            return ANSWERED;
          }),
        );
        const client = await connect({ http: `${server.url}/mcp` }, callbacks);
        await client.listTools();
        await client.callTool('echo');
        assert.deepEqual(said(answers), wanted(callbacks));
        await client.close();
        await server.close();
      });

    it('on the stream of its session, which no call is under way for', async () => {
      const answers = new Map<unknown, Json>();
      const reply = legacy((message, request, response) => {
        if (request.method === 'GET') {
          const say = sendEvents(response);
          for (const method of METHODS) say({ id: `q ${method}`, method });
          return ANSWERED;
        }
        if (message.method === undefined && request.method === 'POST') answers.set(message.id, message);
        return undefined;
      });
      await within(reply, { ...callbacks, era: 'legacy' }, () => until('all are answered', () => answers.size === METHODS.length));
      assert.deepEqual(said(answers), wanted(callbacks));
    });

    for (const stage of ['server/discover', 'initialize', 'tools/list', 'tools/call'])
      it(`over stdio, before ${stage} is answered`, async () => {
        const args = [repositoryPath('dist/test/support/stdio/asking.js'), stage, ...METHODS];
        const client = await connect({ stdio: { command: process.execPath, args } }, { ...callbacks, probe_timeout_ms: 60_000 });
        await client.listTools();
        const { content } = await client.callTool('echo');
        const [part] = content ?? [];
        assert.deepEqual(JSON.parse(part?.type === 'text' ? part.text : ''), wanted(callbacks));
        await client.close();
      });
  });

const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': { error: { code: -32601, message: 'no such method' } },
  initialize: { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } } },
  'tools/list': { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } },
  'tools/call': { result: { content: [] } },
};

describe('a client', () => {
  it('of a modern server, which must not ask, refuses what it asks all the same', async () => {
    const answers = new Map<unknown, Json>();
    const reply = modern((message, _request, response) => {
      if (message.method === undefined) {
        answers.set(message.id, message);
        return {};
      }
      if (message.method !== 'tools/call') return undefined;
      const say = sendEvents(response);
      for (const method of METHODS) say({ id: `q ${method}`, method });
      void until('all are answered', () => answers.size === METHODS.length).then(() => say({ id: message.id, result: { content: [] } }));
      return ANSWERED;
    });
    await within(reply, ALL, async (client) => void (await client.callTool('echo')));
    assert.deepEqual(said(answers), [{}, -32601, -32601, -32601, -32601, -32601]);
  });

  it('waits no longer for a call because the server pings, and only while a callback answers', async () => {
    let say: ((message: Json) => void) | undefined;
    let release = (): void => undefined;
    const asking = legacy((message, _request, response) => {
      if (message.method !== 'tools/call') return undefined;
      say = sendEvents(response);
      say({ id: 'q', method: message.params.name });
      return ANSWERED;
    });
    const held = new Promise<void>((resolve) => (release = resolve));
    const options = { timeout_ms: 1_000, timeout_max_ms: 600_000, era: 'legacy', roots: () => held.then(() => []) } as const;
    await within(asking, options, async (client, server) => {
      await assert.rejects(client.callTool('ping'), /tools\/call was not answered within 1000 ms/);
      const call = client.callTool('roots/list');
      call.catch(() => undefined);
      // Held for longer than timeout_ms, and let go.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      release();
      await until('the question is answered', () => server.messages.some(({ id, result }) => id === 'q' && result?.roots !== undefined));
      await assert.rejects(call, /tools\/call was not answered within 1000 ms/);
    });
  });

  it('answers a question whose callback never does, once timeout_max_ms is over', async () => {
    const asking = legacy((message, _request, response) => {
      if (message.method !== 'tools/call') return undefined;
      sendEvents(response)({ id: 'q', method: 'roots/list' });
      return ANSWERED;
    });
    const options = { timeout_ms: 200, timeout_max_ms: 500, era: 'legacy', roots: () => new Promise<never>(() => undefined) } as const;
    await within(asking, options, async (client, server) => {
      await assert.rejects(client.callTool('echo'), { code: 'TIMEOUT' });
      await until('the question is answered', () => server.messages.some(({ id, error }) => id === 'q' && error?.code === -32603));
    });
  });

  it('of a modern server ends a call whose callback never answers', async () => {
    const asking = modern((message) =>
      message.method === 'tools/call'
        ? { result: { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } } }
        : undefined,
    );
    const options = { timeout_ms: 200, timeout_max_ms: 500, roots: () => new Promise<never>(() => undefined) };
    await within(asking, options, (client) => assert.rejects(client.callTool('echo'), { code: 'TIMEOUT' }));
  });
});
