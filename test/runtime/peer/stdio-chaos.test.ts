import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { until } from '../../support/e2e/until.js';
import { delay, legacyCall, modernCall } from '../../support/proxied-bench.js';
import { closeBenches, FIXTURE, isAlive, openStdio, textOf } from '../../support/stdio/bench.js';

const codes = async (calls: readonly { readonly done: Promise<{ readonly error?: { readonly code: string } | undefined }> }[]) =>
  (await Promise.all(calls.map((call) => call.done))).map(({ error }) => error?.code);

describe('stdio: what children do', () => {
  afterEach(closeBenches);

  it('a child that exits before it answers: each call is told in time, and the next start waits longer', async () => {
    const bench = await openStdio('exit');
    const calls = [bench.tool('count'), bench.tool('count')];
    assert.deepEqual(await codes(calls), ['UPSTREAM_DOWN', 'UPSTREAM_DOWN']);
    const { status, headers } = await calls[0]!.done;
    assert.deepEqual([status, headers[0]], [503, 'retry-after']);
    assert.match(headers[1] ?? '', /^[1-5]$/);
    assert.equal(bench.runtime.health, 'degraded');
    assert.equal(bench.ends[0], 'crash');
  });

  it('a child that never speaks is given up after start_timeout_ms', async () => {
    const bench = await openStdio('mute', { start_timeout_ms: 600 });
    assert.deepEqual(await codes([bench.tool('count'), bench.send(legacyCall('initialize', {}))]), ['UPSTREAM_DOWN', 'UPSTREAM_DOWN']);
    assert.deepEqual(bench.ends.slice(0, 2), ['timeout', 'timeout']);
    await bench.runtime.close(500);
    await bench.settled({ children: 0 });
  });

  it('a child that ends in the middle of five calls: each gets its own error, and the next call is answered', async () => {
    const bench = await openStdio('modern');
    await bench.tool('pid').done;
    const calls = Array.from({ length: 5 }, () => bench.tool('exit_third'));
    assert.deepEqual(await codes(calls), Array(5).fill('UPSTREAM_ENDED'));
    assert.equal((await calls[0]!.done).status, 502);
    assert.equal(textOf(await bench.tool('count').done), '1');
    assert.deepEqual(bench.ends, ['crash']);
    const told = bench.log.lines.find(({ message }) => message === 'the MCP server ended by itself');
    assert.deepEqual(told?.fields.stderr, ['fixture is up'], 'what it wrote last is in the log');
  });

  it('a child that closes its output and lives is ended, and its calls are told', async () => {
    const bench = await openStdio('modern');
    const pid = Number(textOf(await bench.tool('pid').done));
    assert.deepEqual(await codes([bench.tool('close_stdout')]), ['UPSTREAM_ENDED']);
    for (let i = 0; i < 300 && isAlive(pid); i++) await delay(20);
    assert.equal(isAlive(pid), false);
    assert.equal(textOf(await bench.tool('count').done), '1');
  });

  it('a command that does not exist, a file that is no program and a missing folder cost their callers an error, no more', async () => {
    for (const options of [{ command: '/no/such/command' }, { command: FIXTURE }, { cwd: '/no/such/folder' }, { args: ['\0'] }]) {
      const bench = await openStdio('legacy', options);
      assert.deepEqual(await codes([bench.tool('count'), bench.send(legacyCall('initialize', {}))]), ['UPSTREAM_DOWN', 'UPSTREAM_ENDED']);
      assert.equal((await bench.send(legacyCall('initialize', {})).done).error?.code, 'UPSTREAM_DOWN', 'not tried again at once');
      assert.deepEqual([bench.runtime.health, bench.runtime.peers.children], ['degraded', 0]);
      assert.equal(bench.ends[0], 'spawn');
      const told = bench.log.lines.filter(({ level }) => level === 'error' || level === 'warn');
      assert.deepEqual([...new Set(told.map(({ message }) => message))], ['the command could not be started']);
      assert.equal(told[0]?.fields.command, options.command ?? process.execPath);
    }
  });

  it('a child that closes its input while a megabyte is written, and one that is killed: errors for their calls only', async () => {
    const bench = await openStdio('modern');
    assert.equal(textOf(await bench.tool('close_stdin').done), 'closed');
    const large = modernCall('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(1_000_000) } });
    assert.deepEqual(await codes([bench.send(large)]), ['UPSTREAM_ENDED']);
    const pid = Number(textOf(await bench.tool('pid').done));
    const held = [bench.tool('hang'), bench.tool('hang')];
    process.kill(pid, 'SIGKILL');
    assert.deepEqual(await codes(held), ['UPSTREAM_ENDED', 'UPSTREAM_ENDED']);
    assert.deepEqual(bench.ends.at(-1), 'signal');
    for (let i = 0; i < 50 && bench.runtime.health !== 'ready'; i++) await delay(50);
    assert.equal(textOf(await bench.tool('count').done), '1');
  });

  for (const mode of ['flaky', 'exit'])
    it(`a child in mode ${mode} that ends soon after its start is started less and less often, whoever asks`, async () => {
      const bench = await openStdio(mode);
      const refused: string[] = [];
      for (let i = 0; i < 50 || (i < 100 && !refused.includes('UPSTREAM_DOWN')); i++) {
        const call = i % 2 === 0 || mode === 'flaky' ? bench.tool('hang') : bench.send(legacyCall('initialize', {}));
        void call.done.then(({ error }) => void refused.push(error?.code ?? 'none'));
        await delay(50);
      }
      assert.ok(bench.ends.length >= 2 && bench.ends.length <= 12, `${bench.ends.length} ends in a few seconds`);
      assert.ok(refused.includes('UPSTREAM_DOWN'));
      assert.ok(bench.runtime.peers.children <= 2);
    });

  it('a healthy child is the only one, however many calls and lists there are', async () => {
    const bench = await openStdio('legacy');
    const pids = new Set<string>();
    for (let i = 0; i < 100; i++) pids.add(textOf(await bench.tool('pid').done));
    for (let i = 0; i < 20; i++) await bench.send(modernCall('tools/list')).done;
    assert.deepEqual([pids.size, bench.runtime.peers.children, bench.ends.length], [1, 1, 0]);
  });

  it('the health says what is so: ready, degraded while the command fails, ready again', async () => {
    const bench = await openStdio('modern');
    await bench.tool('count').done;
    assert.equal(bench.runtime.health, 'ready');
    const crash = bench.tool('crash');
    assert.deepEqual(await codes([crash]), ['UPSTREAM_ENDED']);
    assert.equal(bench.runtime.health, 'degraded');
    for (let i = 0; i < 100 && bench.runtime.health !== 'ready'; i++) await delay(20);
    assert.equal(bench.runtime.health, 'ready');
    await bench.runtime.close(1000);
    assert.equal(bench.runtime.health, 'stopped');
    assert.equal((await bench.tool('count').done).error?.code, 'DRAINING');
  });

  it('close ends a child that ignores EOF and SIGTERM, and its grandchildren, within its deadline', async () => {
    const bench = await openStdio('modern');
    const pid = Number(textOf(await bench.tool('stubborn').done));
    const grandchild = Number(textOf(await bench.tool('grandchild').done));
    const held = bench.tool('hang');
    assert.deepEqual([isAlive(pid), isAlive(grandchild)], [true, true]);
    const started = performance.now();
    await bench.runtime.close(600);
    assert.ok(performance.now() - started < 3000);
    assert.equal((await held.done).error?.code, 'DRAINING');
    await until('none of them lives', () => !isAlive(pid) && !isAlive(grandchild));
    assert.deepEqual(bench.told, ['killed child 1']);
  });

  it('a grandchild does not outlive its parent, nor keep its calls waiting', async () => {
    const bench = await openStdio('modern');
    const grandchild = Number(textOf(await bench.tool('grandchild').done));
    assert.deepEqual(await codes([bench.tool('crash')]), ['UPSTREAM_ENDED']);
    for (let i = 0; i < 200 && isAlive(grandchild); i++) await delay(20);
    assert.equal(isAlive(grandchild), false);
  });
});
