import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChangeSource, defineServer, type Published } from '../../../src/server.js';
import { systemClock } from '../../../src/system-clock.js';
import { allEvents, modern, modernBody, modernHead } from '../../demo/rpc.js';
import { type HostedHttp, servingHosted } from '../../support/hosted-http.js';

const UPDATES: Published = { updates: true, tools: true };
const pulled = { count: 0, closed: [] as unknown[] };

/** Publishes without end, or nothing at all. */
const changes: ChangeSource = {
  publishes: UPDATES,
  open(wanted, { signal }) {
    signal.addEventListener('abort', () => pulled.closed.push(signal.reason));
    const quiet = wanted.tools;
    return {
      [Symbol.asyncIterator]: () => ({
        async next() {
          if (quiet) return new Promise(() => undefined);
          pulled.count += 1;
          await new Promise((resolve) => setImmediate(resolve));
          return { done: false, value: { kind: 'resource', uri: URI } };
        },
      }),
    };
  },
};
const URI = `x:${'u'.repeat(3000)}`;
const server = defineServer({
  name: 'streams',
  version: '1',
  changes,
  resources: [{ uri: URI, name: 'long', read: () => '' }],
  tools: [
    {
      name: 'sleep_echo',
      input: { type: 'object', properties: { ms: { type: 'integer' }, v: { type: 'string' } } },
      async run({ ms, v }, context) {
        context.progress(1);
        await sleep(Number(ms));
        return String(v);
      },
    },
    {
      name: 'extra',
      run: () => ({ content: [{ type: 'text', text: 'x', 'com.example': { n: 1.5 } } as never], _meta: { 'com.example/m': [null] } }),
    },
  ],
});

let http: HostedHttp;
before(async () => {
  http = await servingHosted(server, systemClock, {
    limits: { sse_keepalive_ms: 100, write_timeout_ms: 30_000, request_timeout_ms: 5_000 },
  });
});
after(() => http.close());

const listen = (notifications: object, signal: AbortSignal) =>
  fetch(http.url, {
    method: 'POST',
    headers: modernHead('subscriptions/listen'),
    body: modernBody('subscriptions/listen', { notifications }),
    signal,
  });

describe('streams of a hosted server', () => {
  it('the head of an idle stream is there at once, and comments keep it open', async () => {
    const gone = new AbortController();
    const response = await listen({ toolsListChanged: true }, gone.signal);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream']);
    const reader = response.body!.getReader();
    let text = '';
    while (text.split('\n:\n').length < 3) text += Buffer.from((await reader.read()).value ?? []).toString();
    assert.match(text, /^event: message\ndata: \{.*acknowledged.*\}\n\n:\n\n/);
    gone.abort();
  });

  it('two callers with one id each get their own answer', async () => {
    const call = async (ms: number, v: string) => (await modern(http.url, 'tools/call', { name: 'sleep_echo', arguments: { ms, v } })).body;
    const answers = await Promise.all([call(60, 'A'), call(5, 'B'), call(30, 'C')]);
    assert.deepEqual(
      answers.map(({ id, result }) => [id, result.content[0].text]),
      [
        [1, 'A'],
        [1, 'B'],
        [1, 'C'],
      ],
    );
  });

  it('members that nobody here knows reach the client', async () => {
    const { result } = (await modern(http.url, 'tools/call', { name: 'extra' })).body;
    assert.deepEqual([result.content, result._meta['com.example/m']], [[{ type: 'text', text: 'x', 'com.example': { n: 1.5 } }], [null]]);
  });

  it('a reader that stops costs a bounded amount, and its source waits', async () => {
    const body = modernBody('subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } });
    const socket = connect(Number(new URL(http.url).port), '127.0.0.1');
    const head = Object.entries({
      ...modernHead('subscriptions/listen'),
      host: '127.0.0.1',
      'content-length': String(Buffer.byteLength(body)),
    });
    socket.write(`POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`);
    await new Promise((resolve) => socket.once('readable', resolve));
    let count = -1;
    for (let still = 0; still < 5; still += 1) {
      await sleep(40);
      if (pulled.count !== count) still = 0;
      count = pulled.count;
    }
    const held = [...http.listening.listener.work()].reduce((sum, { buffered_bytes }) => sum + buffered_bytes, 0);
    assert.ok(held <= 262_144, `${held} bytes are held`);
    socket.destroy();
    for (let n = 0; n < 200 && !pulled.closed.includes('client'); n++) await sleep(5);
    await sleep(20);
    assert.ok(pulled.count - count <= 1, 'nothing is pulled for a reader that left');
    assert.equal(http.listening.listener.subscriptions, 0);
  });

  it('the stream of a call ends with its answer', async () => {
    const headers = modernHead('tools/call', 'sleep_echo');
    const body = modernBody('tools/call', { name: 'sleep_echo', arguments: { ms: 1, v: 'x' } }, { progressToken: 1 });
    const all = await allEvents(await fetch(http.url, { method: 'POST', headers, body }));
    assert.deepEqual(
      all.map(({ method, id }) => method ?? id),
      ['notifications/progress', 1],
    );
  });
});
