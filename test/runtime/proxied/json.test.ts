import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FakeAnswer } from '../../support/fake-exchange.js';
import { fields, legacyBare, legacyCall, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

describe('proxied: JSON answers', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let answer: Answering;
  const reply = (status: number, headers: Record<string, string>, body: string | Buffer): Answering => {
    return (_request, response) => void response.writeHead(status, headers).end(body);
  };
  const json = { 'Content-Type': 'application/json' };
  const ok = '{"jsonrpc":"2.0","id":1,"result":{}}';

  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp?fixed=1`, { headers: { 'X-Api-Key': 'k' }, max_response_bytes: 1_000_000 });
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });
  const code = (result: FakeAnswer): string => `${result.by} ${result.status} ${result.error?.code}`;
  const ask = (answering: Answering, call = modernCall('tools/call', { name: 'echo' })): Promise<FakeAnswer> => {
    answer = answering;
    return bench.send(call).done;
  };

  it('the upstream sees its own authority, its own target and the gateway’s credential', async () => {
    const call = modernCall(
      'tools/list',
      {},
      { headers: { Host: 'mcp.example.com', Origin: 'https://app.example.com', 'X-Forwarded-Host': 'evil.test' } },
    );
    const result = await ask(reply(200, json, ok), call);
    assert.equal(code(result), 'respond 200 undefined');
    const seen = upstream.seen.at(-1);
    assert.equal(seen?.url, '/mcp?fixed=1');
    assert.deepEqual(
      { ...seen?.headers },
      {
        host: `127.0.0.1:${upstream.port}`,
        connection: 'keep-alive',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'accept-encoding': 'identity',
        'x-api-key': 'k',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
        'content-length': String(call.body.length),
      },
    );
  });

  it('both bodies pass byte for byte: large integers, unknown fields, odd spacing', async () => {
    const sent = Buffer.from(
      '{ "jsonrpc":"2.0", "id":9223372036854775807,"method":"tools/call","params":{"name":"echo","arguments":{"id":9223372036854775807,"x":1.10,"e":1E400},"_meta":{"progressToken":1},"x-future":[]}}',
    );
    const back = Buffer.from(
      '{"jsonrpc":"2.0","id":9223372036854775807,"result":{"structuredContent":{"id":1915883588174806058,"x":1.10,"e":1E400},"content":[{"type":"hologram"}],"_meta":{"a/b":null}}}\n',
    );
    const result = await ask(
      reply(200, json, back),
      modernCall('tools/call', { name: 'echo' }, { over: { body: sent, id: '9223372036854775807' } }),
    );
    assert.deepEqual(upstream.seen.at(-1)?.body, sent);
    assert.deepEqual(result.body, back);
    assert.equal(result.outcome, 'ok');
  });

  it('says what an answer was: tool error, JSON-RPC error', async () => {
    const tool = await ask(reply(200, json, '{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[]}}'));
    assert.deepEqual([tool.outcome, tool.rpc_code], ['tool_error', undefined]);
    const rpc = await ask(reply(200, json, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"a":1}}}'));
    assert.deepEqual([rpc.by, rpc.status, rpc.outcome, rpc.rpc_code], ['respond', 200, 'rpc_error', -32602]);
  });

  it('end-to-end fields reach the client, hop-by-hop and cookies do not', async () => {
    const headers = {
      ...json,
      'Cache-Control': 'max-age=1',
      'X-Request-Id': 'u1',
      Connection: 'X-Up',
      'X-Up': '1',
      'Set-Cookie': 'a=b',
      Server: 'x',
    };
    const result = await ask(reply(200, headers, ok));
    assert.deepEqual(fields(result.headers), {
      'cache-control': 'max-age=1',
      'x-upstream-request-id': 'u1',
      'content-type': 'application/json',
    });
  });

  it('an answer that is not one whole JSON-RPC response to this call is 502 UPSTREAM_BROKEN', async () => {
    const bodies = [
      '',
      '{',
      `${ok}${ok}`,
      '[]',
      '"x"',
      'null',
      '{"jsonrpc":"2.0","method":"x"}',
      '{"jsonrpc":"2.0","id":2,"result":{}}',
      '{"jsonrpc":"2.0","id":2,"id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":"01","result":{}}',
    ];
    for (const body of bodies) assert.equal(code(await ask(reply(200, json, body))), 'fail 502 UPSTREAM_BROKEN', body);
    assert.equal(code(await ask(reply(200, { 'Content-Type': 'text/html' }, '<p>'))), 'fail 502 UPSTREAM_BROKEN');
    assert.equal(code(await ask(reply(200, {}, ok))), 'fail 502 UPSTREAM_BROKEN');
    assert.equal(code(await ask(reply(204, {}, ''))), 'fail 502 UPSTREAM_BROKEN');
    assert.equal(code(await ask(reply(202, {}, ''))), 'fail 502 UPSTREAM_BROKEN');
    assert.equal(code(await ask(reply(200, { ...json, 'Content-Encoding': 'gzip' }, ok))), 'fail 502 UPSTREAM_BROKEN');
  });

  it('a redirect is 502, is not followed and its Location not relayed', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const count = upstream.seen.length;
      const result = await ask(reply(status, { Location: '/mcp/' }, ''));
      assert.equal(code(result), 'fail 502 UPSTREAM_BROKEN');
      assert.deepEqual(fields(result.headers), {});
      assert.equal(upstream.seen.length, count + 1);
    }
  });

  it('a challenge to the gateway is 502 UPSTREAM_REFUSED and not relayed', async () => {
    for (const status of [401, 403, 407]) {
      const result = await ask(
        reply(status, { ...json, 'WWW-Authenticate': 'Bearer realm="up"' }, '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}'),
      );
      assert.equal(code(result), 'fail 502 UPSTREAM_REFUSED');
      assert.deepEqual(fields(result.headers), {});
    }
    assert.ok(bench.told.includes('answered alpha 4xx'));
  });

  it('an error status with a JSON-RPC body is relayed whole, without one it is told in our words', async () => {
    const body = '{"jsonrpc":"2.0","id":"server-error","error":{"code":-32601,"message":"Method not found"}}';
    const relayed = await ask(reply(404, json, body));
    assert.deepEqual(
      [relayed.by, relayed.status, relayed.outcome, relayed.rpc_code, relayed.body.toString()],
      ['respond', 404, 'rpc_error', -32601, body.replace('"server-error"', '1')],
    );
    const busy = await ask(reply(429, { 'Content-Type': 'text/plain', 'Retry-After': '3' }, 'slow down'));
    assert.equal(code(busy), 'fail 429 UPSTREAM_ANSWER');
    assert.deepEqual(fields(busy.headers), { 'retry-after': '3' });
    assert.equal(code(await ask(reply(400, json, '{"error":"x"}'))), 'fail 400 UPSTREAM_ANSWER');
    assert.equal(code(await ask(reply(400, json, `{"a":"${'x'.repeat(70_000)}"}`))), 'fail 400 UPSTREAM_ANSWER');
    const down = await ask(reply(503, { 'Retry-After': '7' }, 'x'));
    assert.equal(code(down), 'fail 502 UPSTREAM_BROKEN');
    assert.deepEqual(fields(down.headers), { 'retry-after': '7' });
    assert.equal(code(await ask(reply(500, json, body))), 'respond 500 undefined');
  });

  it('a notification or a response of the client is 202 and empty, whatever 2xx the upstream gives', async () => {
    const kinds = [
      { kind: 'notification', id: undefined },
      { kind: 'response', id: '5' },
    ] as const;
    for (const over of kinds) {
      for (const [status, body] of [
        [200, '{}'],
        [202, ''],
        [204, ''],
        [200, 'data: {}\n\n'],
      ] as const) {
        const result = await ask(reply(status, json, body), legacyCall('notifications/initialized', {}, { over }));
        assert.deepEqual([code(result), result.headers, result.body.length], ['accept 202 undefined', [], 0]);
      }
      assert.equal(code(await ask(reply(400, {}, ''), legacyCall('notifications/x', {}, { over }))), 'fail 400 UPSTREAM_ANSWER');
    }
  });

  it('a GET or DELETE that the upstream does not have is 405 with Allow', async () => {
    const headers = { 'Mcp-Session-Id': bench.seal.seal('s', { route: '/alpha/mcp', issuer: '', principal: '', client: '' }) ?? '' };
    for (const kind of ['get_stream', 'session_end'] as const) {
      const result = await ask(reply(405, {}, ''), legacyBare(kind, { headers }));
      assert.equal(code(result), 'fail 405 UPSTREAM_ANSWER');
      assert.deepEqual(fields(result.headers), { allow: 'POST' });
    }
    assert.equal(code(await ask(reply(200, json, ok), legacyBare('get_stream', { headers }))), 'fail 502 UPSTREAM_BROKEN');
  });

  it('a large answer is streamed as it comes and judged while it passes', async () => {
    const text = 'ü'.repeat(100_000);
    const whole = `{"jsonrpc":"2.0","id":1,"result":{"text":"${text}","isError":true}}`;
    const result = await ask(reply(200, json, whole));
    assert.deepEqual([result.by, result.status, result.reason, result.outcome], ['stream', 200, 'source', 'tool_error']);
    assert.equal(result.body.toString(), whole);
    const cut = await ask(reply(200, json, whole.slice(0, -1)));
    assert.deepEqual([cut.by, cut.reason, cut.outcome], ['stream', 'error', 'upstream_error']);
  });

  it('an answer over max_response_bytes is refused by its length, or cut when it did not tell', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(1_000_000)}"}`;
    assert.equal(code(await ask(reply(200, { ...json, 'Content-Length': String(body.length) }, body))), 'fail 502 UPSTREAM_BROKEN');
    const cut = await ask((_request, response) => {
      response.writeHead(200, json).write(body.slice(0, 500_000));
      response.end(body.slice(500_000));
    });
    assert.deepEqual([cut.by, cut.reason, cut.outcome], ['stream', 'error', 'upstream_error']);
    assert.ok(cut.body.length <= 1_000_000);
  });

  it('a body that is cut short is UPSTREAM_BROKEN', async () => {
    const result = await ask((_request, response) => {
      response.writeHead(200, { ...json, 'Content-Length': '100' }).write('{"jsonrpc"');
      setTimeout(() => response.destroy(), 10);
    });
    assert.equal(code(result), 'fail 502 UPSTREAM_BROKEN');
  });

  it('learns the tools that a server lists, from JSON', async () => {
    const listed = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"},{"name":7},{"name":"write"},null]}}';
    await ask(reply(200, json, listed), modernCall('tools/list'));
    assert.equal(bench.told.at(-1), 'tools /alpha/mcp read,write');
  });

  it('uses one connection again and again', async () => {
    const count = upstream.connection_count;
    await ask(reply(200, json, ok));
    const after = upstream.connection_count;
    for (let i = 0; i < 5; i++) await ask(reply(200, json, ok));
    assert.equal(upstream.connection_count, after);
    assert.ok(after <= count + 1);
  });

  it('a header value that cannot be sent on is the client’s fault', async () => {
    const result = await ask(reply(200, json, ok), modernCall('tools/list', {}, { headers: { 'Mcp-Param-X': 'a\u0001b' } }));
    assert.equal(code(result), 'fail 400 BAD_REQUEST');
  });
});
