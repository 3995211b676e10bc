import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { serveStdio } from '../../src/server.js';
import { makeClock } from '../../src/testing/clock.js';
import { server } from '../support/doors-server.js';

describe('pins: stdio', () => {
  it('a longer message than 2 000 000 bytes is -32600', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const ended = serveStdio(server, { input, output, clock: makeClock() });
    const padded = (bytes: number) => '{"jsonrpc":"2.0","id":1,"method":"ping"}'.padEnd(bytes, ' ');
    input.end(`${padded(2_000_000)}\n${padded(2_000_001)}\n`);
    const lines: string[] = [];
    output.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    assert.equal(await ended, 'eof');
    await turn();
    const [whole, longer] = lines.join('').split('\n');
    assert.equal(whole, '{"jsonrpc":"2.0","id":1,"result":{}}');
    const { id, error } = JSON.parse(longer ?? '');
    assert.deepEqual([id, error.code], [1, -32600]);
  });

  it('a write is terminal after 5 000 ms', async () => {
    const [input, output] = [new PassThrough({ highWaterMark: 1 }), new PassThrough({ highWaterMark: 1 })];
    const clock = makeClock();
    let end: string | undefined;
    const ended = serveStdio(server, { input, output, clock }).then((reason) => (end = reason));
    for (const id of [1, 2]) input.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    for (let n = 0; n < 10; n++) await turn();
    clock.advance(4_999);
    for (let n = 0; n < 10; n++) await turn();
    assert.equal(end, undefined);
    clock.advance(1);
    assert.equal(await ended, 'write_timeout');
  });
});
