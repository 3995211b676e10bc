import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Call, Exchange, HeaderList, Runtime } from '../../../src/contract/runtime.js';
import { GatewayError } from '../../../src/errors/error.js';
import { SseClients } from '../../../src/runtime/sse/sse-clients.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import { createFakeExchange, type FakeExchange } from '../../support/fake-exchange.js';
import { type CallInit, legacyBare, legacyCall, modernCall, realClock } from '../../support/proxied-bench.js';

const until = (done: () => boolean): Promise<void> => untilNamed(done.toString(), done);
const ALICE = { identity: { principal: 'alice' } };
const BOB = { identity: { principal: 'bob' } };
const JSON_HEADERS = ['content-type', 'application/json'];

type Asked = readonly [call: Call, exchange: Exchange];

describe('clients of HTTP+SSE', () => {
  let door: Runtime;
  /** What reached the runtime. */
  let asked: Asked[];
  /** How the runtime answers; undefined: not. */
  let answer: ((call: Call, exchange: Exchange) => void) | undefined;

  const openDoor = (request_timeout_ms = 30_000): void => {
    const runtime: Runtime = {
      name: 'alpha',
      kind: 'hosted',
      health: 'ready',
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      handle: (call, exchange) => {
        asked.push([call, exchange]);
        answer?.(call, exchange);
      },
    };
    door = new SseClients({ request_timeout_ms, request_timeout_max_ms: request_timeout_ms }, realClock).doorOf(
      runtime,
      '/public/sse/message',
    );
  };
  beforeEach(() => {
    asked = [];
    answer = undefined;
    openDoor();
  });
  const streams: FakeExchange[] = [];
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.cancel('client');
  });

  const send = (call: Call): FakeExchange => {
    const exchange = createFakeExchange();
    door.handle(call, exchange);
    return exchange;
  };
  /** Opens a stream; what a POST to its endpoint has. */
  const open = (init: CallInit = ALICE, fake = createFakeExchange()): { readonly stream: FakeExchange; readonly query: string } => {
    streams.push(fake);
    door.handle(legacyBare('get_stream', init), fake);
    const [, query] = /^event: endpoint\ndata: \/public\/sse\/message\?(id=[A-Za-z0-9_.-]+)\n\n$/.exec(fake.writes[0] ?? '') ?? [];
    assert.ok(query !== undefined, fake.writes[0]);
    return { stream: fake, query };
  };
  const posted = (call: Call, query: string): FakeExchange => send({ ...call, head: { ...call.head, query } });
  const codeOf = async (exchange: FakeExchange): Promise<string | undefined> => (await exchange.done).error?.code;
  const messages = ({ writes }: FakeExchange): readonly { readonly [name: string]: unknown }[] =>
    writes.slice(1).map((event) => JSON.parse(/^event: message\ndata: (.*)\n\n$/s.exec(event)?.[1] ?? ''));
  const respond = (exchange: Exchange, result: object, headers: HeaderList = []): void =>
    exchange.respond(200, [...JSON_HEADERS, ...headers], Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result })), 'ok');
  const codeIn = ({ error }: { readonly [name: string]: unknown } = {}): string | undefined =>
    (error as { data: { code: string } } | undefined)?.data.code;
  const initialize = async (query: string, init: CallInit = ALICE): Promise<void> => {
    const before = answer;
    answer = (_call, exchange) => respond(exchange, { protocolVersion: '2024-11-05' }, ['mcp-session-id', 'inner']);
    assert.equal((await posted(legacyCall('initialize', {}, init), query).done).status, 202);
    answer = before;
  };
  const last = (): Asked => asked.at(-1) as Asked;

  it('a request is accepted at once, and answered on the stream', async () => {
    const { stream, query } = open();
    const { by, status } = await posted(legacyCall('tools/list', {}, ALICE), query).done;
    assert.deepEqual([by, status, messages(stream)], ['accept', 202, []]);
    respond(last()[1], { tools: [] });
    assert.deepEqual(messages(stream), [{ jsonrpc: '2.0', id: 1, result: { tools: [] } }]);
  });

  it('the id opens for the caller of the stream and its route alone, and once the stream is over for nobody', async () => {
    const { stream, query } = open();
    const call = (init: CallInit = ALICE): Call => legacyCall('tools/list', {}, init);
    assert.equal(await codeOf(posted(call(BOB), query)), 'SESSION_NOT_FOUND');
    assert.equal(await codeOf(posted(call({}), query)), 'SESSION_NOT_FOUND');
    assert.equal(await codeOf(posted(call({ ...ALICE, route: { path: '/beta' } }), query)), 'SESSION_NOT_FOUND');
    for (const other of ['', 'id=', 'id=x', `${query}&${query}`, `${query}x`, `x=${query.slice(3)}`])
      assert.equal(await codeOf(posted(call(), other)), 'SESSION_NOT_FOUND', other);
    assert.equal(asked.length, 0);
    assert.equal((await posted(call(), query).done).status, 202);
    stream.cancel('client');
    assert.equal(await codeOf(posted(call(), query)), 'SESSION_NOT_FOUND');
  });

  it('a modern message is refused', async () => {
    const { query } = open();
    assert.equal(await codeOf(posted(modernCall('tools/list', {}, ALICE), query)), 'UNSUPPORTED_VERSION');
    assert.equal(asked.length, 0);
  });

  it('the runtime sees its own session in every call, and never the id of the stream or a session id of the client', async () => {
    const { query } = open();
    await initialize(query);
    posted(legacyCall('tools/list', {}, { ...ALICE, headers: { 'Mcp-Session-Id': 'forged', 'X-Other': 'y' } }), query);
    const { headers, query: seen } = last()[0].head;
    assert.deepEqual([headers.get('mcp-session-id'), headers.all('mcp-session-id'), seen], ['inner', ['inner'], '']);
    assert.equal(headers.get('x-other'), 'y');
    assert.ok(!headers.raw.includes('forged') && headers.raw.includes('inner'));
  });

  it('after initialized it hears the runtime’s own stream, opens it again when it ends, and gives the session up with its own', async () => {
    const { stream, query } = open();
    await initialize(query);
    answer = (call, exchange) => (call.kind === 'notification' ? exchange.accept() : undefined);
    const initialized = { ...ALICE, over: { kind: 'notification' as const, id: undefined } };
    assert.equal((await posted(legacyCall('notifications/initialized', {}, initialized), query).done).status, 202);
    const [call, exchange] = last();
    assert.deepEqual([call.kind, call.head.headers.get('mcp-session-id')], ['get_stream', 'inner']);
    const writer = exchange.events([]);
    writer?.write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', { id: '7' });
    writer?.write('', { id: '8', retry: 5 });
    assert.deepEqual(messages(stream).slice(1), [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
    writer?.end('source');
    await until(() => asked.filter(([{ kind }]) => kind === 'get_stream').length === 2);
    let cancelled: string | undefined;
    last()[1].onCancel((reason) => (cancelled = reason));
    stream.cancel('client');
    assert.equal(cancelled, 'client');
    assert.deepEqual([last()[0].kind, last()[0].head.headers.get('mcp-session-id')], ['session_end', 'inner']);
  });

  it('a runtime without such a stream is left alone', async () => {
    const { query } = open();
    answer = (call, exchange) =>
      call.kind === 'get_stream'
        ? exchange.fail(new GatewayError('METHOD_NOT_ALLOWED'))
        : call.kind === 'notification' && exchange.accept();
    posted(legacyCall('notifications/initialized', {}, { ...ALICE, over: { kind: 'notification', id: undefined } }), query);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.equal(asked.filter(([{ kind }]) => kind === 'get_stream').length, 1);
  });

  it('messages of a call, its errors and an answer in parts go out on the stream', async () => {
    const { stream, query } = open();
    posted(legacyCall('tools/call', {}, ALICE), query);
    const writer = last()[1].events([]);
    writer?.write('{"jsonrpc":"2.0","method":"notifications/progress"}');
    writer?.write('{"jsonrpc":"2.0","id":1,"result":{}}');
    writer?.end('source');
    posted(legacyCall('tools/call', {}, ALICE), query);
    last()[1].fail(new GatewayError('UPSTREAM_UNREACHABLE'));
    posted(legacyCall('tools/call', {}, ALICE), query);
    const parts = last()[1].stream(200, JSON_HEADERS, undefined);
    parts.write(Buffer.from('{"jsonrpc":"2.0","id":1,'));
    parts.write(Buffer.from('"result":{"parts":2}}'));
    parts.end('source');
    const told = messages(stream).map((message) => message.method ?? message.result ?? codeIn(message));
    assert.deepEqual(told, ['notifications/progress', {}, 'UPSTREAM_UNREACHABLE', { parts: 2 }]);
  });

  it('an answer in parts of more than 16 MiB, or one that is cut, is an error', async () => {
    const { stream, query } = open();
    let cancelled = '';
    posted(legacyCall('tools/call', {}, ALICE), query);
    last()[1].onCancel((reason) => (cancelled = reason));
    const large = last()[1].stream(200, JSON_HEADERS, undefined);
    for (let i = 0; i < 17; i++) large.write(Buffer.alloc(1_048_576, 0x20));
    assert.equal(cancelled, 'error');
    posted(legacyCall('tools/call', {}, ALICE), query);
    const cut = last()[1].stream(200, JSON_HEADERS, undefined);
    assert.ok(cut.write(Buffer.alloc(16_000_000)));
    cut.end('error');
    assert.deepEqual(messages(stream).map(codeIn), ['UPSTREAM_BROKEN', 'UPSTREAM_BROKEN']);
  });

  it('a call has its deadline, and progress moves it', async () => {
    openDoor(80);
    const { stream, query } = open();
    posted(legacyCall('tools/call', {}, ALICE), query);
    let cancelled = '';
    last()[1].onCancel((reason) => (cancelled = reason));
    await until(() => messages(stream).length === 1);
    assert.equal(cancelled, 'deadline');
    assert.equal(codeIn(messages(stream)[0]), 'DEADLINE');
    respond(last()[1], {});
    assert.equal(messages(stream).length, 1);
  });

  it('a session that the runtime does not know ends the stream after the answer', async () => {
    const { stream, query } = open();
    posted(legacyCall('tools/call', {}, ALICE), query);
    last()[1].fail(new GatewayError('SESSION_NOT_FOUND'));
    const { reason } = await stream.done;
    assert.deepEqual([reason, messages(stream).length], ['source', 1]);
    assert.equal(await codeOf(posted(legacyCall('tools/list', {}, ALICE), query)), 'SESSION_NOT_FOUND');
  });

  for (const reason of ['client', 'drain', 'identity_expired'] as const) {
    it(`${reason}: what runs is cancelled`, async () => {
      const { stream, query } = open();
      posted(legacyCall('tools/call', {}, ALICE), query);
      let cancelled = '';
      last()[1].onCancel((why) => (cancelled = why));
      if (reason === 'drain') stream.drain();
      else stream.cancel(reason);
      assert.equal(cancelled, reason);
      assert.equal((await stream.done).reason, reason);
    });
  }

  it('64 calls run at once, one more is refused', async () => {
    const { query } = open();
    for (let i = 0; i < 64; i++) assert.equal((await posted(legacyCall('tools/call', {}, ALICE), query).done).status, 202);
    assert.equal(await codeOf(posted(legacyCall('tools/call', {}, ALICE), query)), 'OVERLOADED');
    respond((asked[0] as Asked)[1], {});
    assert.equal((await posted(legacyCall('tools/call', {}, ALICE), query).done).status, 202);
  });

  it('a slow reader gets everything in order; more than 4 MiB of it end the stream', async () => {
    const { stream, query } = open(ALICE, createFakeExchange({ high_water_bytes: 10 }));
    posted(legacyCall('tools/call', {}, ALICE), query);
    stream.hold();
    const writer = last()[1].events([]);
    let resumed = 0;
    writer?.onDrain(() => (resumed += 1));
    for (let n = 1; n <= 3; n++) assert.equal(writer?.write(`{"n":${n}}`), false);
    assert.equal(messages(stream).length, 1);
    stream.flow();
    await until(() => resumed === 1);
    assert.deepEqual(messages(stream), [{ n: 1 }, { n: 2 }, { n: 3 }]);
    stream.hold();
    for (let i = 0; i < 7; i++) writer?.write(Buffer.alloc(1_048_576, 0x20));
    assert.equal((await stream.done).reason, 'slow_consumer');
  });
});
