import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { answerEmpty, type Listening, listening } from '../support/listening.js';

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const lengths = fc.constantFrom(0, 2, 40, 19_000, 20_001);
const line = fc.oneof(
  fc.constantFrom('', 'Expect: 100-continue\r\n', 'Expect: x\r\n', 'Transfer-Encoding: chunked\r\n', 'Connection: close\r\n'),
  fc.constantFrom(
    'Connection: Upgrade\r\nUpgrade: h2c\r\n',
    'Host: b\r\n',
    'X : y\r\n',
    ' folded\r\n',
    'Content-Type: application/json\r\n',
  ),
  fc.nat(5000).map((n) => `X: ${'y'.repeat(n)}\r\n`),
  fc.nat(60).map((n) => 'a:\r\n'.repeat(n)),
  fc.nat(9000).map((n) => `X:${' '.repeat(n)}v\r\n`),
);

const request = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'SETUP', 'CONNECT', 'OPTIONS'),
    target: fc.constantFrom('/mcp', '/mcp', '/mcp', '*', 'a:1', '/m#x', '//mcp', 'http://a/mcp'),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'RTSP/1.0', 'HTTP/2.0'),
    line,
    length: lengths,
    sent: fc.option(fc.nat(60_000), { nil: undefined }),
    odd: fc.option(fc.tuple(fc.nat(120), fc.constantFrom('\0', '\r', '\n', ' ', ':', '\xff', '\r\n\r\n', '')), { nil: undefined }),
  })
  .map(({ method, target, version, line: extra, length, sent, odd }) => {
    const text = `${method} ${target} ${version}\r\nHost: a\r\n${extra}Content-Length: ${length}\r\n\r\n${'b'.repeat(sent ?? length)}`;
    if (odd === undefined) return text;
    return text.slice(0, odd[0]) + odd[1] + text.slice(odd[0] + 1);
  });

const client = fc.record({
  text: fc.array(request, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  cuts: fc.array(fc.nat(400), { maxLength: 4 }),
  pause_ms: fc.constantFrom(0, 0, 5, 30),
  end: fc.constantFrom('wait', 'destroy', 'reset', 'half'),
});

/** Sends one client's bytes in pieces and leaves in its way. Resolves when the socket is gone. */
function play(port: number, { text, cuts, pause_ms, end }: { text: string; cuts: number[]; pause_ms: number; end: string }): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: end === 'half' });
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => resolve());
    setTimeout(() => socket.destroy(), 700).unref();
    socket.on('connect', async () => {
      let rest = text;
      for (const cut of cuts) {
        socket.write(rest.slice(0, cut), 'latin1');
        rest = rest.slice(cut);
        if (pause_ms > 0) await wait(pause_ms);
      }
      socket.write(rest, 'latin1');
      if (end === 'destroy') socket.destroy();
      else if (end === 'reset') socket.resetAndDestroy();
      else if (end === 'half') socket.end();
    });
  });
}

async function settled(up: Listening): Promise<void> {
  for (let i = 0; i < 60 && up.listener.drain.remaining > 0; i++) await wait(50);
}

describe('mutated heads in any pieces, with any end', () => {
  test('nothing is thrown, no refused head is dispatched, every connection and slot comes back, and the next request is served', async () => {
    const thrown: unknown[] = [];
    const onThrown = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', onThrown);
    let admitted = 0;
    const up = await listening({
      limits: {
        max_connections: 300,
        head_timeout_ms: 300,
        read_timeout_ms: 150,
        body_timeout_ms: 300,
        keep_alive_timeout_ms: 100,
        max_header_bytes: 4096,
        max_header_count: 20,
        max_body_bytes: 20_000,
      },
      gate: {
        async decide() {
          await wait(Math.random() * 10);
          if (Math.random() < 0.2) return { kind: 'refuse', status: 403, code: 'NO' };
          admitted++;
          return { kind: 'pass' };
        },
      },
      handle: answerEmpty,
    });
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(client, { minLength: 16, maxLength: 16 }), async (clients) => {
          await Promise.all(clients.map((one) => play(up.port, one)));
        }),
        { numRuns: 12, endOnFailure: true },
      );
      await settled(up);
      assert.deepEqual(thrown, []);
      assert.ok(up.calls.length <= admitted, `${up.calls.length} handler runs of ${admitted} admissions`);
      assert.equal(up.listener.drain.remaining, 0, 'connections');
      assert.equal(up.listener.subscriptions, 0, 'slots');
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      const headers = { 'content-type': 'application/json' };
      const statuses = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(async () => (await fetch(`http://127.0.0.1:${up.port}/mcp`, { method: 'POST', headers, body })).status),
      );
      assert.ok(statuses.includes(200), statuses.join(' '));
    } finally {
      process.off('uncaughtException', onThrown);
      await up.close();
    }
  });

  test('CONNECT and a reset do not end the process', async () => {
    const up = await listening();
    for (let i = 0; i < 100; i++) {
      await play(up.port, {
        text: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
        cuts: [],
        pause_ms: 0,
        end: i % 2 === 0 ? 'reset' : 'destroy',
      });
    }
    assert.equal(up.calls.length, 0);
    await up.close();
  });
});
