import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { defineServer, serveStdio } from '../../src/server.js';
import { makeClock } from '../../src/testing/clock.js';
import { modernBody } from '../demo/rpc.js';

const server = defineServer({
  name: 'talker',
  version: '1.0.0',
  tools: [
    {
      name: 'talk',
      run: (_input, context) => {
        for (const level of ['debug', 'info', 'error'] as const) context.log(level, level);
        return 'done';
      },
    },
  ],
});
const legacy = (id: number, method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const talk = legacy(9, 'tools/call', { name: 'talk', arguments: {} });

/** Levels of the log messages that the client of one line gets. */
async function levels(...lines: readonly string[]): Promise<readonly string[]> {
  const input = new PassThrough();
  const output = new PassThrough();
  const ended = serveStdio(server, { input, output, clock: makeClock() });
  input.end(lines.map((line) => `${line}\n`).join(''));
  await ended;
  return (output.read() as Buffer)
    .toString()
    .split('\n')
    .flatMap((line) => /"method":"notifications\/message","params":\{"level":"(\w+)"/.exec(line)?.[1] ?? []);
}

describe('logging/setLevel on stdio', () => {
  it('holds for all that follows, and for this client alone', async () => {
    assert.deepEqual(await levels(talk), ['info', 'error']);
    assert.deepEqual(await levels(legacy(1, 'logging/setLevel', { level: 'debug' }), talk), ['debug', 'info', 'error']);
    assert.deepEqual(await levels(legacy(1, 'logging/setLevel', { level: 'warning' }), talk, talk), ['error', 'error']);
    assert.deepEqual(await levels(talk), ['info', 'error']);
  });

  it('changes nothing when the level is none, nor for modern requests, which carry their own', async () => {
    assert.deepEqual(await levels(legacy(1, 'logging/setLevel', { level: 'loud' }), talk), ['info', 'error']);
    const own = (level?: string) =>
      modernBody('tools/call', { name: 'talk', arguments: {} }, level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level });
    const raised = legacy(1, 'logging/setLevel', { level: 'emergency' });
    assert.deepEqual(await levels(raised, own(), own('info')), ['info', 'error']);
  });
});
