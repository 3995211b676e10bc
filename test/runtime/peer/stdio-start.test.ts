import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { folderWith } from '../../support/config-files.js';
import { delay, fields, legacyCall, modernCall, PEER_BRIDGE } from '../../support/proxied-bench.js';
import { closeBenches, eventsOf, FIXTURE, isAlive, messageOf, openStdio, type StdioBench, textOf } from '../../support/stdio/bench.js';

const folders: ReturnType<typeof folderWith>[] = [];
const close = async () => {
  await closeBenches();
  for (const folder of folders.splice(0)) folder.remove();
};

/** A bench on the fixture that notes its starts. */
async function counted(mode: string, options: Parameters<typeof openStdio>[1] = {}, env: Readonly<Record<string, string>> = {}) {
  const folder = folderWith({});
  folders.push(folder);
  const file = `${folder.folder}/starts`;
  const bench = await openStdio(mode, { ...options, env: { STARTS: file, ...env } });
  const pids = (): readonly number[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []);
  return { bench, pids };
}

const INIT = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 't', version: '0' } };
const versionsOf = async (bench: StdioBench) => {
  const answer = await bench.send(modernCall('server/discover')).done;
  return (messageOf(answer) as { result?: { supportedVersions?: unknown } }).result?.supportedVersions;
};

describe('stdio: the era of a child', () => {
  afterEach(close);

  for (const answer of [
    { supportedVersions: ['2025-11-25'], capabilities: {} },
    { error: { code: -32022, message: 'no', data: { supported: ['2025-11-25'] } } },
    { error: { code: -32022, message: 'no' } },
    { error: { code: -32603, message: 'no' } },
  ])
    it(`${JSON.stringify(answer)} to server/discover is a legacy one: modern clients are bridged`, async () => {
      const bench = await openStdio('discovers', { args: [FIXTURE, 'discovers', JSON.stringify(answer)] });
      assert.deepEqual(await versionsOf(bench), ['2026-07-28']);
      assert.equal(textOf(await bench.tool('count').done), '1');
      assert.equal(textOf(await (await bench.session()).tool('count').done), '1');
    });

  for (const [mode, probe_timeout_ms] of [
    ['silent', 400],
    ['fragile', 5000],
  ] as const)
    it(`one that is ${mode} after server/discover is started again, greeted with initialize, and not asked again`, async () => {
      const { bench, pids } = await counted(mode, { bridge: { ...PEER_BRIDGE, probe_timeout_ms, era_ttl_ms: 300_000 } });
      const session = await bench.session();
      assert.equal(textOf(await bench.tool('count').done), '1', 'a modern client, bridged');
      assert.equal(textOf(await session.tool('count').done), '1');
      assert.equal(pids().length, 3, 'the one that was asked, the shared one, and the session’s');
      for (let i = 0; i < 300 && isAlive(pids()[0] as number); i++) await delay(20);
      assert.equal(isAlive(pids()[0] as number), false);
      assert.deepEqual([bench.ends, bench.runtime.health], [[], 'ready'], 'no failure of its command');
      assert.equal((await bench.tool('crash').done).error?.code, 'UPSTREAM_ENDED');
      for (let i = 0; i < 300 && bench.runtime.health !== 'ready'; i++) await delay(20);
      assert.equal(textOf(await bench.tool('count').done), '1');
      assert.equal(pids().length, 4, 'not asked within era_ttl_ms');
    });

  it('with room for one child only, the next takes the place of the one that was asked', async () => {
    const { bench, pids } = await counted('silent', {
      max_children: 1,
      bridge: { ...PEER_BRIDGE, probe_timeout_ms: 300, era_ttl_ms: 300_000 },
    });
    let text = '';
    for (let i = 0; i < 100 && text !== '1'; i++) {
      text = textOf(await bench.tool('count').done);
      await delay(50);
    }
    assert.deepEqual([text, pids().length], ['1', 2]);
  });

  it('a legacy verdict is asked for again of the next process', async () => {
    const { bench, pids } = await counted('fragile', { bridge: { ...PEER_BRIDGE, probe_timeout_ms: 5000, era_ttl_ms: 1 } });
    assert.equal(textOf(await bench.tool('count').done), '1');
    assert.equal((await bench.tool('crash').done).error?.code, 'UPSTREAM_ENDED');
    for (let i = 0; i < 300 && pids().length < 4; i++) await delay(20);
    assert.equal(textOf(await bench.tool('count').done), '1');
    assert.equal(pids().length, 4, 'two for each of its two lives');
  });
});

