import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { modernBody, modernHead } from '../../demo/rpc.js';
import { type Running, running } from '../../support/running.js';
import { startUpstream } from '../../support/upstream.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('tasks on a route whose gate identifies the caller', () => {
  it('belong to who began them, on every replica; Mcp-Name is compared with the task; tasks: pass leaves them alone', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"abc","status":"working"}}');
    });
    const config = (tasks: object): object => ({
      listener: { sessions: { keys: ['a-secret-of-at-least-32-characters'] } },
      gates: { key: { use: 'api-key', options: { keys: ['alice', 'bob'].map((name) => ({ name, sha256: sha256(name) })) } } },
      runtimes: { jobs: { kind: 'proxied', protocol: 'as_is', url: `${upstream.url}/mcp`, ...tasks } },
      routes: [{ path: '/mcp', gates: ['key'], runtime: 'jobs' }],
    });
    const gateways = await Promise.all([{}, {}, { tasks: 'pass' }].map((tasks) => running({ ...config(tasks) })));
    const [one, two, pass] = gateways as [Running, Running, Running];
    const ask = async (gateway: Running, key: string, method: string, params: object, name: string): Promise<Answered> => {
      const response = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: { ...modernHead(method, name), 'x-api-key': key },
        body: modernBody(method, params),
      });
      return { status: response.status, ...((await response.json()) as object) };
    };
    try {
      const taskId = (await ask(one, 'alice', 'tools/call', { name: 'build', arguments: {} }, 'build')).result?.taskId as string;
      assert.match(taskId, /^t1\./);
      for (const gateway of [one, two]) assert.equal((await ask(gateway, 'alice', 'tasks/get', { taskId }, taskId)).result?.taskId, taskId);
      const bob = await ask(two, 'bob', 'tasks/get', { taskId }, taskId);
      assert.deepEqual([bob.status, bob.error?.code, bob.error?.data?.code], [200, -32602, 'COMPONENT_NOT_FOUND']);
      const wrong = await ask(one, 'alice', 'tasks/get', { taskId }, 'abc');
      assert.deepEqual([wrong.status, wrong.error?.code], [400, -32020]);
      assert.equal(await two.metric('portcullis_tasks_refused_total', { route: '/mcp' }), 1);
      assert.equal((await ask(pass, 'bob', 'tasks/get', { taskId: 'abc' }, 'abc')).result?.taskId, 'abc');
      assert.equal(upstream.seen.length, 4);
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await upstream.close();
    }
  });
});

interface Answered {
  readonly status: number;
  readonly result?: { readonly taskId?: string };
  readonly error?: { readonly code: number; readonly data?: { readonly code?: string } };
}
