import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { type Answer, said } from '../../support/legacy-clients.js';
import { event, type LegacyUpstream, type Message, startLegacyUpstream } from '../../support/legacy-upstream.js';
import { BRIDGE, type CallInit, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';

const until = (done: () => boolean): Promise<void> => untilNamed(done.toString(), done);
const ALICE: CallInit = { identity: { principal: 'alice' } };
const LEVEL = 'io.modelcontextprotocol/logLevel';
const HAS = 'io.modelcontextprotocol/clientCapabilities';

describe('proxied: what a legacy server says beside its answers', { timeout: 30_000 }, () => {
  let upstream: LegacyUpstream;
  let bench: ProxiedBench;
  let calls: { readonly id: number; readonly response: ServerResponse }[];

  const open = async (): Promise<void> => {
    calls = [];
    upstream = await startLegacyUpstream({ tools: {}, logging: {} });
    upstream.special = ({ method, id }, response) => {
      if (method === 'logging/setLevel')
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
      else if (method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        calls.push({ id: id as number, response });
      } else return false;
      return true;
    };
    bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'legacy', bridge: BRIDGE });
  };
  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });
  const tool = (meta: object, more: object = {}): Call =>
    modernCall('tools/call', { name: 'echo', arguments: {}, _meta: meta, ...more }, ALICE);
  const log = (response: ServerResponse, level: string): void =>
    event(response, { method: 'notifications/message', params: { level, data: level } });
  const end = ({ id, response }: (typeof calls)[number], answer: object = { result: { content: [] } }): void => {
    event(response, { id, ...answer });
    response.end();
  };
  const levels = (exchange: FakeExchange): readonly unknown[] =>
    said(exchange).flatMap(({ method, params }) => (method === 'notifications/message' ? [(params as { level: string }).level] : []));
  const resultOf = async (exchange: FakeExchange): Promise<Record<string, unknown>> => {
    const { body } = await exchange.done;
    const answer = (body[0] === 0x7b ? JSON.parse(body.toString()) : said(exchange).at(-1)) as Answer;
    return answer.result ?? (answer.error as Record<string, unknown>);
  };

  it('a call gets log messages of its own exchange from the level on that it asked for; another call gets none', async () => {
    await open();
    const warned = bench.send(tool({ [LEVEL]: 'warning' }));
    await until(() => calls.length === 1);
    const quiet = bench.send(tool({}));
    await until(() => calls.length === 2);
    for (const { response } of calls) for (const level of ['debug', 'warning', 'error']) log(response, level);
    for (const call of calls) end(call);
    await Promise.all([warned.done, quiet.done]);
    assert.deepEqual([levels(warned), levels(quiet)], [['warning', 'error'], []]);
    assert.deepEqual(
      upstream.messages('logging/setLevel').map(({ params }) => params),
      [{ level: 'warning' }],
    );
  });

  it('the level of a session becomes more verbose when a call asks for it, and is told before that call is sent', async () => {
    await open();
    for (const level of ['error', 'debug', 'info']) {
      const call = bench.send(tool({ [LEVEL]: level }));
      await until(() => calls.length === 1);
      end(calls.shift() as (typeof calls)[number]);
      await call.done;
    }
    assert.deepEqual(
      upstream.messages('logging/setLevel').map(({ params }) => params?.level),
      ['error', 'debug'],
    );
    const order = upstream.seen.map(({ body }) => (body.length === 0 ? '' : (JSON.parse(body.toString()) as Message).method));
    assert.ok(order.indexOf('logging/setLevel') < order.indexOf('tools/call'));
  });

  it('discover offers the log messages of the server', async () => {
    await open();
    assert.deepEqual((await resultOf(bench.send(modernCall('server/discover', {}, ALICE)))).capabilities, { tools: {}, logging: {} });
  });

  it('tasks of 2025-11-25 are not offered: tools that need them are left out, and their methods are unknown here', async () => {
    await open();
    const own = upstream.special;
    const listed = ['optional', 'required', 'forbidden', 'required'].map((taskSupport, i) => ({
      name: `t${i}`,
      execution: { taskSupport },
    }));
    upstream.special = (message, response, request) => {
      if (message.method !== 'tools/list') return own(message, response, request);
      const result = { tools: [{ name: 'plain', inputSchema: { type: 'object' } }, ...listed] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      return true;
    };
    const { tools } = (await resultOf(bench.send(modernCall('tools/list', {}, ALICE)))) as { tools: readonly { name: string }[] };
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['plain', 't0', 't2'],
    );
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel', 'tasks/list', 'tasks/result']) {
      const { error, status } = await bench.send(modernCall(method, { taskId: 'x' }, ALICE)).done;
      assert.deepEqual([error?.code, status], ['METHOD_NOT_FOUND', 404], method);
      assert.equal(upstream.count(method), 0);
    }
  });

  describe('-32042', () => {
    const ELICITATIONS = [{ mode: 'url', elicitationId: 'e1', url: 'https://x.example/', message: 'Go' }];
    const refuse = { error: { code: -32042, message: 'URL first', data: { elicitations: ELICITATIONS } } };
    const URL_ONLY = { [HAS]: { elicitation: { url: {} } } };

    it('becomes input_required without the server’s id of it; the retry is a new call', async () => {
      await open();
      const first = bench.send(tool(URL_ONLY));
      await until(() => calls.length === 1);
      end(calls.shift() as (typeof calls)[number], refuse);
      const asked = await resultOf(first);
      assert.equal(asked.resultType, 'input_required');
      assert.deepEqual(asked.inputRequests, {
        q1: { method: 'elicitation/create', params: { mode: 'url', url: 'https://x.example/', message: 'Go' } },
      });
      const retry = { requestState: asked.requestState, inputResponses: { q1: { action: 'accept' } } };
      const second = bench.send(tool(URL_ONLY, retry));
      await until(() => calls.length === 1);
      end(calls[0] as (typeof calls)[number]);
      assert.deepEqual((await resultOf(second)).resultType, 'complete');
      assert.deepEqual(Object.keys(upstream.messages('tools/call')[1]?.params ?? {}), ['name', 'arguments', '_meta']);
      assert.equal(
        (await bench.send(modernCall('tools/call', { name: 'other', ...retry, _meta: URL_ONLY }, ALICE)).done).error?.code,
        'INVALID_STATE',
      );
    });

    it('is -32021 for a client that opens no URL', async () => {
      await open();
      const call = bench.send(tool({ [HAS]: { elicitation: {} } }));
      await until(() => calls.length === 1);
      end(calls[0] as (typeof calls)[number], refuse);
      assert.deepEqual(await resultOf(call), {
        code: -32021,
        message: 'A required client capability was not declared.',
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      });
    });
  });

  it('roots that a client gave answer the server for it later; before that it is refused', async () => {
    await open();
    const HAS_ROOTS = { [HAS]: { roots: {} } };
    const first = bench.send(tool(HAS_ROOTS));
    await until(() => calls.length === 1 && upstream.streams.size === 1);
    const [stream] = upstream.streams as Set<ServerResponse>;
    const { id, response } = calls[0] as (typeof calls)[number];
    event(response, { id: 'r1', method: 'roots/list' });
    const asked = await resultOf(first);
    const answers = { requestState: asked.requestState, inputResponses: { q1: { roots: [{ uri: 'file:///a' }] } } };
    const second = bench.send(tool(HAS_ROOTS, answers));
    end({ id, response });
    await second.done;
    event(stream as ServerResponse, { id: 'r2', method: 'roots/list' });
    event(stream as ServerResponse, { id: 's1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
    const answer = (wanted: string) =>
      upstream.seen
        .map(({ body }) => (body.length === 0 ? {} : JSON.parse(body.toString())) as Answer)
        .find((message) => message.id === wanted);
    await until(() => answer('r2') !== undefined && answer('s1') !== undefined);
    assert.deepEqual(answer('r2')?.result, { roots: [{ uri: 'file:///a' }] });
    assert.equal(answer('s1')?.error?.code, -32603);
  });

  it('a server that asks for roots as soon as the session is open gets them from the call, which then can be asked again', async () => {
    await open();
    const own = upstream.special;
    upstream.special = (message, response, request) => {
      const [stream] = upstream.streams;
      if (message.method === 'tools/call' && stream !== undefined) event(stream, { id: 'early', method: 'roots/list' });
      return own(message, response, request);
    };
    const has = { [HAS]: { roots: {} } };
    const early = bench.send(tool(has));
    await until(() => calls.length === 1 && upstream.streams.size === 1);
    const { id, response } = calls[0] as (typeof calls)[number];
    event([...upstream.streams][0] as ServerResponse, { id: 'late', method: 'roots/list' });
    const first = await resultOf(early);
    const asked = Object.keys(first.inputRequests as object);
    const answers = Object.fromEntries(asked.map((key) => [key, { roots: [{ uri: 'file:///a' }] }]));
    const second = bench.send(tool(has, { requestState: first.requestState, inputResponses: answers }));
    await until(() => upstream.seen.some(({ body }) => body.includes('file:///a')));
    event(response, { id: 'inside', method: 'roots/list' });
    const again = await resultOf(second);
    assert.deepEqual(Object.keys(again.inputRequests as object), [`q${asked.length + 1}`]);
    const roots = { [`q${asked.length + 1}`]: { roots: [{ uri: 'file:///b' }] } };
    const third = bench.send(tool(has, { requestState: again.requestState, inputResponses: roots }));
    await until(() => upstream.seen.some(({ body }) => body.includes('file:///b')));
    end({ id, response });
    assert.equal((await resultOf(third)).resultType, 'complete');
    assert.equal(upstream.count('tools/call'), 1);
  });

  it('a server that asks for roots while no call runs, and was never given any, gets an error at once; the next call works', async () => {
    await open();
    const HAS_ROOTS = { [HAS]: { roots: {} } };
    const first = bench.send(tool(HAS_ROOTS));
    await until(() => calls.length === 1 && upstream.streams.size === 1);
    end(calls.shift() as (typeof calls)[number]);
    await first.done;
    event([...upstream.streams][0] as ServerResponse, { id: 'idle', method: 'roots/list' });
    await until(() => upstream.seen.some(({ body }) => body.includes('"idle"')));
    const answer = upstream.seen.map(({ body }) => body.toString()).find((text) => text.includes('"idle"'));
    assert.equal((JSON.parse(answer as string) as Answer).error?.code, -32603);
    const second = bench.send(tool(HAS_ROOTS));
    await until(() => calls.length === 1);
    end(calls[0] as (typeof calls)[number]);
    assert.equal((await resultOf(second)).resultType, 'complete');
  });
});