describe('stdio: a child that asks while it starts', () => {
  afterEach(close);
  const wanted = [
    { question: 'ping', result: {} },
    ...['roots/list', 'sampling/createMessage', 'elicitation/create', 'made/up'].map((question) => ({ question, code: -32601 })),
  ];
  const told = (text: string) =>
    (JSON.parse(text) as { question: string; result?: object; error?: { code: number } }[]).map(({ question, result, error }) =>
      error === undefined ? { question, result } : { question, code: error.code },
    );

  it('gets an answer to everything, asked before the probe, the gateway’s handshake and a client’s', async () => {
    const bench = await openStdio('asking');
    assert.deepEqual(told(textOf(await bench.tool('introduced').done)), wanted, 'before the probe');
    const [one, two] = [await bench.session(), await bench.session()];
    for (const session of [one, two]) assert.deepEqual(told(textOf(await session.tool('introduced').done)), wanted, 'before its handshake');
  });

  it('gets one while it rests, and as a shared child', async () => {
    const bench = await openStdio('legacy');
    await bench.settled({ children: 1, calls: 0 });
    const codes: unknown[] = [];
    for (const method of ['made/up', 'roots/list', 'ping'])
      codes.push(JSON.parse(textOf(await bench.tool('ask', { id: `u-${method}`, method }).done)));
    assert.deepEqual(
      codes.map((code) => (code as { code?: number }).code ?? code),
      [-32601, -32021, {}],
    );
  });

  it('gets one from an idle session that nobody listens to', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    const call = bench.send(
      legacyCall(
        'tools/call',
        { name: 'ask', arguments: { id: 'x', method: 'roots/list' } },
        { headers: { 'mcp-session-id': session.id } },
      ),
      { accepts_events: false },
    );
    assert.match(textOf(await call.done), /-32603/, 'once no stream came for it');
    const stream = session.bare('get_stream');
    await stream.head;
    await session.send('ping').done;
    assert.deepEqual(stream.writes, [], 'a question that was answered is not asked any more');
  });
});

