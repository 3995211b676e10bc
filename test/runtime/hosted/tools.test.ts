import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineTool, ToolError, Type } from '../../../src/server.js';
import { hosting, messages } from '../../support/hosted.js';

const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } };

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: Type.Object({ text: Type.String() }),
  run: ({ text }) => text,
});

describe('hosted tools', () => {
  it('lists and calls a tool in the modern revision', async () => {
    const host = hosting({ tools: [echo] });
    const list = await host.ask('tools/list');
    assert.equal(list.status, 200);
    assert.deepEqual(list.body, {
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        tools: [
          {
            description: 'Says it again.',
            name: 'echo',
            inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          },
        ],
        ttlMs: 60_000,
        cacheScope: 'private',
        _meta: SERVER_INFO,
      },
    });
    const call = await host.ask('tools/call', { name: 'echo', arguments: { text: 'hé"llo' } }, { id: '"a\\u0062"' });
    assert.deepEqual(call.body, {
      jsonrpc: '2.0',
      id: 'ab',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'hé"llo' }], _meta: SERVER_INFO },
    });
    assert.deepEqual(host.listed, ['echo']);
    await host.close();
  });

  it('an id comes back with its type and its digits', async () => {
    const host = hosting({ tools: [echo] });
    for (const id of ['1', '"1"', '0', '""', '-5', '9007199254740993', '"a\u2028b"']) {
      const { answer } = await host.ask('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id });
      assert.ok(answer.body.toString().startsWith(`{"jsonrpc":"2.0","id":${id},"result":`), id);
    }
    await host.close();
  });

  it('tells the model which argument does not fit, and an older client by an error', async () => {
    const host = hosting({ tools: [echo] });
    const modern = await host.ask('tools/call', { name: 'echo', arguments: { text: 1 } });
    assert.deepEqual([modern.status, modern.body.result.isError], [200, true]);
    assert.equal(modern.body.result.content[0].text, 'The arguments are not valid: text must be string');
    const legacy = await host.ask('tools/call', { name: 'echo', arguments: { text: 1 } }, { revision: '2025-06-18' });
    assert.deepEqual([legacy.status, legacy.body.error.code], [200, -32602]);
    await host.close();
  });

  it('tells a ToolError to the model, and of any other error nothing but to the log', async () => {
    const host = hosting({
      tools: [
        { name: 'sad', run: () => Promise.reject(new ToolError('no such city')) },
        { name: 'broken', run: () => Promise.reject(new Error('password is hunter2')) },
      ],
    });
    const sad = await host.ask('tools/call', { name: 'sad' });
    assert.deepEqual(sad.body.result.content, [{ type: 'text', text: 'no such city' }]);
    assert.equal(sad.answer.outcome, 'tool_error');
    const broken = await host.ask('tools/call', { name: 'broken' });
    assert.deepEqual([broken.status, broken.body.error.code, broken.body.error.data.code], [500, -32603, 'RUNTIME_FAILED']);
    assert.ok(!broken.answer.body.toString().includes('hunter2'));
    assert.ok(JSON.stringify(host.log.lines).includes('hunter2'));
    assert.deepEqual(
      host.log.lines.map(({ message, fields }) => [message, fields.code]),
      [['a handler failed', 'RUNTIME_FAILED']],
    );
    await host.close();
  });

  it('holds a result to the output schema', async () => {
    const output = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    const host = hosting({
      tools: [
        { name: 'good', output, run: () => ({ structuredContent: { sum: 3 } }) },
        { name: 'bad', output, run: () => ({ structuredContent: { sum: '3' } }) },
        { name: 'none', output, run: () => 'three' },
        { name: 'failed', output, run: () => ({ content: [], isError: true }) },
      ],
    });
    const good = await host.ask('tools/call', { name: 'good' });
    assert.deepEqual(good.body.result.structuredContent, { sum: 3 });
    assert.deepEqual(good.body.result.content, [{ type: 'text', text: '{"sum":3}' }]);
    assert.equal((await host.ask('tools/call', { name: 'bad' })).body.error.code, -32603);
    assert.equal((await host.ask('tools/call', { name: 'none' })).body.error.code, -32603);
    assert.equal((await host.ask('tools/call', { name: 'failed' })).body.result.isError, true);
    await host.close();
  });

  it('streams progress with the caller’s own token, growing, and none without a token or after the end', async () => {
    let late: (() => void) | undefined;
    const host = hosting({
      tools: [
        {
          name: 'count',
          async run(_input, context) {
            context.progress(1, 3, 'one');
            context.progress(1, 3);
            context.progress(Number.NaN);
            await Promise.resolve();
            context.progress(2.5, 3);
            late = () => context.progress(3, 3);
            return 'done';
          },
        },
      ],
    });
    const exchange = host.send('tools/call', { name: 'count' }, { id: '7', meta: { progressToken: 'p-1' } });
    const answer = await exchange.done;
    late?.();
    assert.deepEqual(
      messages(exchange).map(({ params, id }) => params ?? id),
      [{ progressToken: 'p-1', progress: 1, total: 3, message: 'one' }, { progressToken: 'p-1', progress: 2.5, total: 3 }, 7],
    );
    assert.deepEqual([answer.by, answer.reason, answer.outcome, exchange.progress_count], ['events', 'source', 'ok', 2]);
    const silent = await host.ask('tools/call', { name: 'count' });
    assert.equal(silent.answer.by, 'respond');
    const json_only = host.send('tools/call', { name: 'count' }, { meta: { progressToken: 1 }, exchange: { accepts_events: false } });
    assert.equal((await json_only.done).by, 'respond');
    assert.equal(json_only.progress_count, 2);
    await host.close();
  });

  it('sends log messages of the level that the request asks for', async () => {
    const host = hosting({
      tools: [
        {
          name: 'talk',
          run(_input, context) {
            context.log('debug', 'd');
            context.log('warning', { n: 1 }, 'disk');
            return 'x';
          },
        },
      ],
    });
    const call = (level: string | undefined) =>
      host.send('tools/call', { name: 'talk' }, { meta: level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level } });
    const warned = call('info');
    await warned.done;
    assert.deepEqual(messages(warned)[0].params, { level: 'warning', logger: 'disk', data: { n: 1 } });
    assert.equal(messages(warned).length, 2);
    assert.equal((await call(undefined).done).by, 'respond');
    assert.equal((await call('alert').done).by, 'respond');
    const odd = await call('loud').done;
    assert.deepEqual([odd.status, odd.rpc_code], [400, -32602]);
    await host.close();
  });

  it('stops the handler when the client leaves, and answers nothing then', async () => {
    let seen: unknown;
    const host = hosting({
      tools: [
        {
          name: 'wait',
          run: (_input, context) =>
            new Promise((_resolve, reject) => {
              context.signal.addEventListener('abort', () => {
                seen = context.cancelled;
                reject(new Error('gone'));
              });
            }),
        },
      ],
    });
    const exchange = host.send('tools/call', { name: 'wait' });
    exchange.cancel('client');
    assert.equal((await exchange.done).by, 'cancel');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(seen, true);
    assert.deepEqual(host.log.lines, []);
    assert.deepEqual(host.runtime.load.running, 0);
    await host.close();
  });

  it('answers 503 when the executor and its queue are full', async () => {
    const host = hosting(
      { tools: [{ name: 'wait', run: (_input, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)) }] },
      { max_concurrency: 1, max_queue: 1 },
    );
    const waiting = [host.send('tools/call', { name: 'wait' }), host.send('tools/call', { name: 'wait' })];
    const refused = await host.send('tools/call', { name: 'wait' }).done;
    assert.deepEqual([refused.error?.code, refused.status], ['OVERLOADED', 503]);
    for (const exchange of waiting) exchange.cancel('client');
    await host.close();
  });

  it('answers what is not there with the right code and status', async () => {
    const host = hosting({ tools: [echo] });
    const tool = await host.ask('tools/call', { name: 'nope' });
    assert.deepEqual([tool.status, tool.body.error.code, tool.body.error.data.code], [200, -32602, 'COMPONENT_NOT_FOUND']);
    for (const method of ['prompts/list', 'resources/list', 'initialize', 'ping', 'nope', 'constructor']) {
      const { status, body } = await host.ask(method);
      assert.deepEqual([status, body.error.code], [404, -32601], method);
    }
    const legacy = await host.ask('prompts/list', {}, { revision: '2025-11-25' });
    assert.deepEqual([legacy.status, legacy.body.error.code], [200, -32601]);
    await host.close();
  });

  it('accepts notifications and response objects with 202, and serves neither GET nor DELETE', async () => {
    const host = hosting({ tools: [echo] });
    for (const kind of ['notification', 'response'] as const) {
      const answer = await host.send('notifications/initialized', {}, { kind, revision: '2025-11-25' }).done;
      assert.deepEqual([answer.by, answer.status, answer.body.length], ['accept', 202, 0]);
    }
    for (const kind of ['get_stream', 'session_end'] as const) {
      const answer = await host.send('', {}, { kind, revision: '2025-11-25' }).done;
      assert.deepEqual([answer.status, answer.error?.code, answer.error?.headers], [405, 'METHOD_NOT_ALLOWED', { allow: 'POST' }]);
    }
    await host.close();
  });
});
