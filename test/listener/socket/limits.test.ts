import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { Call, Exchange } from '../../../src/contract/runtime.js';
import { until } from '../../support/e2e/until.js';
import { answerEmpty, type ListeningSetup, listening, SMALL_LIMITS } from '../../support/listening.js';
import { rawExchange, type Step } from '../../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const head = (extra = '', length = PING.length): string =>
  `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}${extra}Content-Length: ${length}\r\n\r\n`;
const REQUEST = head() + PING;

/** A head of exactly `size` bytes. */
function headOf(size: number): string {
  const bare = head('X: \r\n').length;
  return head(`X: ${'v'.repeat(size - bare)}\r\n`);
}

async function ask(setup: ListeningSetup, steps: readonly Step[], limit_ms?: number) {
  const up = await listening(setup);
  try {
    const answer = await rawExchange(up.port, steps, limit_ms);
    return { ...answer, calls: up.calls.length, counts: up.counts };
  } finally {
    await up.close();
  }
}

describe('head limits', () => {
  test('a head of exactly max_header_bytes passes, one byte more is 431', async () => {
    const fits = await ask({}, [headOf(32_768) + PING], 500);
    assert.deepEqual([fits.statuses, fits.calls], [[200], 1]);
    const over = await ask({}, [headOf(32_769) + PING]);
    assert.deepEqual([over.statuses, over.calls, over.end], [[431], 0, 'closed']);
    assert.match(over.text, /"code":"HEAD_TOO_LARGE"/);
  });

  test('body bytes that came with the head do not count', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(60_000)}"}}`;
    const answer = await ask({}, [head('', body.length) + body], 500);
    assert.deepEqual([answer.statuses, answer.calls], [[200], 1]);
  });

  test('white space that the parser drops still counts', async () => {
    const padded = await ask({}, [head(`X:${' '.repeat(39_000)}v\r\n`) + PING]);
    assert.deepEqual([padded.statuses, padded.calls], [[431], 0]);
    const large_body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(90_000)}"}}`;
    const hidden = await ask({}, [head(`X:${' '.repeat(39_900)}v\r\n`, large_body.length) + large_body]);
    assert.deepEqual([hidden.statuses, hidden.calls], [[431], 0]);
  });

  test('200 fields pass, 201 are 431, 2 100 too', async () => {
    const fields = (count: number): string => head('a: b\r\n'.repeat(count - 3));
    assert.deepEqual((await ask({}, [fields(200) + PING], 500)).statuses, [200]);
    assert.deepEqual((await ask({}, [fields(201) + PING])).statuses, [431]);
    assert.deepEqual((await ask({}, [fields(2100) + PING])).statuses, [431]);
  });

  test('4 MB of white space that never ends is 431', async () => {
    const flood = Array.from({ length: 64 }, () => ' '.repeat(65_536));
    const answer = await ask(
      { limits: { head_timeout_ms: 3000, read_timeout_ms: 3000 } },
      ['POST /mcp HTTP/1.1\r\nHost: a\r\nX:', ...flood],
      2500,
    );
    assert.ok(answer.statuses[0] === 431 || answer.end === 'reset', answer.text.slice(0, 200));
    assert.equal(answer.calls, 0);
  });
});

describe('arrival deadlines', () => {
  test('a silent connection is 408 at the read timeout', async () => {
    const answer = await ask({}, []);
    assert.deepEqual([answer.statuses, answer.end], [[408], 'closed']);
    const id = /\r\nX-Request-Id: (\S+)\r\n/.exec(answer.text)?.[1];
    assert.match(answer.text, new RegExp(`"data":\\{"code":"HEAD_TIMEOUT","request_id":"${id}"\\}`));
    assert.ok(answer.elapsed_ms >= SMALL_LIMITS.read_timeout_ms - 5, `${answer.elapsed_ms}`);
    assert.ok(answer.elapsed_ms < 3 * SMALL_LIMITS.read_timeout_ms, `${answer.elapsed_ms}`);
  });

  test('a drip that never pauses for the read timeout is 408 at the head timeout', async () => {
    const drip = Array.from({ length: 30 }, (_, i) => [100, `A${i}: 1\r\n`] as const).flat();
    const answer = await ask({}, ['POST /mcp HTTP/1.1\r\nHost: a\r\n', ...drip]);
    assert.deepEqual([answer.statuses, answer.end], [[408], 'closed']);
    assert.ok(
      answer.elapsed_ms >= SMALL_LIMITS.head_timeout_ms - 5 && answer.elapsed_ms < 3 * SMALL_LIMITS.head_timeout_ms,
      `${answer.elapsed_ms}`,
    );
  });

  test('a drip of line breaks on a kept-alive connection is 408 too', async () => {
    const drip = Array.from({ length: 30 }, () => [100, '\r\n'] as const).flat();
    const answer = await ask({}, [REQUEST, ...drip], 3000);
    assert.deepEqual([answer.statuses, answer.end, answer.calls], [[200, 408], 'closed', 1]);
  });

  test('half a second head behind a whole request is 408', async () => {
    const answer = await ask({}, [`${REQUEST}POST /mcp HT`], 3000);
    assert.deepEqual([answer.statuses, answer.end, answer.calls], [[200, 408], 'closed', 1]);
  });

  test('a body that stops is 408 at the read timeout, one that drips at the body timeout', async () => {
    const stopped = await ask({}, [head() + PING.slice(0, 5)]);
    assert.deepEqual([stopped.statuses, stopped.end, stopped.calls], [[408], 'closed', 0]);
    assert.match(stopped.text, /"code":"BODY_TIMEOUT"/);
    const drip = Array.from({ length: 30 }, () => [100, 'x'] as const).flat();
    const slow = await ask({}, [head('', 1000), ...drip]);
    assert.deepEqual([slow.statuses, slow.end, slow.calls], [[408], 'closed', 0]);
    assert.ok(
      slow.elapsed_ms >= SMALL_LIMITS.body_timeout_ms - 5 && slow.elapsed_ms < 3 * SMALL_LIMITS.body_timeout_ms,
      `${slow.elapsed_ms}`,
    );
  });

  test('an idle kept-alive connection is closed after keep_alive_timeout_ms without a word', async () => {
    const answer = await ask({ limits: { keep_alive_timeout_ms: 500 } }, [REQUEST], 3000);
    assert.deepEqual([answer.statuses, answer.end], [[200], 'closed']);
    assert.ok(answer.elapsed_ms >= 495, `${answer.elapsed_ms}`);
  });

  test('a connection that idled within keep_alive_timeout_ms is answered again', async () => {
    const answer = await ask({}, [REQUEST, 900, REQUEST], 1300);
    assert.deepEqual([answer.statuses, answer.calls], [[200, 200], 2]);
  });
});