describe('stdio: a call that ends while its child starts', () => {
  afterEach(close);
  const slow = { WAIT_MS: '1500' };

  it('leaves the start to the next caller, of either era: one child is started once', async () => {
    const { bench, pids } = await counted('legacy', {}, slow);
    const first = bench.send(legacyCall('initialize', INIT));
    assert.match(first.awaited ?? '', /start_timeout_ms \(10000\)/);
    await delay(200);
    first.cancel('deadline');
    const second = bench.send(legacyCall('initialize', INIT));
    await delay(200);
    second.cancel('client');
    const third = await bench.send(legacyCall('initialize', INIT)).done;
    assert.equal(third.status, 200);
    assert.ok(fields(third.headers)['mcp-session-id']);
    assert.equal(pids().length, 1);
    assert.deepEqual([bench.ends, bench.runtime.peers.sessions], [[], 1]);

    const modern = bench.tool('count');
    assert.match(modern.awaited ?? '', /start_timeout_ms/);
    await delay(200);
    modern.cancel('deadline');
    assert.equal(textOf(await bench.tool('count').done), '1');
    assert.equal(pids().length, 2);
  });

  it('leaves a session’s own child to the same caller’s next try with the same handshake, and to nobody else', async () => {
    const { bench, pids } = await counted('legacy', {}, slow);
    await bench.session();
    const alice = { identity: { principal: 'alice' } };
    const left = bench.send(legacyCall('initialize', INIT, alice));
    await delay(100);
    left.cancel('deadline');
    const bob = bench.send(legacyCall('initialize', INIT, { identity: { principal: 'bob' } }));
    const other = bench.send(legacyCall('initialize', { ...INIT, protocolVersion: '2025-06-18' }, alice));
    const again = bench.send(legacyCall('initialize', INIT, alice));
    for (const exchange of [bob, other, again]) assert.equal((await exchange.done).status, 200);
    assert.equal(pids().length, 4);
    assert.equal(bench.runtime.peers.sessions, 4);
  });

  it('leaves the starts of other callers alone: whoever gives up ends nobody else’s', async () => {
    const { bench, pids } = await counted('legacy', {}, slow);
    await bench.session();
    const begin = (principal: string) => bench.send(legacyCall('initialize', INIT, { identity: { principal } }));
    for (const principal of ['alice', 'bob']) {
      const left = begin(principal);
      await delay(100);
      left.cancel('deadline');
    }
    for (const exchange of [begin('alice'), begin('bob')]) assert.equal((await exchange.done).status, 200);
    assert.equal(pids().length, 3);
  });

  it('an answer that came while nobody waited is the next caller’s', async () => {
    const { bench, pids } = await counted('legacy', {}, { WAIT_MS: '300' });
    await bench.session();
    const left = bench.send(legacyCall('initialize', INIT));
    await delay(100);
    left.cancel('client');
    for (let i = 0; i < 100 && bench.runtime.peers.calls > 0; i++) await delay(20);
    const again = await bench.send(legacyCall('initialize', INIT)).done;
    assert.deepEqual([again.status, pids().length], [200, 2]);
  });

  it('one abandoned start of a caller is kept, and no longer than start_timeout_ms', async () => {
    const { bench } = await counted('legacy', { start_timeout_ms: 2000 });
    await bench.session();
    const leave = async (name: string) => {
      const exchange = bench.send(legacyCall('initialize', { ...INIT, clientInfo: { name, version: '0' } }));
      exchange.cancel('client');
      await delay(20);
    };
    for (const name of ['a', 'b', 'c']) await leave(name);
    await bench.settled({ sessions: 2 });
    await bench.settled({ sessions: 1, children: 1 });
    assert.deepEqual(bench.ends, [], 'it had answered');
  });

  it('a child that never answers is called broken after start_timeout_ms, whether somebody waits or not', async () => {
    const { bench } = await counted('mute', {
      start_timeout_ms: 600,
      bridge: { ...PEER_BRIDGE, probe_timeout_ms: 100, era_ttl_ms: 300_000 },
    });
    await delay(200);
    const left = bench.send(legacyCall('initialize', INIT));
    left.cancel('client');
    for (let i = 0; i < 200 && bench.ends.length < 2; i++) await delay(20);
    assert.deepEqual(bench.ends.slice(0, 2), ['timeout', 'timeout']);
    await bench.settled({ sessions: 0 });
  });
});

describe('stdio: log messages of a legacy session', () => {
  afterEach(close);

  it('ride on the only call that runs; with none or several they wait for the session’s own stream', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    const alone = await session.tool('log', { lines: 3 }).done;
    const seen = (text: string) => eventsOf(text).map((event) => JSON.parse(event) as { params?: { data?: string } });
    assert.equal(alone.by, 'events');
    assert.deepEqual(
      seen(alone.body.toString()).map(({ params }) => params?.data),
      ['line 1', 'line 2', 'line 3', undefined],
    );
    const held = session.tool('hang');
    const beside = await session.tool('log').done;
    assert.equal(beside.by, 'respond');
    held.cancel('client');
    const stream = session.bare('get_stream');
    await stream.wrote(1);
    assert.equal(seen(stream.writes.join(''))[0]?.params?.data, 'line 1');
  });

  it('of a call that takes no events wait for the session’s own stream', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    const call = legacyCall('tools/call', { name: 'log', arguments: {} }, { headers: { 'mcp-session-id': session.id } });
    assert.equal((await bench.send(call, { accepts_events: false }).done).by, 'respond');
    const stream = session.bare('get_stream');
    await stream.wrote(1);
  });
});
