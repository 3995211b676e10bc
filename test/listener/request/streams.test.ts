import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { Call, Exchange, MessageWriter } from '../../../src/contract/runtime.js';
import { until } from '../../support/e2e/until.js';
import { type ListeningSetup, listening, SMALL_LIMITS } from '../../support/listening.js';
import { rawExchange } from '../../support/raw.js';

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}';

function modern(method: string, id: string, extra = ''): string {
  const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${META}}}`;
  return `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ${method}\r\n${extra}Content-Length: ${body.length}\r\n\r\n${body}`;
}
const GET = 'GET /mcp HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n';

/** Opens the event stream of each call and hands the writer over. */
function opening(writers: MessageWriter[], reasons: string[] = []): (call: Call, exchange: Exchange) => void {
  return (_call, exchange) => {
    exchange.onCancel((reason) => reasons.push(reason));
    const writer = exchange.events([]);
    if (writer !== undefined) writers.push(writer);
  };
}

async function withListening(setup: ListeningSetup, run: (up: Awaited<ReturnType<typeof listening>>) => Promise<void>): Promise<void> {
  const up = await listening(setup);
  try {
    await run(up);
  } finally {
    await up.close();
  }
}

describe('event streams', () => {
  test('the head of a stream that says nothing is sent at once', () =>
    withListening({ handle: opening([]), limits: { sse_keepalive_ms: 0 } }, async (up) => {
      const answer = await rawExchange(up.port, [GET], 300);
      assert.match(
        answer.text,
        /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\ncache-control: no-cache, no-transform\r\nx-accel-buffering: no\r\n/,
      );
      assert.equal(answer.end, 'open');
      assert.doesNotMatch(answer.text, /\r\n\r\n.*:/s, 'sse_keepalive_ms 0: no comment');
    }));

  test('silence is filled with comments, on listen and on GET streams', () =>
    withListening({ handle: opening([]) }, async (up) => {
      for (const request of [GET, modern('subscriptions/listen', '1')]) {
        const answer = await rawExchange(up.port, [request], 2500);
        const comments = answer.text.match(/^:$/gm) ?? answer.text.match(/:\n\n/g) ?? [];
        assert.ok(comments.length >= 3, answer.text);
        assert.doesNotMatch(answer.text, /data:/);
      }
    }));

  test('the slots for subscriptions are bounded, refused with the id, and given back', () =>
    withListening({ handle: opening([]) }, async (up) => {
      const held = Array.from({ length: SMALL_LIMITS.max_subscriptions }, () => connect(up.port, '127.0.0.1'));
      for (const socket of held) socket.write(modern('subscriptions/listen', '7'));
      await until('all are open', () => up.listener.subscriptions === 4);
      const over = await rawExchange(up.port, [modern('subscriptions/listen', '"s-5"')], 500);
      assert.deepEqual(over.statuses, [503]);
      assert.match(over.text, /retry-after: [1-5]\r\n/);
      assert.match(over.text, /"id":"s-5",.*"code":"TOO_MANY_STREAMS"/);
      assert.equal(up.counts.get('streamRefused limit'), 1);
      for (const socket of held) socket.destroy();
      await until('all are closed', () => up.listener.subscriptions === 0 && up.counts.get('closed listen client') === 4);
    }));

  test('one caller has its share of the slots: others still get theirs, and its own come back however its streams end', () => {
    const gate = {
      decide: (head: { readonly headers: { get(name: string): string | undefined } }) => ({
        kind: 'identify' as const,
        identity: { principal: head.headers.get('x-who') ?? '', issuer: 'i', scopes: new Set<string>() },
      }),
    };
    const writers: MessageWriter[] = [];
    const handle = opening(writers);
    return withListening({ gate, handle, limits: { max_subscriptions_per_caller: 2 } }, async (up) => {
      const open = (who: string): Promise<{ status: string; leave: () => void }> =>
        new Promise((resolve) => {
          const socket = connect(up.port, '127.0.0.1');
          socket.on('error', () => undefined);
          socket.write(modern('subscriptions/listen', '7', `x-who: ${who}\r\n`));
          socket.once('data', (bytes) => resolve({ status: bytes.toString('latin1', 9, 12), leave: () => socket.destroy() }));
        });
      for (const end of ['client', 'source'] as const) {
        const noisy = [await open('noisy'), await open('noisy'), await open('noisy')];
        assert.deepEqual(
          noisy.map(({ status }) => status),
          ['200', '200', '503'],
        );
        const quiet = await open('quiet');
        assert.equal(quiet.status, '200');
        assert.equal(up.listener.subscriptions, 3);
        for (const stream of [...noisy, quiet]) if (end === 'client') stream.leave();
        for (const writer of writers.splice(0)) if (end === 'source') writer.end('source');
        await until('all slots are back', () => up.listener.subscriptions === 0);
      }
      assert.deepEqual([up.counts.get('callerLimited stream'), up.counts.get('streamRefused limit')], [2, undefined]);
    });
  });

  test('a client that leaves cancels its call, before the answer and in a stream', async () => {
    const reasons: string[] = [];
    await withListening({ handle: (_call, exchange) => exchange.onCancel((reason) => reasons.push(reason)) }, async (up) => {
      const socket = connect(up.port, '127.0.0.1');
      socket.write(modern('tools/list', '1'));
      await until('the call runs', () => up.calls.length === 1);
      socket.destroy();
      await until('it was cancelled', () => reasons.length > 0 && up.records.length > 0);
      assert.deepEqual([reasons, up.records.map((record) => record.outcome)], [['client'], ['cancelled']]);
    });
  });

  test('a stream opened under an identity ends when the identity does', () => {
    const reasons: string[] = [];
    const gate = {
      decide: () => ({
        kind: 'identify' as const,
        identity: { principal: 'a', issuer: 'b', scopes: new Set<string>(), expires_at_ms: Date.now() + 500 },
      }),
    };
    return withListening({ gate, handle: opening([], reasons), limits: { sse_keepalive_ms: 0 } }, async (up) => {
      const answer = await rawExchange(up.port, [GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')], 2000);
      assert.equal(answer.end, 'closed');
      assert.ok(answer.elapsed_ms >= 450 && answer.elapsed_ms < 1500, `${answer.elapsed_ms}`);
      assert.deepEqual(reasons, ['identity_expired']);
      assert.equal(up.counts.get('closed get identity_expired'), 1);
    });
  });

  test('a reader that stalls is told apart from one that left: back-pressure first, then slow_consumer', () => {
    const reasons: string[] = [];
    let refused = 0;
    const handle = (_call: Call, exchange: Exchange): void => {
      exchange.onCancel((reason) => reasons.push(reason));
      const writer = exchange.events([]);
      const event = 'x'.repeat(60_000);
      const pump = (): void => {
        while (reasons.length === 0) {
          if (writer?.write(event) !== true) {
            refused++;
            return;
          }
        }
      };
      writer?.onDrain(pump);
      pump();
    };
    return withListening({ handle }, async (up) => {
      const socket = connect(up.port, '127.0.0.1');
      socket.pause();
      socket.write(modern('subscriptions/listen', '1'));
      socket.on('error', () => undefined);
      await until('its stream is closed', () => reasons.length > 0 && up.counts.get('closed listen slow_consumer') !== undefined);
      assert.deepEqual(reasons, ['slow_consumer']);
      assert.ok(refused >= 1);
      assert.equal(up.counts.get('closed listen slow_consumer'), 1);
      socket.destroy();
    });
  });

  test('one event larger than the bound reaches a healthy reader', () => {
    const handle = (_call: Call, exchange: Exchange): void => {
      const writer = exchange.events([]);
      writer?.write('x'.repeat(5_000_000));
      writer?.onDrain(() => writer.end('source'));
    };
    return withListening({ handle }, async (up) => {
      const answer = await rawExchange(up.port, [modern('tools/list', '1')], 4000);
      assert.ok(answer.text.length > 5_000_000, `${answer.text.length}`);
      assert.ok(answer.text.endsWith('0\r\n\r\n'));
      assert.equal(up.counts.get('closed response source'), 1);
    });
  });

  test('a slow reader that goes on reading gets every byte', () => {
    const total = 150;
    const handle = (_call: Call, exchange: Exchange): void => {
      const writer = exchange.events([]);
      let sent = 0;
      const pump = (): void => {
        while (sent < total) {
          sent++;
          if (writer?.write(`${String(sent).padStart(6, '0')}${'x'.repeat(30_000)}`) !== true) break;
        }
        if (sent === total) writer?.end('source');
      };
      writer?.onDrain(pump);
      pump();
    };
    return withListening({ handle }, async (up) => {
      const socket = connect(up.port, '127.0.0.1');
      const seen: number[] = [];
      let tail = '';
      socket.on('data', (chunk) => {
        const text = tail + chunk.toString('latin1');
        for (const match of text.matchAll(/data: (\d{6})/g)) seen.push(Number(match[1]));
        tail = text.slice(text.lastIndexOf('data: ') + 12).slice(-12);
        socket.pause();
        setTimeout(() => socket.resume(), 2);
      });
      socket.write(
        modern('tools/call', '1', 'Mcp-Name: x\r\n')
          .replace('"params":{', '"params":{"name":"x",')
          .replace(/Content-Length: \d+/, (m) => `Content-Length: ${Number(m.slice(16)) + 11}`),
      );
      await new Promise((resolve) => socket.on('close', resolve));
      assert.deepEqual(
        seen,
        Array.from({ length: total }, (_, i) => i + 1),
      );
    });
  });
});

describe('negotiation', () => {
  const answer = (_call: Call, exchange: Exchange): void =>
    exchange.respond(200, ['content-type', 'application/json'], Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}'), 'ok');
  const accepting = (accept: string): string => modern('tools/list', '1').replace('application/json, text/event-stream', accept);

  test('wildcards, absence and case are accepted; neither kind is 406', () =>
    withListening({ handle: answer }, async (up) => {
      for (const accept of ['*/*', 'application/json', 'APPLICATION/JSON;q=0.9, text/*', 'text/html, application/*']) {
        assert.deepEqual((await rawExchange(up.port, [accepting(accept)], 2000)).statuses, [200], accept);
      }
      assert.deepEqual((await rawExchange(up.port, [modern('tools/list', '1').replace(/Accept: [^\r]*\r\n/, '')], 2000)).statuses, [200]);
      assert.deepEqual(
        (await rawExchange(up.port, [accepting('text/html').replace('Host', 'Accept: application/json\r\nHost')], 2000)).statuses,
        [200],
      );
      const none = await rawExchange(up.port, [accepting('text/html')], 2000);
      assert.deepEqual([none.statuses, none.end], [[406], 'closed']);
      assert.deepEqual((await rawExchange(up.port, [accepting('application/json;q=0')], 2000)).statuses, [406]);
    }));

  test('a client that takes events only gets the answer as one event', () =>
    withListening({ handle: answer }, async (up) => {
      const { text } = await rawExchange(up.port, [accepting('text/event-stream')], 2000);
      assert.match(text, /content-type: text\/event-stream/);
      assert.match(text, /event: message\ndata: \{"jsonrpc":"2.0","id":1,"result":\{\}\}\n\n/);
      assert.ok(text.endsWith('0\r\n\r\n'), 'the stream ended');
    }));

  test('an answer with line breaks is one data line, and its fields come along', () => {
    const pretty = (_call: Call, exchange: Exchange): void => {
      const body = Buffer.from('{\n\n"jsonrpc":"2.0",\r\n"id":1,"result":{}\r}');
      exchange.respond(200, ['mcp-session-id', 's1', 'content-type', 'application/json'], body, 'ok');
    };
    return withListening({ handle: pretty }, async (up) => {
      const { text } = await rawExchange(up.port, [accepting('text/event-stream')], 2000);
      assert.match(text, /^HTTP\/1\.1 200 OK\r\nmcp-session-id: s1\r\ncontent-type: text\/event-stream\r\n/);
      assert.equal(text.match(/content-type/g)?.length, 1);
      assert.match(text, /\r\nevent: message\ndata: \{ {2}"jsonrpc":"2\.0", {2}"id":1,"result":\{\} \}\n\n\r\n/);
    });
  });
});