describe('body limits', () => {
  const body = (size: number): string => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(size - 58)}"}}`;

  test('exactly max_body_bytes passes, one byte more is 413 before a body byte is sent', async () => {
    const fits = body(100_000);
    assert.equal(fits.length, 100_000);
    assert.deepEqual((await ask({}, [head('', 100_000) + fits], 800)).statuses, [200]);
    const over = await ask({}, [head('', 100_001)]);
    assert.deepEqual([over.statuses, over.end, over.calls], [[413], 'closed', 0]);
    assert.match(over.text, /"max_body_bytes":100000/);
  });

  test('chunks are refused unless accepted, then counted', async () => {
    const chunked = (text: string): string =>
      `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    assert.deepEqual((await ask({}, [chunked(PING)])).statuses, [411]);
    const accepting = { options: { chunked: true } };
    const good = await ask(accepting, [chunked(PING)], 500);
    assert.deepEqual([good.statuses, good.calls], [[200], 1]);
    const over = await ask(accepting, [chunked(body(100_001))]);
    assert.deepEqual([over.statuses, over.end, over.calls], [[413], 'closed', 0]);
    const both = await ask(accepting, [chunked(PING).replace('Transfer', 'Content-Length: 3\r\nTransfer')]);
    assert.ok([400, 411].includes(both.statuses[0] ?? 0));
    for (const coding of ['gzip, chunked', 'chunked, chunked', 'identity']) {
      const other = await ask(accepting, [chunked(PING).replace('chunked', coding)]);
      assert.ok([400, 411].includes(other.statuses[0] ?? 0), coding);
      assert.deepEqual([other.end, other.calls], ['closed', 0], coding);
    }
    const old = await ask(accepting, [chunked(PING).replace('HTTP/1.1', 'HTTP/1.0')]);
    assert.deepEqual([old.statuses, old.end, old.calls], [[411], 'closed', 0]);
    assert.deepEqual((await ask(accepting, [chunked(PING).replace('chunked', 'Chunked')], 500)).statuses, [200]);
  });

  test('a coded body is 415, identity is not', async () => {
    assert.deepEqual((await ask({}, [head('Content-Encoding: gzip\r\n') + PING])).statuses, [415]);
    assert.deepEqual((await ask({}, [head('Content-Encoding: identity\r\n') + PING], 500)).statuses, [200]);
  });

  test('a refused body is discarded within bounds, then the connection ends', async () => {
    const answer = await ask({}, [head('', 50_000_000), ...Array.from({ length: 100 }, () => 'x'.repeat(65_536))], 4000);
    assert.ok(answer.statuses[0] === 413 || answer.end === 'reset');
    assert.notEqual(answer.end, 'open');
  });
});

describe('connection limit', () => {
  test('a connection over max_connections is closed unread and counted; a freed place is taken again', async () => {
    const up = await listening({ limits: { max_connections: 3, read_timeout_ms: 5000, head_timeout_ms: 5000 } });
    try {
      const held = Array.from({ length: 3 }, () => connect(up.port, '127.0.0.1'));
      await Promise.all(held.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
      await until('the places are taken', () => up.listener.drain.remaining === 3);
      const extra = await rawExchange(up.port, [REQUEST]);
      assert.deepEqual([extra.statuses, extra.text], [[], '']);
      assert.notEqual(extra.end, 'open');
      assert.equal(up.counts.get('connectionRefused limit'), 1);
      held[0]?.destroy();
      await until('a place is free', () => up.listener.drain.remaining === 2);
      assert.deepEqual((await rawExchange(up.port, [REQUEST], 500)).statuses, [200]);
      for (const socket of held) socket.destroy();
    } finally {
      await up.close();
    }
  });
});

describe('gates before the body', () => {
  const refusing: ListeningSetup = {
    gate: { decide: () => ({ kind: 'refuse', status: 401, code: 'NO', headers: { 'www-authenticate': 'Bearer' } }) },
  };

  test('a refused caller is answered at once, without 100 Continue, and no body byte is waited for', async () => {
    const answer = await ask(refusing, [head('Expect: 100-continue\r\n', 90_000)], 1500);
    assert.deepEqual([answer.statuses, answer.end, answer.calls], [[401], 'closed', 0]);
    assert.doesNotMatch(answer.text, /100 Continue/);
    assert.match(answer.text, /connection: close/i);
    assert.match(answer.text, /www-authenticate: Bearer/);
    assert.ok(answer.elapsed_ms < 1000, `${answer.elapsed_ms}`);
  });

  test('an admitted caller that expects it gets 100 Continue after the gates', async () => {
    const answer = await ask({ gate: { decide: () => ({ kind: 'pass' }) } }, [head('Expect: 100-continue\r\n'), 150, PING], 800);
    assert.deepEqual([answer.statuses, answer.calls], [[200], 1]);
    assert.ok(answer.text.startsWith('HTTP/1.1 100 Continue'));
  });

  test('a late gate is 504, a throwing gate 500, and neither says why', async () => {
    const late = await ask({ gate: { decide: () => new Promise(() => undefined) } }, [REQUEST], 2000);
    assert.deepEqual([late.statuses, late.calls], [[504], 0]);
    assert.match(late.text, /"code":-32603.*"GATE_TIMEOUT"/);
    const broken = await ask(
      {
        gate: {
          decide: () => {
            throw new Error('secret detail');
          },
        },
      },
      [REQUEST],
    );
    assert.deepEqual([broken.statuses, broken.calls], [[500], 0]);
    assert.doesNotMatch(broken.text, /secret detail/);
  });

  test('while a gate waits only the gate is timed, not the body', async () => {
    const slow = { decide: () => new Promise<{ kind: 'pass' }>((resolve) => setTimeout(() => resolve({ kind: 'pass' }), 900)) };
    const answer = await ask({ gate: slow, limits: { gate_timeout_ms: 2000 } }, [head(), 1000, PING], 2500);
    assert.deepEqual([answer.statuses, answer.calls], [[200], 1]);
  });
});

describe('running calls', () => {
  const later = (ms: number) => (call: Call, exchange: Exchange) => void setTimeout(() => answerEmpty(call, exchange), ms);

  test('a call that outlasts request_timeout_ms is 504 with its id, and its work is cancelled', async () => {
    const reasons: string[] = [];
    const answer = await ask({ handle: (_call, exchange) => exchange.onCancel((reason) => reasons.push(reason)) }, [REQUEST], 2500);
    assert.deepEqual([answer.statuses, reasons], [[504], ['deadline']]);
    assert.match(answer.text, /"id":1,.*"code":"DEADLINE"/);
  });

  test('a question to the client lasts until request_timeout_max_ms, progress restarts request_timeout_ms', async () => {
    const telling = (tell: (exchange: Exchange) => void) => (call: Call, exchange: Exchange) => {
      tell(exchange);
      setTimeout(() => answerEmpty(call, exchange), 1200);
    };
    const questioned = telling((exchange) => {
      exchange.inputRequested();
      exchange.progressed();
    });
    const limits = { request_timeout_ms: 400, request_timeout_max_ms: 4000 };
    const answers = await Promise.all([
      ask({ limits, handle: questioned }, [REQUEST], 1800),
      ask({ limits, handle: telling((exchange) => exchange.progressed()) }, [REQUEST], 1800),
      ask({ limits: { request_timeout_ms: 100, request_timeout_max_ms: 400 }, handle: questioned }, [REQUEST], 1800),
    ]);
    assert.deepEqual(
      answers.map(({ statuses }) => statuses),
      [[200], [504], [504]],
    );
  });

  test('a call within the limit is not touched by the arrival deadlines', async () => {
    assert.deepEqual((await ask({ handle: later(900) }, [REQUEST], 1500)).statuses, [200]);
  });

  test('pipelined requests are never dispatched: one answer, then the end', async () => {
    const answer = await ask({ handle: later(100) }, [REQUEST.repeat(3)], 2000);
    assert.deepEqual([answer.statuses, answer.end, answer.calls], [[200], 'closed', 1]);
  });

  test('keep_alive: false answers one request a connection', async () => {
    const answer = await ask({ options: { keep_alive: false } }, [REQUEST], 1000);
    assert.deepEqual([answer.statuses, answer.end], [[200], 'closed']);
  });
});
