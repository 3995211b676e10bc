import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import { createTaskSeal } from '../../../src/runtime/shared/task-seal.js';
import { encodeFieldText } from '../../../src/wire/field.js';
import { type CallInit, idle, modernCall, openProxied, type ProxiedBench, realClock } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

const json = { 'Content-Type': 'application/json' };
const events = { 'Content-Type': 'text/event-stream' };
const ALICE: CallInit = { identity: {} };
const BOB: CallInit = { identity: { principal: 'bob' } };
const created = (id: string): string =>
  `{ "resultType":"task", "taskId":${JSON.stringify(id)}, "status":"working", "big":9223372036854775807 }`;

describe('proxied: bound tasks', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let answer: Answering;
  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp`, { max_event_bytes: 200_000 }, { task_seal: sealWith('key 1') });
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });
  function sealWith(...keys: string[]): ReturnType<typeof createTaskSeal> {
    return createTaskSeal({ keys, clock: realClock });
  }
  const replies = (result: string): void => {
    answer = (_request, response) => void response.writeHead(200, json).end(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
  };
  const about = (method: string, taskId: unknown, init: CallInit = ALICE): Call =>
    modernCall(
      method,
      { taskId },
      {
        headers: { 'Mcp-Name': encodeFieldText(String(taskId)) },
        over: { name: typeof taskId === 'string' ? taskId : undefined },
        ...init,
      },
    );
  const begin = async (id: string, init: CallInit = ALICE): Promise<string> => {
    replies(created(id));
    const { body } = await bench.send(modernCall('tools/call', { name: 'build' }, { over: { name: 'build' }, ...init })).done;
    return (JSON.parse(body.toString()) as { result: { taskId: string } }).result.taskId;
  };
  const told = (line: string): number => bench.told.filter((each) => each === line).length;

  it('the id that a call gives is sealed as a span, and its owner’s requests carry the upstream’s again, in body and Mcp-Name', async () => {
    replies(created('größe "1"'));
    const { body } = await bench.send(modernCall('tools/call', { name: 'build' }, ALICE)).done;
    const sealed = /"taskId":"(t1\.[^"]+)"/.exec(body.toString())?.[1] as string;
    assert.equal(body.toString(), `{"jsonrpc":"2.0","id":1,"result":${created(sealed)}}`);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      replies('{ "resultType":"complete", "taskId":"größe \\"1\\"", "result":{"taskId":"inner"} }');
      const call = about(method, sealed);
      const { body: got } = await bench.send(call).done;
      assert.equal(
        got.toString(),
        `{"jsonrpc":"2.0","id":1,"result":{ "resultType":"complete", "taskId":"${sealed}", "result":{"taskId":"inner"} }}`,
      );
      const seen = upstream.seen.at(-1);
      assert.equal(seen?.headers['mcp-name'], encodeFieldText('größe "1"'));
      assert.equal(seen?.body.toString(), call.body.toString().replace(sealed, 'größe \\"1\\"'));
    }
  });

  it('an id of somebody else, of another route, unsealed, no string, or of a method that no extension has never gets upstream', async () => {
    const sealed = await begin('abc');
    const asked = upstream.seen.length;
    const before_count = told('task /alpha/mcp');
    const refused: readonly Call[] = [
      about('tasks/get', sealed, BOB),
      about('tasks/cancel', sealed, { identity: { client: 'other' } }),
      about('tasks/update', 'abc'),
      about('tasks/get', 7),
      { ...about('tasks/cancel', 'abc'), kind: 'notification', id: undefined },
    ];
    for (const call of refused) {
      const { by, status, error } = await bench.send(call).done;
      assert.deepEqual([by, status, error?.rpc, error?.code], ['fail', 200, -32602, 'COMPONENT_NOT_FOUND'], call.body.toString());
    }
    assert.match((await bench.send(refused[2] as Call).done).error?.message ?? '', /Unknown task: abc/);
    assert.equal(told('task /alpha/mcp'), before_count + refused.length + 1);
    const elsewhere = await bench.send(about('tasks/get', sealed, { ...ALICE, route: { path: '/beta/mcp' } })).done;
    assert.equal(elsewhere.error?.code, 'COMPONENT_NOT_FOUND');
    assert.equal(told('task /beta/mcp'), 1);
    for (const method of ['tasks/list', 'tasks/result'])
      assert.equal((await bench.send(about(method, sealed)).done).error?.code, 'METHOD_NOT_FOUND');
    assert.equal(upstream.seen.length, asked);
  });

  it('a replica with the same keys goes on; a rotation keeps the text that the client has', async () => {
    const sealed = await begin('abc');
    replies(created('abc'));
    for (const keys of [['key 1'], ['key 2', 'key 1']]) {
      const replica = await openProxied(`${upstream.url}/mcp`, {}, { task_seal: sealWith(...keys) });
      const { body } = await replica.send(about('tasks/get', sealed)).done;
      assert.equal(body.toString(), `{"jsonrpc":"2.0","id":1,"result":${created(sealed)}}`);
      await replica.runtime.close(1000);
    }
    const later = await openProxied(`${upstream.url}/mcp`, {}, { task_seal: sealWith('key 2') });
    assert.equal((await later.send(about('tasks/get', sealed)).done).error?.code, 'COMPONENT_NOT_FOUND');
    await later.runtime.close(1000);
  });

  it('a caller whom nobody knows, a legacy call and a runtime without binding get the bytes of the server', async () => {
    replies(created('abc'));
    const plain = `{"jsonrpc":"2.0","id":1,"result":${created('abc')}}`;
    const legacy: CallInit = { ...ALICE, over: { era: 'legacy' } };
    for (const init of [{}, legacy])
      assert.equal((await bench.send(modernCall('tools/call', { name: 'build' }, init)).done).body.toString(), plain);
    assert.equal((await bench.send(about('tasks/get', 'abc', {})).done).body.toString(), plain);
    const pass = await openProxied(`${upstream.url}/mcp`);
    assert.equal((await pass.send(about('tasks/get', 'abc')).done).body.toString(), plain);
    await pass.runtime.close(1000);
  });

  it('a result that only speaks of a taskId stays as it is', async () => {
    for (const result of ['{"resultType":"complete","taskId":"abc"}', '{"content":[{"taskId":"abc"}]}', '"\\"taskId\\"', 'null']) {
      const body = `{"jsonrpc":"2.0","id":1,"result":${result === '"\\"taskId\\"' ? '{"x":"\\"taskId\\""}' : result}}`;
      answer = (_request, response) => void response.writeHead(200, json).end(body);
      assert.equal((await bench.send(modernCall('tools/call', { name: 'build' }, ALICE)).done).body.toString(), body);
    }
  });

  it('an id without a usable form, another task than was asked for, and a task beyond max_event_bytes are UPSTREAM_BROKEN', async () => {
    const sealed = await begin('abc');
    for (const id of ['""', '7', JSON.stringify('x'.repeat(1025))]) {
      replies(`{"resultType":"task","taskId":${id}}`);
      assert.equal((await bench.send(modernCall('tools/call', { name: 'build' }, ALICE)).done).error?.code, 'UPSTREAM_BROKEN', id);
    }
    replies(created('def'));
    assert.equal((await bench.send(about('tasks/get', sealed)).done).error?.code, 'UPSTREAM_BROKEN');
    const large = (length: number): string => `{"resultType":"complete","result":"${'x'.repeat(length)}","taskId":"abc"}`;
    replies(large(150_000));
    assert.ok((await bench.send(about('tasks/get', sealed)).done).body.includes(`"taskId":"${sealed}"`));
    replies(large(250_000));
    assert.equal((await bench.send(about('tasks/get', sealed)).done).error?.code, 'UPSTREAM_BROKEN');
  });

  it('ids are sealed in event streams too, also when the client takes JSON alone', async () => {
    for (const accepts_events of [true, false]) {
      const reply = (id: string) => `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"${id}"}}`;
      answer = (_request, response) => void response.writeHead(200, events).end(`data: ${reply('abc')}\n\n`);
      const call = modernCall('tools/call', { name: 'build' }, ALICE);
      const { body } = await bench.send(call, { accepts_events }).done;
      assert.match(body.toString(), /"taskId":"t1\.[^"]+"/);
      assert.ok(!body.includes('abc'));
      answer = (_request, response) => void response.writeHead(200, events).end(`data: ${reply('')}\n\n`);
      const broken = await bench.send(call, { accepts_events }).done;
      assert.ok(accepts_events ? broken.body.includes('UPSTREAM_BROKEN') : broken.error?.code === 'UPSTREAM_BROKEN');
    }
    await idle(bench.runtime);
  });

  it('a subscription listens to its caller’s own tasks under the names that the client knows, and hears of no other', async () => {
    const own = await begin('abc');
    const bobs = await begin('def', BOB);
    const note = (method: string, params: string): string => `{"jsonrpc":"2.0","method":"notifications/${method}","params":${params}}`;
    const ack = (ids: readonly string[]): string =>
      note('subscriptions/acknowledged', `{"notifications":{ "taskIds":${JSON.stringify(ids)} }}`);
    const change = (id: string): string => note('tasks', `{ "taskId":"${id}", "status":"completed" }`);
    answer = (_request, response) => {
      response.writeHead(200, events);
      for (const message of [ack(['abc', 'def']), change('def'), change('abc')]) response.write(`data: ${message}\n\n`);
    };
    const before_count = told('task /alpha/mcp');
    const listen = bench.send(modernCall('subscriptions/listen', { notifications: { taskIds: [own, bobs, 'abc', 7] } }, ALICE));
    await listen.wrote(2);
    listen.cancel('client');
    assert.deepEqual(listen.writes, [`data: ${ack([own])}\n\n`, `data: ${change(own)}\n\n`]);
    assert.equal(
      upstream.seen.at(-1)?.body.toString(),
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["abc"]}}}',
    );
    assert.equal(told('task /alpha/mcp'), before_count + 2);
    assert.deepEqual(bench.log.lines.filter(({ fields }) => String(fields?.reason).includes('not asked for')).length, 1);
    await upstream.aborted(1);
  });

  it('a subscription whose task ids two parsers could read differently is refused', async () => {
    const asked = upstream.seen.length;
    for (const filter of ['"taskIds":[],"taskIds":["abc"]', '"TaskIDs":["abc"]', '"task\\u0049ds":[],"taskids":["abc"]']) {
      const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{${filter}}}}`);
      const { error } = await bench.send(modernCall('subscriptions/listen', {}, { ...ALICE, over: { body } })).done;
      assert.equal(error?.code, 'INVALID_PARAMS', filter);
    }
    assert.equal(upstream.seen.length, asked);
  });
});
