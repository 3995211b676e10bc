import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Identity } from '../../../src/contract/identity.js';
import type { ServerTasks, TaskStore, ToolTask } from '../../../src/contract/tasks.js';
import { createMemoryTaskStore } from '../../../src/core/task/memory-store.js';
import { elicit, type HandlerContext, ToolError } from '../../../src/server.js';
import { until } from '../../support/e2e/until.js';
import { hosting, type Json } from '../../support/hosted.js';

const CAPABLE = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORM = { type: 'object', properties: {} };
const alice = { principal: 'alice', issuer: 'https://idp.example', scopes: new Set<string>(), facts: {} } satisfies Identity;

interface Work {
  finish(answer: string): void;
  fail(error: Error): void;
  readonly context: HandlerContext;
}

/** A server whose tool `work` does what the test says. */
function working(task: ToolTask, tasks: ServerTasks = {}, asks = false) {
  const works: Work[] = [];
  const host = hosting({
    tools: [
      {
        name: 'work',
        task,
        run: (_input, context) => {
          if (asks && context.responses === undefined)
            return context.inputRequired({ requests: { a: elicit('A?', FORM), b: elicit('B?', FORM) }, state: { n: 1 } });
          return new Promise((finish, fail) => works.push({ finish, fail, context }));
        },
      },
    ],
    tasks,
  });
  const call = (init: object = {}, params: object = {}) =>
    host.send('tools/call', { name: 'work', ...params }, { capabilities: CAPABLE, ...init });
  const ask = async (method: string, params: object, init: object = {}): Promise<Json> =>
    (await host.ask(method, params, { capabilities: CAPABLE, ...init })).body;
  /** A call that has become a task. */
  const task_of = async (init: object = {}): Promise<Json> => {
    const exchange = call(init);
    host.clock.advance(50);
    return JSON.parse((await exchange.done).body.toString()).result;
  };
  const get = async (taskId: string, init: object = {}): Promise<Json> => (await ask('tasks/get', { taskId }, init)).result;
  const reaches = async (taskId: string, status: string): Promise<Json> => {
    let last: Json;
    await until(status, async () => (last = await get(taskId)).status === status);
    return last;
  };
  return { host, works, call, ask, task_of, get, reaches };
}

