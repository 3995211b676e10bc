import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createExecutor, type StdioEnd, type StdioOptions, serveStdio } from '../../src/server.js';
import { makeClock } from '../../src/testing/clock.js';
import { makeIdentity } from '../../src/testing/head.js';
import { modernBody } from '../demo/rpc.js';
import { hub, noticed, server } from '../support/doors-server.js';

type Json = ReturnType<typeof JSON.parse>;

function open(options: Partial<StdioOptions> = {}) {
  const clock = makeClock();
  const input = new PassThrough();
  const output = new PassThrough();
  const chunks: string[] = [];
  if (options.output === undefined) output.on('data', (chunk: Buffer) => chunks.push(chunk.toString('latin1')));
  let end: StdioEnd | undefined;
  const ended = serveStdio(server, { input, output, clock, ...options }).then((reason) => (end = reason));
  return {
    clock,
    input,
    chunks,
    ended,
    end: () => end,
    send: (...lines: readonly string[]) => void input.write(lines.map((line) => `${line}\n`).join('')),
    /** Every message so far. */
    async told(): Promise<Json[]> {
      for (let n = 0; n < 10; n++) await turn();
      return chunks
        .join('')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    },
  };
}
const call = (id: string | number, name: string, args: object = {}, meta: object = {}) =>
  modernBody('tools/call', { name, arguments: args }, meta, id);
