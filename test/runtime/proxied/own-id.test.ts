import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import type { FakeAnswer } from '../../support/fake-exchange.js';
import { fields, legacyBare, legacyCall, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

const json = { 'Content-Type': 'application/json' };
const BOM = '\ufeff';
const LARGE = 'ü'.repeat(60_000);

/** A response whose id stands first, last or nowhere. */
const bodies = (id: string, text = 'x') => [
  `{"jsonrpc":"2.0","id":${id},"result":{"a":"${text}"}}`,
  `{"result":{"a":"${text}"}, "id" : ${id}}`,
];

describe('proxied: the id that a client gets is its own', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let answer: Answering;
  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp`);
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  /** In how the upstream may answer: of known length, in two pieces without one, in tiny pieces, as an event, as events for a client that takes JSON only. */
  const ways: Readonly<Record<string, (body: string) => Answering>> = {
    whole: (body) => (_request, response) => void response.writeHead(200, { ...json, 'Content-Length': Buffer.byteLength(body) }).end(body),
    chunked: (body) => (_request, response) => {
      const bytes = Buffer.from(body);
      response.writeHead(200, json).write(bytes.subarray(0, bytes.length / 2));
      response.end(bytes.subarray(bytes.length / 2));
    },
    // The id is cut by two reads.
    cut: (body) => (_request, response) => {
      const bytes = Buffer.from(body);
      const at = bytes.lastIndexOf('"id"') + 6;
      response.writeHead(200, { ...json, 'Content-Length': bytes.length }).write(bytes.subarray(0, at));
      setTimeout(() => response.write(bytes.subarray(at, at + 1)), 10);
      setTimeout(() => response.end(bytes.subarray(at + 1)), 20);
    },
    event: (body) => (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${body}\n\n`),
    collected: (body) => (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${body}\n\n`),
  };
  const ask = async (
    way: string,
    body: string,
    id: string,
    call = modernCall('tools/call', { name: 'x' }, { over: { id } }),
  ): Promise<FakeAnswer> => {
    answer = (ways[way] as (body: string) => Answering)(body);
    return bench.send(call, { accepts_events: way !== 'collected' }).done;
  };
  const message = ({ body, by }: FakeAnswer): string => (by === 'events' ? body.toString().replace(/^data: |\n\n$/g, '') : body.toString());

  const accepted = [
    ['1', '1'],
    ['1', '"1"'],
    ['"1"', '1'],
    ['"\\u0031"', '1'],
    ['-12', '"-12"'],
    ['"a"', '"\\u0061"'],
  ] as const;
  for (const way of Object.keys(ways)) {
    it(`an answer whose id spells the call’s is told with the call’s own: ${way}`, async () => {
      for (const [asked, told] of accepted) {
        for (const text of ['x', LARGE]) {
          for (const [at, body] of bodies(told, text).entries()) {
            const result = await ask(way, body, asked);
            const what = `${told} for ${asked}, ${text.length} ${at}`;
            assert.deepEqual([result.status, result.outcome], [200, 'ok'], what);
            // White space may stand where the id was longer.
            assert.equal(message(result).replace(/(?<="id" ?: ?(?:-?[0-9]+|"[^"]*")) +/, ''), bodies(asked, text)[at] as string, what);
          }
        }
      }
    });
  }

  it('an answer with any other id, or with none, answers nobody', async () => {
    for (const [asked, told] of [
      ['1', '2'],
      ['1', '"2"'],
      ['1', '"01"'],
      ['1', '1.0'],
      ['"a"', '"b"'],
      ['1', 'null'],
      ['1', '{}'],
    ] as const) {
      for (const way of Object.keys(ways)) {
        const result = await ask(way, bodies(told)[0] as string, asked);
        if (way === 'event') assert.deepEqual([result.reason, result.outcome], ['error', 'upstream_error'], told);
        else assert.equal(result.error?.code, 'UPSTREAM_BROKEN', `${told} ${way}`);
      }
    }
  });

  it('the length that a large answer was told with stays true', async () => {
    for (const [asked, told] of accepted) {
      for (const body of bodies(told, LARGE)) {
        const lengths: (number | undefined)[] = [];
        answer = (ways.whole as (body: string) => Answering)(`${BOM}${body}`);
        const exchange = bench.send(modernCall('tools/call', { name: 'x' }, { over: { id: asked } }));
        const stream = exchange.stream.bind(exchange);
        exchange.stream = (status, headers, length) => {
          lengths.push(length);
          return stream(status, headers, length);
        };
        const result = await exchange.done;
        assert.deepEqual([result.by, result.outcome, JSON.parse(message(result)).id], ['stream', 'ok', JSON.parse(asked)]);
        assert.equal(lengths.length, 1);
        if (lengths[0] !== undefined) assert.equal(lengths[0], result.body.length, `${told} for ${asked}`);
      }
    }
  });

  it('a byte order mark before JSON is ignored and does not reach the client', async () => {
    for (const way of ['whole', 'chunked', 'event', 'collected']) {
      for (const text of ['x', LARGE]) {
        const [body] = bodies('1', text) as [string];
        const result = await ask(way, `${BOM}${body}`, '1');
        assert.deepEqual([result.status, result.outcome, message(result)], [200, 'ok', body], `${way} ${text.length}`);
      }
    }
    answer = (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`${BOM}data: ${BOM}${bodies('1')[0]}\n\n`);
    const stream = await bench.send(modernCall('tools/call', { name: 'x' })).done;
    assert.equal(message(stream), bodies('1')[0]);
    const error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}';
    answer = (_request, response) => void response.writeHead(400, json).end(`${BOM}${error}`);
    const refused = await bench.send(modernCall('tools/call', { name: 'x' })).done;
    assert.deepEqual([refused.status, refused.body.toString()], [400, error]);
    const listed = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"marked"}]}}';
    await ask('whole', `${BOM}${listed}`, '1', modernCall('tools/list'));
    assert.equal(bench.told.at(-1), 'tools /alpha/mcp marked');
  });

  const error = (id: string): string => `{"jsonrpc":"2.0",${id}"error":{"code":-32600,"message":"no"}}`;
  const ids = ['"id":"server-error",', '"id":null,', '"id":2,', '"id":"1",', '', '"id":1,'];

  it('an error status is told with the request’s own id, whatever id its body has', async () => {
    for (const status of [400, 404, 405, 409, 422, 429, 500, 503]) {
      for (const id of ids) {
        answer = (_request, response) => void response.writeHead(status, json).end(error(id));
        const result = await bench.send(modernCall('tools/list')).done;
        assert.deepEqual([result.by, result.status, result.outcome, result.rpc_code], ['respond', status, 'rpc_error', -32600]);
        assert.deepEqual(
          JSON.parse(result.body.toString()),
          { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'no' } },
          `${status} ${id}`,
        );
        assert.equal(fields(result.headers).allow, status === 405 ? 'POST' : undefined);
      }
    }
  });

  it('an error to what has no id has none', async () => {
    const calls: Call[] = [
      legacyCall('notifications/x', {}, { over: { kind: 'notification', id: undefined } }),
      legacyCall('', {}, { over: { kind: 'response', id: '1' } }),
      legacyBare('get_stream', {
        headers: { 'Mcp-Session-Id': bench.seal.seal('s', { route: '/alpha/mcp', issuer: '', principal: '', client: '' }) ?? '' },
      }),
    ];
    for (const call of calls) {
      for (const id of ids) {
        answer = (_request, response) => void response.writeHead(400, json).end(error(id));
        const result = await bench.send(call).done;
        assert.deepEqual([result.status, result.body.toString()], [400, error('')], `${call.kind} ${id}`);
      }
    }
  });

  it('an error that is the only answer, with success as its status or on the call’s stream, is the call’s', async () => {
    for (const id of ids) {
      const result = await ask('whole', error(id), '1');
      assert.deepEqual([result.outcome, JSON.parse(result.body.toString()).id], ['rpc_error', 1], id);
    }
    for (const way of ['event', 'collected']) {
      for (const id of ['"id":null,', '', '"id":"1",']) {
        const result = await ask(way, error(id), '1');
        assert.deepEqual([result.outcome, JSON.parse(message(result)).id], ['rpc_error', 1], `${way} ${id}`);
      }
    }
  });

  it('a question to a client that takes JSON only is dropped and counted', async () => {
    const lines = [
      '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}',
      '{"jsonrpc":"2.0","id":"p","method":"ping"}',
      bodies('1')[0],
    ];
    answer = (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(lines.map((line) => `data: ${line}\n\n`).join(''));
    const result = await bench.send(legacyCall('tools/call', { name: 'x' }), { accepts_events: false }).done;
    assert.equal(result.body.toString(), bodies('1')[0]);
    assert.deepEqual(
      bench.told.filter((line) => line.startsWith('question')),
      ['question alpha elicitation/create'],
    );
  });
});
