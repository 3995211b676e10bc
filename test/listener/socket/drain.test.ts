import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { Call, Exchange } from '../../../src/contract/runtime.js';
import { until } from '../../support/e2e/until.js';
import { answerEmpty, type Listening, type ListeningSetup, listening } from '../../support/listening.js';
import { rawExchange, type Step } from '../../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const HEAD = `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${PING.length}\r\n\r\n`;
const LISTEN_BODY =
  '{"jsonrpc":"2.0","id":"s1","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}';
const LISTEN = `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: ${LISTEN_BODY.length}\r\n\r\n${LISTEN_BODY}`;
const GET = 'GET /mcp HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n';
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const COMPLETION = '{"jsonrpc":"2.0","id":"s1","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"s1"}}}';

/** Streams stay open until the drain, which completes a subscription; other calls take `ms`. */
const slow =
  (ms: number) =>
  (call: Call, exchange: Exchange): void => {
    if (call.kind === 'get_stream') exchange.events([]);
    else if (call.method === 'subscriptions/listen') {
      const writer = exchange.events([]);
      exchange.onCancel((reason) => reason === 'drain' && writer?.write(COMPLETION));
    } else setTimeout(() => answerEmpty(call, exchange), ms);
  };

async function draining(setup: ListeningSetup, clients: readonly (readonly Step[])[], run: (up: Listening) => Promise<void>) {
  const up = await listening({
    limits: { read_timeout_ms: 3000, head_timeout_ms: 3000, body_timeout_ms: 3000, sse_keepalive_ms: 0 },
    ...setup,
  });
  const answers = clients.map((steps) => rawExchange(up.port, steps, 5000));
  for (let i = 0; i < 200 && [...up.listener.phases()].length < clients.length; i++) await wait(10);
  await wait(150);
  await run(up);
  const result = await Promise.all(answers);
  await up.close();
  return { up, answers: result };
}

describe('drain', () => {
  test('calls read in full finish, half requests get 503, idle ones close, subscriptions get their completion', async () => {
    const { up, answers } = await draining(
      { handle: slow(400) },
      [[HEAD + PING], [HEAD + PING.slice(0, 9)], ['POST /mcp HTTP/1.1\r\nHo'], [], [LISTEN], [GET]],
      async (up) => {
        const result = await up.listener.drain.begin();
        assert.equal(result.killed, 0);
        assert.equal(up.listener.drain.state, 'closed');
      },
    );
    const [whole, half_body, half_head, silent, listen, get] = answers;
    assert.deepEqual(whole?.statuses, [200]);
    assert.match(whole?.text ?? '', /connection: close/i);
    assert.deepEqual([half_body?.statuses, half_head?.statuses, silent?.statuses], [[503], [503], []]);
    assert.match(half_head?.text ?? '', /Retry-After: [1-5]\r\n[\s\S]*"code":"DRAINING"/);
    assert.match(
      listen?.text ?? '',
      /data: \{"jsonrpc":"2\.0","id":"s1","result":\{"resultType":"complete","_meta":\{"io\.modelcontextprotocol\/subscriptionId":"s1"\}\}\}\n\n/,
    );
    assert.ok(listen?.text.endsWith('0\r\n\r\n'), 'the stream ended whole');
    assert.ok(get?.text.endsWith('0\r\n\r\n') && !get.text.includes('data:'));
    assert.ok(
      answers.every((answer) => answer.end === 'closed'),
      answers.map((answer) => answer.end).join(' '),
    );
    assert.deepEqual([up.counts.get('closed listen drain'), up.counts.get('closed get drain'), up.counts.get('drained')], [1, 1, 1]);
  });

  test('a stream that is not open yet is told to come back, and counted; so is one that begins too late, and half a body', async () => {
    const reasons: string[] = [];
    const { up, answers } = await draining(
      {
        gate: { decide: ({ method }) => (method === 'GET' ? wait(300).then(() => ({ kind: 'pass' })) : { kind: 'pass' }) },
        handle: (_call, exchange) => exchange.onCancel((reason) => reasons.push(reason)),
      },
      [[LISTEN], [GET], [HEAD + PING.slice(0, 9)]],
      async (up) => assert.equal((await up.listener.drain.begin()).killed, 0),
    );
    for (const { text, statuses } of answers)
      assert.ok(statuses[0] === 503 && /retry-after: [1-5]\r\n[\s\S]*"code":"DRAINING"/i.test(text), text);
    assert.deepEqual([reasons, up.counts.get('streamRefused drain')], [['drain'], 2]);
    assert.deepEqual(
      up.records.map(({ outcome }) => outcome),
      ['refused', 'refused', 'refused'],
    );
  });

  test('an idle kept-alive connection is closed at once', async () => {
    const { answers } = await draining({}, [[HEAD + PING]], async (up) => {
      const result = await up.listener.drain.begin();
      assert.ok(result.duration_ms < 900, `${result.duration_ms}`);
    });
    assert.deepEqual([answers[0]?.statuses, answers[0]?.end], [[200], 'closed']);
  });

  test('whoever sends the next request at the end of a stream that was told to be kept alive gets 503, and no reset', async () => {
    const up = await listening({ handle: slow(0) });
    const socket = connect(up.port, '127.0.0.1', () => socket.write(GET));
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (text.endsWith('0\r\n\r\n')) socket.write(HEAD + PING);
    });
    const ended = new Promise<unknown>((resolve) => socket.on('end', resolve).on('error', resolve));
    while (!text.includes('keep-alive')) await wait(10);
    const drained = up.listener.drain.begin();
    assert.equal(await ended, undefined);
    assert.match(text, /^HTTP\/1\.1 200 [\s\S]*0\r\n\r\nHTTP\/1\.1 503 [\s\S]*"code":"DRAINING"/);
    assert.equal((await drained).killed, 0);
    await up.close();
  });

  test('what is still open at drain_timeout_ms is killed and counted by kind', async () => {
    const reasons: string[] = [];
    const { up, answers } = await draining(
      { handle: (_call, exchange) => exchange.onCancel((reason) => reasons.push(reason)), limits: { request_timeout_ms: 60_000 } },
      [[HEAD + PING]],
      async (up) => {
        const result = await up.listener.drain.begin();
        assert.equal(result.killed, 1);
        assert.ok(result.duration_ms >= 995, `${result.duration_ms}`);
      },
    );
    assert.deepEqual([reasons, answers[0]?.statuses], [['drain'], []]);
    assert.deepEqual([up.counts.get('killed call'), up.counts.get('killed connection')], [1, 1]);
  });

  test('during drain_delay_ms new work is served with Connection: close, then refused', async () => {
    const up = await listening({ limits: { drain_delay_ms: 400 } });
    const drained = up.listener.drain.begin();
    assert.equal(up.listener.drain.state, 'draining');
    const during = await rawExchange(up.port, [HEAD + PING], 1000);
    assert.deepEqual([during.statuses, during.end], [[200], 'closed']);
    await drained;
    await assert.rejects(new Promise((resolve, reject) => connect(up.port, '127.0.0.1').on('connect', resolve).on('error', reject)));
    await up.close();
  });

  test('killNow ends everything at once', async () => {
    const up = await listening({ handle: slow(5000) });
    const sockets: Socket[] = Array.from({ length: 3 }, () => connect(up.port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined).write(HEAD + PING);
    await until('the calls run', () => up.calls.length === 3);
    const gone = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve))));
    up.listener.drain.killNow();
    await gone;
    await until('no connection is left', () => up.listener.drain.remaining === 0);
    await up.close();
  });
});
