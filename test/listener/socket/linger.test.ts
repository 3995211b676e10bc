import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { Admission } from '../../../src/listener/socket/admission.js';
import type { Connection } from '../../../src/listener/socket/connection.js';
import { LINGER_BYTES } from '../../../src/listener/socket/connection.js';
import { systemClock } from '../../../src/system-clock.js';
import { SMALL_LIMITS } from '../../support/listening.js';
import { listen } from '../../support/upstream.js';

/** Sends a body of so many bytes to a server that refuses it unread; `close` is called for a moment longer than any wait. */
async function refused(bytes: number): Promise<{ readonly text: string; readonly read: number; readonly held_ms: number }> {
  let seen: Connection | undefined;
  const options = { limits: SMALL_LIMITS, keep_alive: true, tls: undefined, clock: systemClock };
  const admission = new Admission(options, {
    request(connection, _request, response) {
      seen = connection;
      response.shouldKeepAlive = false;
      setTimeout(() => response.writeHead(413).end('no'), 50);
    },
    refused: () => 'r',
    dropped: () => undefined,
  });
  const socket = connect({ port: await listen(admission.server), host: '127.0.0.1', allowHalfOpen: true });
  const started = performance.now();
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`);
  // Notices a reset although the answer has ended.
  const more = setInterval(() => socket.write('x'), 20);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(more);
  admission.stop();
  await new Promise((resolve) => admission.server.close(resolve));
  return { text, read: seen?.socket.bytesRead ?? 0, held_ms: performance.now() - started };
}

describe('a refused connection', () => {
  test('is read on, so that a client that first sends all it has gets the answer', async () => {
    const { text, read } = await refused(200_000);
    assert.match(text, /^HTTP\/1\.1 413 .*no/s);
    assert.ok(read > 200_000, `${read} bytes were read`);
  });

  test('is read up to a bound, and not reset before the client had time to read the answer', async () => {
    const { text, read, held_ms } = await refused(3_000_000);
    assert.match(text, /^HTTP\/1\.1 413 .*no/s);
    assert.ok(read > LINGER_BYTES && read < LINGER_BYTES + 400_000, `${read} bytes were read`);
    assert.ok(held_ms > 600 && held_ms < 6000, `closed after ${held_ms} ms`);
  });
});
