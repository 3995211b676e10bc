import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createExecutor } from '../../../src/executor/bounded.js';
import { createHttpHandler, createHub, defineServer, type HttpRequest, type HttpResponse, type HttpStream } from '../../../src/server.js';
import { makeClock } from '../../../src/testing/clock.js';
import { makeIdentity } from '../../../src/testing/head.js';
import { makeLog } from '../../../src/testing/log.js';
import { modernBody, modernHead } from '../../demo/rpc.js';

let runs = 0;
let stopped = 0;
const hub = createHub();
const server = defineServer({
  name: 'foreign',
  version: '1',
  changes: hub,
  tools: [
    { name: 'whoami', run: (_input, { identity }) => `${++runs} ${identity?.principal}` },
    {
      name: 'count',
      run(_input, context) {
        context.progress(1);
        return 'done';
      },
    },
    {
      name: 'flood',
      run(_input, context) {
        for (let n = 1; n <= 50; n++) context.progress(n);
        return 'done';
      },
    },
    {
      name: 'wait',
      run: (_input, { signal }) =>
        new Promise<string>((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            stopped += 1;
            reject(new Error('gone'));
          }),
        ),
    },
  ],
});
const open = (options: object = {}) => createHttpHandler(server, { clock: makeClock(), log: makeLog(), ...options });
const post = (method: string, params: object = {}, more: Partial<HttpRequest> = {}, meta: object = {}): HttpRequest => ({
  method: 'POST',
  headers: modernHead(method, (params as { name?: string }).name),
  body: Buffer.from(modernBody(method, params, meta)),
  request_id: 'r1',
  ...more,
});
const textOf = (answer: HttpResponse | HttpStream) => {
  assert.equal(answer.kind, 'response');
  return JSON.parse(Buffer.from((answer as HttpResponse).body).toString());
};
async function eventsOf(answer: HttpResponse | HttpStream): Promise<string[]> {
  assert.equal(answer.kind, 'stream');
  const seen: string[] = [];
  for await (const chunk of (answer as HttpStream).chunks) seen.push(Buffer.from(chunk).toString());
  return seen;
}

describe('the handler for foreign HTTP servers', () => {
  it('prepares without running, executes once, and hands the identity to that call alone', async () => {
    const handler = open();
    const before = runs;
    const prepared = handler.prepare(post('tools/call', { name: 'whoami' }, { identity: makeIdentity() }));
    assert.deepEqual({ ...prepared }, { kind: 'prepared', method: 'tools/call', name: 'whoami', revision: '2026-07-28' });
    assert.equal(runs, before);
    assert.ok(prepared.kind === 'prepared');
    const answer = await handler.execute(prepared);
    assert.equal(textOf(answer).result.content[0].text, `${before + 1} alice`);
    assert.deepEqual(answer.headers, {
      'content-type': 'application/json',
      'content-length': String((answer as HttpResponse).body.length),
      'x-request-id': 'r1',
    });
    await assert.rejects(handler.execute(prepared), TypeError);
    const nobody = await handler.handle(post('tools/call', { name: 'whoami' }));
    assert.equal(textOf(nobody).result.content[0].text, `${before + 2} undefined`);
    await handler.close(0);
  });

  it('refuses what the listener would refuse', async () => {
    const handler = open();
    const head = modernHead('tools/list');
    const good = post('tools/list');
    const refused = async (request: Partial<HttpRequest>) => {
      const answer = handler.prepare({ ...good, ...request });
      assert.equal(answer.kind, 'response');
      const { status, headers } = answer as HttpResponse;
      return [status, textOf(answer as HttpResponse).error.data.code, headers.allow];
    };
    assert.deepEqual(await refused({ method: 'GET' }), [405, 'METHOD_NOT_ALLOWED', 'POST']);
    assert.deepEqual(await refused({ headers: { ...head, 'content-type': 'text/plain' } }), [415, 'MEDIA_TYPE', undefined]);
    assert.deepEqual(await refused({ headers: { ...head, 'content-encoding': 'gzip' } }), [415, 'MEDIA_TYPE', undefined]);
    assert.deepEqual(await refused({ headers: { ...head, accept: 'text/html' } }), [406, 'NOT_ACCEPTABLE', undefined]);
    assert.deepEqual(await refused({ headers: { ...head, 'Mcp-Method': 'ping' } }), [400, 'HEADER_MISMATCH', undefined]);
    assert.deepEqual(await refused({ headers: { ...head, 'mcp-method': 'ping' } }), [400, 'HEADER_MISMATCH', undefined]);
    assert.deepEqual(await refused({ headers: { ...head, 'mcp-protocol-version': '1900-01-01' } }), [
      400,
      'UNSUPPORTED_VERSION',
      undefined,
    ]);
    assert.deepEqual(await refused({ body: Buffer.from('{') }), [400, 'PARSE_ERROR', undefined]);
    assert.deepEqual(await refused({ body: Buffer.from('[]') }), [400, 'INVALID_REQUEST', undefined]);
    await handler.close(0);
  });

  it('answers by a stream from the first progress on, or when the client takes nothing else', async () => {
    const handler = open();
    const counted = await handler.handle(post('tools/call', { name: 'count' }, {}, { progressToken: 1 }));
    assert.deepEqual(counted.headers, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': 'r1',
    });
    const [progress, last, ...more] = await eventsOf(counted);
    assert.match(progress ?? '', /^event: message\ndata: .*"progress":1.*\n\n$/);
    assert.match(last ?? '', /"result":/);
    assert.deepEqual(more, []);
    const only = await handler.handle(post('tools/list', {}, { headers: { ...modernHead('tools/list'), accept: 'text/event-stream' } }));
    assert.equal((await eventsOf(only)).length, 1);
    const notified = await handler.handle({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'),
    });
    assert.deepEqual([notified.kind, notified.status, (notified as HttpResponse).body.length], ['response', 202, 0]);
    await handler.close(0);
  });

  it('keeps the latest progress for a reader that is behind, and ends the stream of one that never reads', async () => {
    const handler = open();
    const slow = await handler.handle(post('tools/call', { name: 'flood' }, {}, { progressToken: 1 }));
    assert.equal((await eventsOf(slow)).length, 2);
    const stream = await open({ max_stream_buffer_bytes: 100 }).handle(
      post('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    assert.equal(hub.subscribers, 1);
    hub.toolsChanged();
    await turn();
    hub.toolsChanged();
    await turn();
    assert.equal(hub.subscribers, 1);
    await (stream as HttpStream).chunks[Symbol.asyncIterator]().return?.();
    await turn();
    assert.equal(hub.subscribers, 0);
    await handler.close(0);
  });

  it('cancels the call of a client that left, by its signal or by its stream', async () => {
    const executor = createExecutor({ clock: makeClock() });
    const handler = open({ executor });
    const gone = new AbortController();
    const before = stopped;
    const waiting = handler.handle(post('tools/call', { name: 'wait' }), gone.signal);
    await turn();
    assert.equal(executor.load.running, 1);
    gone.abort();
    assert.equal((await waiting).status, 503);
    assert.deepEqual([stopped, executor.load.running], [before + 1, 0]);
    const late = await handler.handle(post('tools/call', { name: 'wait' }), gone.signal);
    assert.deepEqual([late.status, executor.load.running], [503, 0]);
    await handler.close(0);
    assert.equal((await handler.handle(post('tools/call', { name: 'count' }))).status, 200);
    await executor.drain(0);
    assert.equal((await handler.handle(post('tools/call', { name: 'count' }))).status, 503);
  });
});