const cancel = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
const legacy = (id: number, method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const textOf = (message: Json) => message.result.content[0].text;

describe('stdio service', () => {
  it('answers both eras on one line each, in ASCII', async () => {
    const { input, chunks, ended, told } = open({ identity: makeIdentity({ principal: 'ann' }) });
    const hello = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    input.write('\ufeff');
    input.write(`${legacy(1, 'initialize', hello)}\r\n\n`);
    for (const byte of Buffer.from(`${call('é\u2028', 'say', { text: 'straße 😀' })}\n`)) input.write(Buffer.of(byte));
    input.end(modernBody('server/discover', {}, {}, 3));
    assert.equal(await ended, 'eof');
    const all = await told();
    assert.deepEqual(
      all.map(({ id }: Json) => id),
      [1, 'é\u2028', 3],
    );
    assert.equal(all[0].result.protocolVersion, '2024-11-05');
    assert.equal(textOf(all[1]), 'straße 😀 ann');
    assert.deepEqual(all[2].result.supportedVersions, ['2026-07-28']);
    assert.match(chunks.join(''), /^[\x20-\x7e\n]*$/);
    assert.ok(chunks.join('').includes('"id":"\\u00e9\\u2028"'));
    assert.ok(chunks.join('').includes('stra\\u00dfe \\ud83d\\ude00'));
  });

  it('says what is wrong with a message and goes on', async () => {
    const { send, input, ended, told } = open({ max_line_bytes: 300 });
    send(
      '{',
      '[]',
      '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
      `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"${'x'.repeat(300)}"}}`,
    );
    send(modernBody('initialize', {}, {}, 3), '{"jsonrpc":"2.0","method":"notifications/else"}', '{"jsonrpc":"2.0","id":"q","result":{}}');
    send(modernBody('tools/list', {}, { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' }, 4), legacy(5, 'ping'));
    input.end();
    assert.equal(await ended, 'eof');
    assert.deepEqual(
      (await told()).map(({ id, error }: Json) => [id, error?.code]),
      [
        [undefined, -32700],
        [undefined, -32600],
        [undefined, -32600],
        [2, -32600],
        [3, -32601],
        [4, -32022],
        [5, undefined],
      ],
    );
  });

  it('never holds more of a line than is allowed', async () => {
    const { input, told, send } = open({ max_line_bytes: 1000 });
    for (let n = 0; n < 500; n++) input.write(Buffer.alloc(10_000, 0x20));
    assert.deepEqual(
      (await told()).map(({ error }: Json) => error.message),
      ['The body is not one JSON-RPC request. A message has at most 1000 bytes.'],
    );
    send('', legacy(1, 'ping'));
    assert.deepEqual((await told())[1], { jsonrpc: '2.0', id: 1, result: {} });
    input.end();
  });

  it('runs requests side by side, and refuses what is over the limit', async () => {
    const clock = makeClock();
    const executor = createExecutor({ clock, max_concurrency: 2, max_queue: 1 });
    const { send, told, input, ended } = open({ executor });
    send(call(1, 'hang'), call(2, 'say', { text: 'x' }), call(3, 'hang'), call(4, 'hang'), call(5, 'hang'));
    const all = await told();
    assert.deepEqual(
      all.map(({ id, error }: Json) => [id, error?.data.code]),
      [
        [2, undefined],
        [5, 'OVERLOADED'],
      ],
    );
    send(cancel(1), cancel(3), cancel(4));
    input.end();
    assert.equal(await ended, 'eof');
    assert.equal((await told()).length, 2);
    assert.deepEqual(executor.load, { running: 0, queued: 0, orphaned: 0 });
  });

  it('stops a cancelled request and never answers it', async () => {
    const { send, told, end, input, ended } = open();
    noticed.length = 0;
    send(call('a', 'hang'), call(1, 'hang'), cancel('none'), cancel({}), cancel(undefined));
    assert.deepEqual(await told(), []);
    assert.deepEqual(noticed, ['began', 'began']);
    send(cancel('1'), cancel('a'));
    assert.deepEqual(await told(), []);
    assert.deepEqual(noticed, ['began', 'began', 'aborted']);
    input.end();
    await told();
    assert.equal(end(), undefined);
    assert.deepEqual(noticed, ['began', 'began', 'aborted']);
    noticed.length = 0;
    void ended;
  });

  it('tells progress before the answer', async () => {
    const { send, told, input, ended } = open();
    send(call(1, 'count', {}, { progressToken: 't' }));
    input.end();
    await ended;
    const all = await told();
    assert.deepEqual(
      all.map(({ id, params }: Json) => id ?? params.progress),
      [1, 2, 3, 1],
    );
    assert.equal(textOf(all[3]), 'counted');
  });

  it('gives a call up at its deadline', async () => {
    const { send, told, clock, input, ended } = open({ request_timeout_ms: 1_000 });
    noticed.length = 0;
    send(call(1, 'hang'));
    await told();
    input.end();
    clock.advance(999);
    assert.deepEqual(await told(), []);
    clock.advance(1);
    assert.equal(await ended, 'eof');
    assert.deepEqual(noticed, ['began', 'aborted']);
    assert.deepEqual(
      (await told()).map(({ id, error }: Json) => [id, error.data.code]),
      [[1, 'DEADLINE']],
    );
    clock.advance(10_000);
    assert.equal(clock.pending, 0);
  });

  it('carries subscriptions, at most so many, until they are cancelled or the input ends', async () => {
    const { send, told, input, ended } = open({ max_subscriptions: 2 });
    const listen = (id: string) => modernBody('subscriptions/listen', { notifications: { toolsListChanged: true } }, {}, id);
    send(listen('a'), listen('b'), listen('c'));
    const before = await told();
    assert.deepEqual(
      before.map(({ id, method, error }: Json) => [id, method ?? error.data.code]),
      [
        [undefined, 'notifications/subscriptions/acknowledged'],
        [undefined, 'notifications/subscriptions/acknowledged'],
        ['c', 'TOO_MANY_STREAMS'],
      ],
    );
    send(cancel('a'));
    await told();
    hub.toolsChanged();
    const after = (await told()).slice(3);
    const tag = (message: Json) => (message.params ?? message.result)._meta['io.modelcontextprotocol/subscriptionId'];
    assert.deepEqual(after.map(tag), ['b']);
    input.end();
    assert.equal(await ended, 'eof');
    const last = (await told()).at(-1);
    assert.deepEqual([last.id, last.result.resultType, tag(last)], ['b', 'complete', 'b']);
  });

  it('asks a legacy client on the same line, and gives up when nobody can answer', async () => {
    const { send, told, input, ended } = open();
    const hello = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'c', version: '1' } };
    send(legacy(1, 'initialize', hello), legacy(2, 'tools/call', { name: 'ask', arguments: {} }));
    const question = (await told())[1];
    assert.equal(question.method, 'elicitation/create');
    send(JSON.stringify({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'x' } } }));
    assert.equal(textOf((await told())[2]), 'asked');
    send(legacy(3, 'tools/call', { name: 'ask', arguments: {} }));
    assert.equal((await told()).length, 4);
    input.end();
    assert.equal(await ended, 'eof');
    assert.deepEqual([(await told())[4].id, (await told())[4].error.data.code], [3, 'DRAINING']);
  });

  it('asks no legacy client for what it did not declare at its handshake', async () => {
    const { send, told, input, ended } = open();
    const hello = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } };
    send(legacy(1, 'initialize', hello), legacy(2, 'tools/call', { name: 'ask', arguments: {} }));
    const [, refused] = await told();
    assert.deepEqual([refused.id, refused.error.data.requiredCapabilities], [2, { elicitation: { form: {} } }]);
    input.end();
    assert.equal(await ended, 'eof');
  });

  it('ends for good when a write is not taken in time', async () => {
    const output = new PassThrough();
    const { send, clock, ended, input } = open({ output, write_timeout_ms: 5_000 });
    noticed.length = 0;
    send(call(1, 'hang'), call(2, 'big'));
    for (let n = 0; n < 10; n++) await turn();
    assert.equal(input.isPaused(), true);
    clock.advance(5_000);
    assert.equal(await ended, 'write_timeout');
    assert.deepEqual(noticed, ['began', 'aborted']);
    const held = output.writableLength + output.readableLength;
    send(call(3, 'say', { text: 'late' }));
    for (let n = 0; n < 10; n++) await turn();
    assert.equal(output.writableLength + output.readableLength, held);
    assert.equal(clock.pending, 0);
  });

  it('reads on when the reader has caught up', async () => {
    const output = new PassThrough();
    const { send, input, ended } = open({ output });
    send(call(1, 'big'));
    for (let n = 0; n < 10; n++) await turn();
    assert.equal(input.isPaused(), true);
    let bytes = 0;
    output.on('data', (chunk: Buffer) => (bytes += chunk.length));
    for (let n = 0; n < 10; n++) await turn();
    assert.equal(input.isPaused(), false);
    input.end(call(2, 'say', { text: 'x' }));
    assert.equal(await ended, 'eof');
    assert.ok(bytes > 1_000_000, String(bytes));
  });

  it('cancels what runs when the output is closed', async () => {
    const output = new PassThrough();
    const { send, ended } = open({ output });
    noticed.length = 0;
    send(call(1, 'hang'));
    for (let n = 0; n < 10; n++) await turn();
    output.destroy(new Error('EPIPE'));
    assert.equal(await ended, 'output_closed');
    assert.deepEqual(noticed, ['began', 'aborted']);
  });

  it('stops at a signal: nothing more is read, calls have their time', async () => {
    const stop = new AbortController();
    const { send, clock, ended, told, end } = open({ signal: stop.signal, drain_timeout_ms: 700 });
    noticed.length = 0;
    send(call(1, 'hang'));
    await told();
    stop.abort();
    send(call(2, 'say', { text: 'late' }));
    clock.advance(699);
    await told();
    assert.equal(end(), undefined);
    clock.advance(1);
    assert.equal(await ended, 'stopped');
    assert.deepEqual([noticed, await told()], [['began', 'aborted'], []]);
  });

  it('refuses a limit that is none, and a server that is none', () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    assert.throws(
      () => serveStdio(server, { input, output, write_timeout_ms: 0 }),
      /stdio: write_timeout_ms must be a positive integer, not 0/,
    );
    assert.throws(() => serveStdio({ name: 'x' } as never, { input, output }), /was not made by defineServer/);
  });
});
