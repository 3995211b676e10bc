import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { MAX_HEAD_BYTES, MAX_INFORMATIONAL } from '../../src/upstream/connection.js';
import { answer, Hearing, rawUpstream } from '../support/raw-upstream.js';

const turns = (ms = 15): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** How one exchange ends whose upstream does `act`. */
async function outcome(act: (socket: Socket) => void): Promise<string> {
  const up = await rawUpstream((socket) => act(socket));
  const heard = await up.ask('{}').done;
  await up.close();
  return heard;
}

describe('upstream: one exchange on a connection', () => {
  it('the request is sent as it was given, with the length of its body', async () => {
    const seen: string[] = [];
    const up = await rawUpstream((socket, request) => {
      seen.push(request);
      socket.write(answer(''));
    });
    for (const body of [undefined, '', 'ä', 'x'.repeat(14_336), 'y'.repeat(14_337)]) await up.ask(body).done;
    const head = 'POST /mcp HTTP/1.1\r\nhost: a\r\n';
    assert.deepEqual(
      seen.map((request) => Buffer.from(request, 'latin1').toString()),
      [
        `${head}\r\n`,
        `${head}content-length: 0\r\n\r\n`,
        `${head}content-length: 2\r\n\r\nä`,
        `${head}content-length: 14336\r\n\r\n${'x'.repeat(14_336)}`,
        `${head}content-length: 14337\r\n\r\n${'y'.repeat(14_337)}`,
      ],
    );
    await up.close();
  });

  it('what is not HTTP/1.1 is BAD_ANSWER at once', async () => {
    for (const wire of [
      'SSH-2.0-OpenSSH\r\n',
      '\r\nHTTP/1.1 200 OK\r\n\r\n',
      'HTTP/2',
      '\x15\x03\x01',
      'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
      'HTTP/1.1 200 OK\r\nA: b\n',
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx',
      'HTTP/1.1 100 Continue\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    ])
      assert.equal(await outcome((socket) => void socket.write(wire, 'latin1')), 'BAD_ANSWER', wire);
  });

  it('a head of 32 KiB is taken and one byte more is not, in one piece or in drops', async () => {
    const head = (bytes: number): string => {
      const rest = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ';
      return `${rest}${'x'.repeat(bytes - rest.length)}\r\n\r\n`;
    };
    assert.equal(await outcome((socket) => void socket.write(head(MAX_HEAD_BYTES))), '200 ');
    assert.equal(await outcome((socket) => void socket.write(head(MAX_HEAD_BYTES + 1))), 'BAD_ANSWER');
    const drip = (socket: Socket): void => {
      if (!socket.destroyed) socket.write('x'.repeat(100), () => drip(socket));
    };
    const dripped = await outcome((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      drip(socket);
    });
    assert.equal(dripped, 'BAD_ANSWER');
  });

  it('16 informational answers are passed over and one more is not', async () => {
    const early = (count: number): string => 'HTTP/1.1 103 Early\r\n\r\n'.repeat(count) + answer('x');
    assert.equal(await outcome((socket) => void socket.write(early(MAX_INFORMATIONAL))), '200 x');
    assert.equal(await outcome((socket) => void socket.write(early(MAX_INFORMATIONAL + 1))), 'BAD_ANSWER');
  });

  it('a reset is told with the system’s code, wherever it comes', async () => {
    const cut = async (wire: string): Promise<string> =>
      outcome((socket) => {
        if (wire === '') socket.resetAndDestroy();
        else socket.write(wire, () => setTimeout(() => socket.resetAndDestroy(), 10));
      });
    for (const wire of ['', 'HTTP/1.1 2', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal', 'HTTP/1.1 200 OK\r\n\r\nhal'])
      assert.equal(await cut(wire), 'ECONNRESET', wire);
  });

  it('data of chunks that came before a fault is given, then the fault', async () => {
    const up = await rawUpstream(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\nx\r\n'),
    );
    const heard = up.ask('{}');
    assert.equal(await heard.done, 'BAD_ANSWER');
    assert.equal(heard.body.toString(), 'ab');
    await up.close();
  });

  it('a million chunks of a byte are few pieces', async () => {
    const up = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (let i = 0; i < 10; i++) socket.write('1\r\nx\r\n'.repeat(100_000));
      socket.write('0\r\n\r\n');
    });
    const heard = up.ask('{}');
    await heard.done;
    assert.equal(heard.body.length, 1_000_000);
    assert.ok(heard.pieces.length < 10_000, `${heard.pieces.length} pieces`);
    await up.close();
  });

  it('a body of 5 MB reaches a slow reader whole', async () => {
    const body = Buffer.alloc(5_000_000, 'abcdefghijk');
    let got = '';
    const up = await rawUpstream(
      (socket, request) => {
        got = request;
        socket.write(answer('x'));
      },
      {
        accepted(socket) {
          const slow = setInterval(() => {
            socket.pause();
            setTimeout(() => socket.resume(), 5);
          }, 10);
          socket.on('close', () => clearInterval(slow));
        },
      },
    );
    assert.equal(await up.ask(body).done, '200 x');
    assert.ok(Buffer.from(got.slice(got.indexOf('\r\n\r\n') + 4), 'latin1').equals(body));
    await up.close();
  });

  it('an answer that comes while the body is being sent is delivered, and the connection is not used again', async () => {
    const early = async (fields: string, after: (socket: Socket) => void): Promise<void> => {
      const up = await rawUpstream(() => undefined, {
        accepted(socket) {
          socket.once('data', () => {
            socket.pause();
            socket.write(`HTTP/1.1 413 Too Large\r\n${fields}Content-Length: 2\r\n\r\nno`, () => after(socket));
          });
        },
      });
      assert.equal(await up.ask(Buffer.alloc(8_000_000)).done, '413 no');
      assert.equal(up.pool.stats.free, 0);
      for (const socket of up.open) socket.resume();
      await up.close();
    };
    await early('', (socket) => void socket.resume());
    await early('Connection: close\r\n', (socket) => void socket.end());
    await early('Connection: close\r\n', (socket) => void socket.resume().end());
  });

  it('one exchange never acts on the next one of its connection', async () => {
    const up = await rawUpstream((socket, _request, nth) => {
      if (nth === 0) socket.write(answer('first'));
      else setTimeout(() => socket.write(answer('second')), 30);
    });
    const first = up.ask('{}');
    await first.done;
    await turns();
    const second = up.ask('{}', new Hearing(() => false));
    assert.equal(second.line, first.line);
    first.abort();
    first.resume();
    assert.equal(await second.done, '200 second');
    assert.equal(up.accepted.length, 1);
    await up.close();
  });

  it('no listener is left behind on a socket that carries many exchanges', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const up = await rawUpstream((socket) => void socket.write(answer('x')));
    for (let i = 0; i < 60; i++) assert.equal(await up.ask('{}').done, '200 x');
    assert.equal(up.accepted.length, 1);
    await turns();
    assert.deepEqual(warnings, []);
    process.off('warning', onWarning);
    await up.close();
  });
});