describe('tasks of a server', { timeout: 20_000 }, () => {
  it('a tool that answers in time answers the call itself', async () => {
    const { works, call, host } = working({ when: 'declared' });
    const exchange = call();
    works[0]?.finish('soon');
    const { result } = JSON.parse((await exchange.done).body.toString());
    assert.deepEqual([result.resultType, result.content[0].text, result.taskId], ['complete', 'soon', undefined]);
    await host.close();
  });

  it('one that takes longer becomes a task, told at once, and its result is in tasks/get', async () => {
    const { works, task_of, get, reaches, host } = working({ when: 'declared', ttl_ms: 60_000, poll_ms: 250 });
    const task = await task_of();
    assert.deepEqual(
      [task.resultType, task.status, task.ttlMs, task.pollIntervalMs, task.createdAt],
      ['task', 'working', 60_000, 250, task.lastUpdatedAt],
    );
    assert.match(task.taskId, /^[\w-]{22}$/);
    works[0]?.context.progress(3, 10, 'files');
    await until('the message', async () => (await get(task.taskId)).statusMessage === '3/10 files');
    works[0]?.finish('late');
    const done = await reaches(task.taskId, 'completed');
    assert.deepEqual([done.resultType, done.result.content[0].text], ['complete', 'late']);
    await host.close();
  });

  it('a tool error completes the task, anything else that is thrown fails it', async () => {
    const { works, task_of, reaches, host } = working({ when: 'declared' });
    const [wrong, broken] = [await task_of({ id: '1' }), await task_of({ id: '2' })];
    works[0]?.fail(new ToolError('no'));
    works[1]?.fail(new Error('secret'));
    assert.equal((await reaches(wrong.taskId, 'completed')).result.isError, true);
    const { error, result } = await reaches(broken.taskId, 'failed');
    assert.deepEqual([error.code, result, JSON.stringify(error).includes('secret')], [-32603, undefined, false]);
    await host.close();
  });

  it('without the declaration the call waits; with when: always it is -32021, except for legacy clients', async () => {
    const { works, call, host } = working({ when: 'declared' });
    const plain = call({ capabilities: {} });
    host.clock.advance(1_000);
    works[0]?.finish('waited');
    assert.match((await plain.done).body.toString(), /waited/);
    await host.close();
    const always = working({ when: 'always' });
    const refused = JSON.parse((await always.call({ capabilities: {} }).done).body.toString());
    assert.deepEqual(
      [refused.error.code, refused.error.data.requiredCapabilities],
      [-32021, { extensions: { 'io.modelcontextprotocol/tasks': {} } }],
    );
    const legacy = always.call({ revision: '2025-11-25' });
    always.works[0]?.finish('legacy');
    assert.match((await legacy.done).body.toString(), /legacy/);
    await always.host.close();
  });

  it('nobody but its owner sees a task, and anonymous callers are not alice, nor is she one of them', async () => {
    const { task_of, ask, get, host } = working({ when: 'declared' });
    const [hers, anybody] = [await task_of({ id: '1', identity: alice }), await task_of({ id: '2' })];
    assert.equal((await get(hers.taskId, { identity: alice })).status, 'working');
    for (const [method, init, taskId] of [
      ['tasks/get', {}, hers.taskId],
      ['tasks/cancel', { identity: { ...alice, principal: 'bob' } }, hers.taskId],
      ['tasks/update', { identity: { ...alice, client: 'other' } }, hers.taskId],
      ['tasks/get', { identity: alice }, anybody.taskId],
      ['tasks/get', {}, 'made-up'],
      ['tasks/get', {}, 7],
    ] as const)
      assert.equal((await ask(method, { taskId, inputResponses: {} }, init)).error?.code, -32602, method);
    assert.equal((await get(hers.taskId, { identity: alice })).status, 'working');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      assert.equal((await ask(method, { taskId: anybody.taskId }, { capabilities: {} })).error?.code, -32021);
    for (const method of ['tasks/list', 'tasks/result']) assert.equal((await ask(method, {})).error?.code, -32601);
    await host.close();
  });

  it('tasks/cancel ends the tool, is acknowledged again, and leaves a finished task alone', async () => {
    const { works, task_of, ask, get, host } = working({ when: 'declared' });
    const { taskId } = await task_of();
    assert.deepEqual((await ask('tasks/cancel', { taskId })).result.resultType, 'complete');
    assert.equal((await get(taskId)).status, 'cancelled');
    assert.equal(works[0]?.context.signal.aborted, true);
    works[0]?.finish('too late');
    assert.equal((await ask('tasks/cancel', { taskId })).error, undefined);
    assert.equal((await get(taskId)).status, 'cancelled');
    await host.close();
  });

  it('a task asks within: keys of its round, answered one by one, unknown ones ignored; then the tool runs again', async () => {
    const { works, call, ask, get, reaches, host } = working({ when: 'declared', asks: 'within' }, {}, true);
    const { result: task } = JSON.parse((await call().done).body.toString());
    const asked = await get(task.taskId);
    assert.deepEqual([task.status, asked.status, Object.keys(asked.inputRequests)], ['input_required', 'input_required', ['1.a', '1.b']]);
    const update = (inputResponses: unknown) => ask('tasks/update', { taskId: task.taskId, inputResponses });
    assert.equal((await update({ '1.a': 5 })).error.code, -32602);
    await update({ '1.a': { action: 'accept' }, 'x.y': { action: 'accept' } });
    assert.deepEqual(Object.keys((await get(task.taskId)).inputRequests), ['1.b']);
    await update({ '1.b': { action: 'decline' }, '1.a': { action: 'cancel' } });
    await until('the second run', () => works.length === 1);
    assert.deepEqual(works[0]?.context.responses, { a: { action: 'accept' }, b: { action: 'decline' } });
    assert.deepEqual(works[0]?.context.state, { n: 1 });
    works[0]?.finish('told');
    assert.equal((await reaches(task.taskId, 'completed')).result.content[0].text, 'told');
    await host.close();
  });

  it('a task asks before: in the call itself, and becomes a task afterwards', async () => {
    const { works, call, reaches, host } = working({ when: 'declared' }, {}, true);
    const { result: first } = JSON.parse((await call().done).body.toString());
    assert.deepEqual([first.resultType, first.taskId, Object.keys(first.inputRequests)], ['input_required', undefined, ['a', 'b']]);
    const inputResponses = { a: { action: 'accept' }, b: { action: 'accept' } };
    const second = call({}, { inputResponses, requestState: first.requestState });
    host.clock.advance(50);
    const { result: task } = JSON.parse((await second.done).body.toString());
    assert.deepEqual([task.resultType, task.requestState], ['task', undefined]);
    works[0]?.finish('asked first');
    assert.equal((await reaches(task.taskId, 'completed')).result.content[0].text, 'asked first');
    await host.close();
  });

  it('a task ends with its time, and is forgotten then', async () => {
    const { works, task_of, ask, host } = working({ when: 'declared', ttl_ms: 1_000 });
    const { taskId } = await task_of();
    host.clock.advance(1_000);
    assert.equal(works[0]?.context.signal.aborted, true);
    assert.equal((await ask('tasks/get', { taskId })).error.code, -32602);
    await host.close();
  });

  it('a full store refuses the call, and a result that is too large fails the task', async () => {
    const { works, call, task_of, reaches, host } = working({ when: 'declared' }, { max: 1, max_result_bytes: 100 });
    const { taskId } = await task_of({ id: '1' });
    const second = call({ id: '2' });
    host.clock.advance(50);
    assert.equal((await second.done).error?.code, 'OVERLOADED');
    assert.equal(works[1]?.context.signal.aborted, true);
    works[0]?.finish('x'.repeat(200));
    assert.equal((await reaches(taskId, 'failed')).error.data.code, 'RUNTIME_FAILED');
    assert.equal((await task_of({ id: '3' })).resultType, 'task', 'a task that has ended makes room');
    await host.close();
  });

  it('a store that throws is a failure that the log has and the client has not', async () => {
    const store: TaskStore = {
      create: () => Promise.reject(new Error('the disk is full')),
      get: () => {
        throw new Error('the disk is gone');
      },
      update: () => undefined,
      watch: () => () => undefined,
    };
    const { call, ask, host } = working({ when: 'declared' }, { store });
    const exchange = call();
    host.clock.advance(50);
    const { error } = await exchange.done;
    assert.deepEqual([error?.code, error?.message.includes('disk')], ['RUNTIME_FAILED', false]);
    assert.equal((await ask('tasks/get', { taskId: 'x' })).error.data.code, 'RUNTIME_FAILED');
    assert.ok(host.log.lines.some((line) => JSON.stringify(line).includes('the disk is full')));
    await host.close();
  });

  it('the extension is announced where a tool has tasks, and only there', async () => {
    const { ask, host } = working({ when: 'declared' });
    assert.deepEqual((await ask('server/discover', {})).result.capabilities.extensions, { 'io.modelcontextprotocol/tasks': {} });
    await host.close();
    const none = hosting({ tools: [{ name: 'a', run: () => 'a' }] });
    assert.equal((await none.ask('server/discover')).body.result.capabilities.extensions, undefined);
    assert.equal((await none.ask('tasks/get', { taskId: 'x' }, { capabilities: CAPABLE })).body.error.code, -32601);
    await none.close();
  });

  it('a drain ends what still runs', async () => {
    const { works, task_of, host } = working({ when: 'declared' });
    await task_of();
    await host.close();
    await until('the tool is told', () => works[0]?.context.signal.aborted === true);
  });
});

describe('the store in memory', () => {
  it('bounds the tasks of a caller, tells watchers, and changes only the version that it was asked to change', async () => {
    const clock = { now_ms: () => 0, mono_ms: () => 0, timer: () => ({ cancel() {} }), interval: () => ({ cancel() {} }) };
    const store = createMemoryTaskStore({ clock, max: 10, max_per_caller: 1 });
    const task = (id: string, owner: string) =>
      ({ id, owner, tool: 't', status: 'working', created_at_ms: 0, updated_at_ms: 0, ttl_ms: 9, poll_ms: 1, version: 1 }) as never;
    assert.deepEqual([store.create(task('1', 'a')), store.create(task('2', 'a')), store.create(task('3', 'b'))], [true, false, true]);
    const seen: unknown[] = [];
    const leave = store.watch('1', ({ status, version }) => seen.push([status, version]));
    assert.equal(await store.update('1', 2, { status: 'completed' }), undefined);
    await store.update('1', 1, { status: 'completed', result: '{}' });
    leave();
    await store.update('1', 2, { message: 'x' });
    assert.deepEqual(seen, [['completed', 2]]);
    assert.equal(store.create(task('4', 'a')), true);
    assert.equal(await store.get('1'), undefined);
  });
});
