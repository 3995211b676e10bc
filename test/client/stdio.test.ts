import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ConnectOptions, connect } from '../../src/client.js';
import { makeLog } from '../../src/testing.js';
import { failure } from '../support/client-bench.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';

const SERVER = repositoryPath('dist/test/support/stdio/server.js');
type Mode = 'legacy' | 'modern' | 'dual' | 'mute' | 'exit';

async function within(mode: Mode, test: (client: Client) => Promise<void>, options: ConnectOptions = {}, env = {}): Promise<void> {
  const client = await connect({ stdio: { command: process.execPath, args: [SERVER, mode], env } }, options);
  try {
    await test(client);
  } finally {
    await client.close();
  }
}
const say = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> => {
  const { content = [] } = await client.callTool(name, args);
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
};
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a client over stdio', () => {
  it('probes once: modern, legacy by an error, legacy by silence', async () => {
    for (const [mode, era] of [
      ['modern', 'modern'],
      ['dual', 'modern'],
      ['legacy', 'legacy'],
    ] as const) {
      await within(mode, async (client) => assert.equal(client.server.era, era), { probe_timeout_ms: 20_000 });
    }
    await within('dual', async (client) => assert.equal(client.server.era, 'legacy'), { era: 'legacy' });
    const mute = await failure(within('mute', async () => undefined, { probe_timeout_ms: 100, timeout_ms: 200 }));
    assert.deepEqual([mute.code, /^initialize was not answered within 200 ms/.test(mute.message)], ['TIMEOUT', true], mute.message);
    const legacy = await failure(within('legacy', async () => undefined, { era: 'modern' }));
    assert.equal(legacy.code, 'NO_COMMON_VERSION');
    const modern = await failure(within('modern', async () => undefined, { era: 'legacy' }));
    assert.deepEqual([modern.code, modern.rpc?.code], ['RPC_ERROR', -32022]);
  });

  it('each of many calls gets its own answer', async () => {
    for (const mode of ['legacy', 'modern'] as const)
      await within(mode, async (client) => {
        const answers = Array.from({ length: 50 }, (_, n) => say(client, 'sleep_echo', { ms: 50 - n, v: String(n) }));
        assert.deepEqual(
          await Promise.all(answers),
          Array.from({ length: 50 }, (_, n) => String(n)),
        );
      });
  });

  it('characters cut by chunks are whole, and a line of 300 000 bytes is one answer', () =>
    within('legacy', async (client) => {
      assert.equal(await say(client, 'bytewise'), 'a — b 😀');
      assert.equal(await say(client, 'wide'), '€'.repeat(100_000));
    }));

  it('a server that ends, closes its output or cannot be started answers every waiting call, and says how', async () => {
    for (const [tool, message] of [
      ['exit', /^\S+ ended with exit code 0; it said: fixture is up$/],
      ['crash', /^\S+ ended with exit code 3; it said: fixture is up$/],
      ['half', /^\S+ ended with exit code 0; it said: fixture is up$/],
    ] as const) {
      await within('legacy', async (client) => {
        const [waiting, ended] = await Promise.all([failure(client.callTool('hang')), failure(client.callTool(tool))]);
        assert.deepEqual([waiting.code, ended.code], ['ENDED', 'ENDED'], tool);
        assert.match(ended.message, message);
        assert.equal((await failure(client.callTool('echo'))).code, 'ENDED');
      });
    }
    await within('legacy', async (client) => assert.equal((await failure(client.callTool('close_stdout'))).code, 'ENDED'));
    const exits = await failure(within('exit', async () => undefined));
    assert.equal(exits.code, 'ENDED');
    for (const command of ['/no/such/command', SERVER]) {
      const failed = await failure(connect({ stdio: { command } }));
      assert.deepEqual([failed.code, failed.message], ['UNREACHABLE', `${command} cannot be started`]);
    }
    const folder = await failure(connect({ stdio: { command: process.execPath, cwd: '/no/such/folder' } }));
    assert.equal(folder.code, 'UNREACHABLE');
  });

  it('cancels by a message, which names the call, and drops what comes late', async () => {
    for (const mode of ['legacy', 'modern'] as const)
      await within(mode, async (client) => {
        const stop = new AbortController();
        const late = failure(client.callTool('sleep_echo', { ms: 600, v: 'late' }, { signal: stop.signal }));
        const timed = failure(client.callTool('hang', {}, { timeout_ms: 50 }));
        await sleep(20);
        stop.abort();
        assert.deepEqual([(await late).code, (await timed).code], ['CANCELLED', 'TIMEOUT']);
        await until('the server was told', async () => JSON.parse(await say(client, 'cancelled')).length === 2);
        assert.equal(await say(client, 'sleep_echo', { ms: 1, v: 'on' }), 'on');
      });
  });

  it('progress starts the time anew, up to the longest; none is told after the answer, none to another call', () =>
    within('legacy', async (client) => {
      const told: [number[], number[]] = [[], []];
      const call = (n: 0 | 1) =>
        client.callTool('progress', { steps: 8, ms: 200 }, { timeout_ms: 1_000, onProgress: ({ progress }) => told[n].push(progress) });
      await Promise.all([call(0), call(1)]);
      await until('all was told', () => told.every(({ length }) => length >= 8));
      assert.deepEqual(told, [
        [1, 2, 3, 4, 5, 6, 7, 8],
        [1, 2, 3, 4, 5, 6, 7, 8],
      ]);
      const capped = { timeout_ms: 1_000, timeout_max_ms: 1_200, onProgress: () => undefined };
      assert.equal((await failure(client.callTool('progress', { steps: 40, ms: 100 }, capped))).code, 'TIMEOUT');
    }));

  it('junk is dropped and told in the log, noise on standard error is drained', async () => {
    const log = makeLog();
    await within(
      'legacy',
      async (client) => {
        assert.equal((await failure(client.callTool('bad_answer'))).code, 'BROKEN');
        assert.equal(await say(client, 'junk'), 'good');
      },
      { log },
    );
    assert.ok(log.lines.filter(({ message }) => message === 'the server sent an invalid message').length >= 4);
    await within('legacy', async (client) => assert.equal(await say(client, 'noise', { mb: 2 }), 'quiet'));
  });

  it('answers what a legacy server asks', () =>
    within(
      'legacy',
      async (client) => {
        assert.equal(await say(client, 'ask'), '{"action":"accept","content":{"a":1}}');
        assert.match(await say(client, 'ask', { method: 'sampling/createMessage', id: 7 }), /The client has no sampling/);
        assert.equal(await say(client, 'ping'), '{}');
      },
      { elicit: () => ({ action: 'accept', content: { a: 1 } }) },
    ));

  it('a child gets the allowlist and what is configured, and no descriptor of ours', async () => {
    process.env.CLIENT_TEST_SECRET = 'x';
    await within(
      'legacy',
      async (client) => {
        const { env, fds } = JSON.parse(await say(client, 'environment'));
        const allowed = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'OWN'];
        assert.deepEqual(
          Object.keys(env).filter((name) => !allowed.includes(name)),
          [],
        );
        assert.equal(env.OWN, 'yes');
        assert.ok(Object.values(fds as Record<string, string>).every((target) => !/socket:.*LISTEN/.test(target)));
      },
      {},
      { OWN: 'yes' },
    );
    delete process.env.CLIENT_TEST_SECRET;
  });

  it('close ends the server and all that it started, also a stubborn one', async () => {
    const pids: number[] = [];
    const client = await connect({ stdio: { command: process.execPath, args: [SERVER, 'legacy'], stop_timeout_ms: 600 } });
    pids.push(Number(await say(client, 'grandchild')), Number(await say(client, 'stubborn')));
    assert.ok(pids.every(isAlive));
    const waiting = failure(client.callTool('hang'));
    await client.close();
    assert.equal((await waiting).code, 'CLOSED');
    await until('nothing is left', () => !pids.some(isAlive));
    await client.close();
  });

  it('tells changes in both eras', async () => {
    for (const mode of ['legacy', 'modern'] as const)
      await within(mode, async (client) => {
        const changes = await client.listen({ tools: true, prompts: true, resources: true, uris: ['test://a'] });
        assert.equal(changes.agreed.tools, true, mode);
        await client.callTool('changes');
        await client.callTool('changes');
        const told: unknown[] = [];
        setTimeout(() => changes.close(), 100);
        for await (const change of changes) told.push(change);
        assert.deepEqual(
          told,
          [{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resources' }, { kind: 'resource', uri: 'test://a' }],
          mode,
        );
      });
    const client = await connect({ stdio: { command: process.execPath, args: [SERVER, 'legacy'] } });
    const changes = await client.listen({ tools: true });
    await failure(client.callTool('crash'));
    assert.equal((await failure(changes[Symbol.asyncIterator]().next())).code, 'ENDED');
    await client.close();
  });
});
