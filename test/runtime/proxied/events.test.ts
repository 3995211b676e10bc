import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { delay, fields, idle, legacyBare, legacyCall, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

describe('proxied: event streams', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let answer: Answering;
  const events = { 'Content-Type': 'text/event-stream' };
  const head = (response: ServerResponse): ServerResponse => {
    response.writeHead(200, events).flushHeaders();
    return response;
  };
  const final = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const progress = (step: number): string =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":${step}}}`;
  const call = modernCall('tools/call', { name: 'slow' });

  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp`, { max_event_bytes: 1_000_000 });
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('the head of a quiet stream is there before any event, for a POST and for a legacy GET', async () => {
    answer = (_request, response) => void head(response);
    for (const quiet of [modernCall('subscriptions/listen'), legacyBare('get_stream')]) {
      const exchange = bench.send(quiet);
      assert.equal((await exchange.head).status, 200);
      assert.deepEqual(exchange.writes, []);
      exchange.cancel('client');
    }
    await upstream.aborted(2);
  });

  it('a drain ends a subscription with its completion, in front of what a slow reader has not taken, and a legacy GET without a word', async () => {
    let flood = '';
    answer = (_request, response) => void head(response).write(flood);
    const completion =
      'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}\n\n';
    for (flood of [`data: ${progress(0)}\n\n`, `data: ${progress(0)}\n\n`.repeat(3)]) {
      const listen = bench.send(modernCall('subscriptions/listen'), { high_water_bytes: 1 });
      listen.hold();
      await listen.wrote(1);
      listen.drain();
      assert.equal((await listen.done).reason, 'drain');
      assert.deepEqual(listen.writes, [`data: ${progress(0)}\n\n`, completion]);
    }
    flood = '\n';
    const get = bench.send(legacyBare('get_stream'));
    await get.head;
    get.drain();
    assert.deepEqual([(await get.done).reason, get.writes], ['drain', []]);
  });

  it('each event arrives when the upstream sends it; progress moves the deadline', async () => {
    let next = (): void => {};
    answer = (_request, response) => {
      head(response);
      let step = 0;
      next = () => void (step < 3 ? response.write(`data: ${progress(step++)}\n\n`) : response.end(`data: ${final}\n\n`));
      next();
    };
    const exchange = bench.send(call);
    for (let step = 0; step < 3; step++) {
      await exchange.wrote(step + 1);
      assert.equal(exchange.writes[step], `data: ${progress(step)}\n\n`);
      next();
    }
    const result = await exchange.done;
    assert.deepEqual([result.reason, result.outcome, exchange.progress_count], ['source', 'ok', 3]);
    assert.equal(exchange.writes[3], `data: ${final}\n\n`);
  });

  it('a legacy server’s question to its client stops the usual clock; a modern stream carries none', async () => {
    const question = '{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{}}';
    const told = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';
    answer = (_request, response) => void head(response).end(`data: ${told}\n\ndata: ${question}\n\ndata: ${final}\n\n`);
    for (const [asked, count] of [
      [legacyCall('tools/call'), 1],
      [call, 0],
    ] as const) {
      const exchange = bench.send(asked);
      assert.equal((await exchange.done).outcome, 'ok');
      assert.deepEqual([exchange.question_count, exchange.progress_count], [count, 0]);
    }
  });

  it('the response is found behind BOM, comments, retry, empty data and notifications, over data lines, CRLF and cut bytes', async () => {
    const message = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"ü\\n"}}';
    const text =
      '\ufeff: hi\r\nretry: 1000\r\n\r\nid: x\r\ndata:\r\n\r\n' +
      `event: message\r\nid: 2\r\ndata: ${message}\r\n\r\n` +
      'data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":\r\ndata: {"tools":[{"name":"read"}]}}\r\n\r\n';
    const bytes = Buffer.from(text);
    answer = (_request, response) => {
      head(response);
      let at = 0;
      const step = (): void => {
        if (at >= bytes.length) return void response.end();
        response.write(bytes.subarray(at, (at += 7)));
        setImmediate(step);
      };
      step();
    };
    for (const method of ['initialize', 'tools/list']) {
      const exchange = bench.send(legacyCall(method));
      const result = await exchange.done;
      assert.deepEqual([result.reason, result.outcome], ['source', 'ok']);
      assert.deepEqual(exchange.writes, [
        'retry: 1000\n\n',
        'id: x\ndata:\n\n',
        `event: message\nid: 2\ndata: ${message}\n\n`,
        'data: {"jsonrpc":"2.0", "id":1,"result": {"tools":[{"name":"read"}]}}\n\n',
      ]);
    }
    assert.equal(bench.told.at(-1), 'tools /alpha/mcp read');
    const modern = bench.send(modernCall('tools/list'));
    await modern.done;
    assert.equal(modern.writes.length, 2);
  });

  it('the stream ends right after the response; an upstream that leaves its own open is aborted', async () => {
    answer = (_request, response) => void head(response).write(`data: ${final}\n\ndata: ${progress(9)}\n\n`);
    const before = upstream.seen.filter((entry) => entry.aborted).length;
    const exchange = bench.send(call);
    const result = await exchange.done;
    assert.deepEqual([result.by, result.reason, exchange.writes.length], ['events', 'source', 1]);
    await upstream.aborted(before + 1);
    await idle(bench.runtime);
  });

  it('an upstream that ends its stream itself keeps its connection', async () => {
    answer = (_request, response) => void head(response).end(`data: ${final}\n\n`);
    await bench.send(call).done;
    await delay(20);
    const count = upstream.connection_count;
    for (let i = 0; i < 5; i++) {
      await bench.send(call).done;
      await delay(5);
    }
    assert.equal(upstream.connection_count, count);
  });

  it('a stream without the response ends with an error event that carries the call’s id', async () => {
    answer = (_request, response) => {
      head(response).write(`data: ${progress(0)}\n\ndata: {"half"`);
      setTimeout(() => response.destroy(), 10);
    };
    const cut = bench.send(modernCall('tools/call', { name: 'x' }, { over: { id: '"a"' } }));
    const result = await cut.done;
    assert.deepEqual([result.reason, result.outcome, cut.writes.length], ['error', 'upstream_error', 2]);
    assert.equal(
      cut.writes[1],
      'data: {"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"The MCP server behind this route gave an unusable answer.","data":{"code":"UPSTREAM_BROKEN","request_id":"test-request"}}}\n\n',
    );
    answer = (_request, response) => void head(response).end();
    const empty = bench.send(call);
    assert.deepEqual([(await empty.done).reason, empty.writes.length], ['error', 1]);
  });

  it('a legacy stream that carried event ids just ends: its client comes back with Last-Event-ID', async () => {
    answer = (_request, response) => void head(response).end('id: 7\nretry: 100\ndata:\n\n');
    const exchange = bench.send(legacyCall('tools/call'));
    const result = await exchange.done;
    assert.deepEqual([result.reason, exchange.writes], ['source', ['id: 7\nretry: 100\ndata:\n\n']]);
    const resumed = bench.send(legacyBare('get_stream', { headers: { 'Last-Event-ID': '7' } }));
    await resumed.done;
    assert.equal(upstream.seen.at(-1)?.headers['last-event-id'], '7');
    const modern = bench.send(call);
    assert.deepEqual([(await modern.done).reason, modern.writes.length], ['error', 1]);
  });

  it('a legacy GET stream carries requests and responses to anyone and ends as its source', async () => {
    const lines = [
      '{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}',
      '{"jsonrpc":"2.0","id":99,"result":{}}',
      '{"hologram":1}',
    ];
    answer = (_request, response) => void head(response).end(lines.map((line) => `data: ${line}\n\n`).join(''));
    const exchange = bench.send(legacyBare('get_stream'));
    assert.deepEqual([(await exchange.done).reason, exchange.writes], ['source', lines.map((line) => `data: ${line}\n\n`)]);
    assert.equal(upstream.seen.at(-1)?.headers.accept, 'text/event-stream');
  });

  it('junk and answers to other ids are dropped and logged; an error without an id ends the call', async () => {
    const sent = [
      'hello',
      '[1]',
      '{"a":1',
      '{"jsonrpc":"2.0","id":2,"result":{}}',
      '{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"x"}}',
    ];
    const lost = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}';
    for (const [last, told] of [
      [final, final],
      [lost, lost.replace('null', '1')],
    ] as const) {
      answer = (_request, response) => void head(response).end([...sent, last].map((line) => `data: ${line}\n\n`).join(''));
      const lines = bench.log.lines.length;
      const exchange = bench.send(call);
      assert.equal((await exchange.done).reason, 'source');
      assert.deepEqual(exchange.writes, [`data: ${told}\n\n`]);
      assert.equal(bench.log.lines.length, lines + 5);
    }
  });

  it('an event over max_event_bytes ends the stream with an error event', async () => {
    answer = (_request, response) => void head(response).write(`data: ${progress(1)}\n\ndata: ${'x'.repeat(1_100_000)}`);
    const exchange = bench.send(call);
    const result = await exchange.done;
    assert.deepEqual([result.reason, result.outcome, exchange.writes.length], ['error', 'upstream_error', 2]);
  });

  it('nothing asks the upstream for compression, and a compressed stream is refused', async () => {
    answer = (_request, response) => void response.writeHead(200, { ...events, 'Content-Encoding': 'gzip' }).end('x');
    const result = await bench.send(modernCall('tools/list', {}, { headers: { 'Accept-Encoding': 'gzip, br' } })).done;
    assert.deepEqual([result.by, result.error?.code], ['fail', 'UPSTREAM_BROKEN']);
    assert.equal(upstream.seen.at(-1)?.headers['accept-encoding'], 'identity');
  });

  it('fields of the head pass as for JSON, without the ones that the listener writes', async () => {
    answer = (_request, response) =>
      void response.writeHead(200, { ...events, 'X-Accel-Buffering': 'yes', 'X-Custom': '1' }).end(`data: ${final}\n\n`);
    const result = await bench.send(call).done;
    assert.deepEqual(fields(result.headers), { 'x-custom': '1' });
    for (const [given, kept] of [
      ['no-cache, no-transform', {}],
      ['public, max-age=60', {}],
      ['Private, No-Store', { 'cache-control': 'private, no-store' }],
    ] as const) {
      answer = (_request, response) => void response.writeHead(200, { ...events, 'Cache-Control': given }).end(`data: ${final}\n\n`);
      assert.deepEqual(fields((await bench.send(call).done).headers), kept);
    }
  });

  it('no free slot for a stream: the upstream is let go', async () => {
    answer = (_request, response) => void head(response);
    const before = upstream.seen.filter((entry) => entry.aborted).length;
    bench.send(modernCall('subscriptions/listen'), { refuse_events: true });
    await upstream.aborted(before + 1);
  });

  it('a client that takes JSON only gets the response as JSON', async () => {
    answer = (_request, response) => void head(response).write(`data: ${progress(1)}\n\ndata: ${final}\n\n`);
    const exchange = bench.send(call, { accepts_events: false });
    const result = await exchange.done;
    assert.deepEqual([result.by, result.status, result.body.toString(), exchange.progress_count], ['respond', 200, final, 1]);
    assert.deepEqual(fields(result.headers), { 'content-type': 'application/json' });
    answer = (_request, response) => void head(response).end(`data: ${progress(1)}\n\n`);
    assert.equal((await bench.send(call, { accepts_events: false }).done).error?.code, 'UPSTREAM_BROKEN');
  });
});
