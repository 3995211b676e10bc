import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { type ListeningSetup, listening } from '../../support/listening.js';
import { rawExchange } from '../../support/raw.js';

const JSON_TYPE = 'Content-Type: application/json\r\n';
const head = (length: number): string => `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Content-Length: ${length}\r\n\r\n`;
const body = (size: number): string => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(size - 58)}"}}`;

describe('bodies cut small', () => {
  /** A gate that admits at once, or after a moment in which the body waits unread. */
  const GATES: Readonly<Record<string, ListeningSetup['gate']>> = {
    'that decides at once': { decide: () => ({ kind: 'pass' }) },
    'that waits': { decide: () => new Promise((resolve) => setTimeout(() => resolve({ kind: 'pass' }), 80)) },
  };
  const ROOM = { max_body_bytes: 2_000_000, body_timeout_ms: 20_000, read_timeout_ms: 5000, request_timeout_ms: 5000 };
  const inChunks = (text: string, size: number): Buffer => {
    const parts = [`POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`];
    for (let at = 0; at < text.length; at += size) {
      const chunk = text.slice(at, at + size);
      parts.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    return Buffer.from(`${parts.join('')}0\r\n\r\n`);
  };
  for (const [name, gate] of Object.entries(GATES))
    test(`chunks under 16 bytes are refused beyond 64 KiB, larger ones pass, behind a gate ${name}`, async () => {
      const up = await listening({ limits: ROOM, options: { chunked: true }, gate: gate! });
      const sent = async (size: number, total: number) => {
        const { statuses, text } = await rawExchange(up.port, [inChunks(body(total), size)], 8000, '127.0.0.1', answered);
        return [statuses[0], /"code":"([A-Z_]+)"/.exec(text)?.[1]];
      };
      try {
        for (const [size, total] of [
          [1, 200_000],
          [8, 200_000],
          [8, 70_000],
          [15, 400_000],
        ] as const)
          assert.deepEqual(await sent(size, total), [400, 'CHUNKS_TOO_SMALL'], `${size}, ${total}`);
        assert.deepEqual([up.calls.length, up.counts.get('headRefused CHUNKS_TOO_SMALL')], [0, 4]);
        for (const [size, total] of [
          [1, 60_000],
          [16, 200_000],
          [32, 200_000],
          [32, 1_000_000],
          [65_536, 1_000_000],
        ] as const)
          assert.deepEqual(await sent(size, total), [200, undefined], `${size}, ${total}`);
        assert.equal(up.calls.length, 5);
      } finally {
        await up.close();
      }
    });

  for (const [name, gate] of Object.entries(GATES))
    test(`one large chunk, or a declared length, is taken in segments of one byte, behind a gate ${name}`, async () => {
      const text = body(90_000);
      const wires = [inChunks(text, text.length), Buffer.from(head(text.length) + text)];
      const up = await listening({ limits: ROOM, options: { chunked: true }, gate: gate! });
      try {
        for (const wire of wires) assert.deepEqual(await inSegments(up.port, wire), [200]);
        assert.deepEqual(
          up.calls.map((call) => call.body.toString()),
          [text, text],
        );
      } finally {
        await up.close();
      }
    });
});

/** Connects; the connection ends itself once an answer has come. */
function answered(port: number, host: string): Socket {
  const socket = connect({ port, host });
  socket.on('data', () => socket.end());
  return socket;
}

/** Sends bytes one by one, in as many writes, and returns the status codes of the answer. */
function inSegments(port: number, wire: Buffer): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
      socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve([...got.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))));
    socket.on('connect', async () => {
      for (let at = 0; at < wire.length && socket.writable; at++) {
        socket.write(wire.subarray(at, at + 1));
        if (at % 8 === 0) await new Promise((next) => setImmediate(next));
      }
    });
  });
}
