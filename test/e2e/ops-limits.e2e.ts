// The ops listener holds its limits at their real values: 10 s for a head or a body, 128 connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createOps, type Ops } from '../../src/listener/ops.js';

let ops: Ops;
let port: number;
let drains = 0;

before(async () => {
  ops = createOps(
    { host: '127.0.0.1', port: 0 },
    {
      ready: () => ({ ready: true, reason: 'serving' }),
      started: () => true,
      render: async () => ({ content_type: 'text/plain', body: '' }),
      drain: () => void (drains += 1),
    },
  );
  port = Number(new URL(await ops.start()).port);
});

after(() => ops.close());

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Seconds until the other side closes, and what it said before. */
async function untilClosed(socket: Socket): Promise<{ readonly seconds: number; readonly text: string }> {
  const started = performance.now();
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'close');
  return { seconds: (performance.now() - started) / 1_000, text };
}

describe('ops listener limits', () => {
  it('ends a connection that says nothing, half a head or half a body within seconds', { timeout: 60_000 }, async () => {
    const starts = ['', 'GET /livez HTTP/1.1\r\nHost: x\r\n', 'POST /drain HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf'];
    const ends = await Promise.all(
      starts.map(async (bytes) => {
        const socket = await open();
        socket.write(bytes);
        return untilClosed(socket);
      }),
    );
    for (const [index, { seconds }] of ends.entries()) assert.ok(seconds > 8 && seconds < 30, `${starts[index]}: ${seconds} s`);
    assert.equal(drains, 0);
  });

  it('closes what comes beyond 128 connections unread, and serves again when one leaves', { timeout: 30_000 }, async () => {
    const sockets = await Promise.all(Array.from({ length: 128 }, open));
    const more = await open();
    assert.equal((await untilClosed(more)).text, '');
    sockets[0]?.destroy();
    // The place is free once the server has seen the other side leave; until then a new connection is closed like the 129th.
    let answer = '';
    while (answer === '') {
      const socket = await open();
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      answer = (await untilClosed(socket)).text;
    }
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    for (const socket of sockets) socket.destroy();
  });
});
