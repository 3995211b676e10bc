import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { forged } from '../../support/forged.js';
import { delay, fields, legacyCall, modernCall } from '../../support/proxied-bench.js';
import { closeBenches, eventsOf, FIXTURE, isAlive, messageOf, openStdio, textOf } from '../../support/stdio/bench.js';

describe('stdio: legacy sessions', () => {
  afterEach(closeBenches);

  it('each has a child of its own; the first takes the one that was started to learn the era', async () => {
    const bench = await openStdio('legacy');
    await bench.settled({ children: 1, calls: 0 });
    const [one, two] = [await bench.session(), await bench.session()];
    assert.deepEqual([bench.runtime.peers.children, bench.runtime.peers.sessions], [2, 2]);
    assert.notEqual(textOf(await one.tool('pid').done), textOf(await two.tool('pid').done));
    assert.equal(textOf(await one.tool('count').done), '1');
    assert.equal(textOf(await one.tool('count').done), '2');
    assert.equal(textOf(await two.tool('count').done), '1');
    assert.equal(textOf(await bench.tool('count').done), '1', 'modern clients have another one');
    assert.equal(bench.runtime.peers.children, 3);
  });

  it('the id is sealed: good for its route and caller; unknown, foreign, repeated and missing ids are told apart', async () => {
    const bench = await openStdio('legacy');
    const alice = { identity: { principal: 'alice' } };
    const session = await bench.session(alice);
    const used = async (headers: Record<string, string | string[]>, init = {}) =>
      (await bench.send(legacyCall('ping', {}, { ...alice, ...init, headers })).done).error?.code;
    assert.equal(await used({ 'mcp-session-id': session.id }), undefined);
    assert.equal(await used({ 'mcp-session-id': session.id }, { identity: { principal: 'bob' } }), 'SESSION_NOT_FOUND');
    assert.equal(await used({ 'mcp-session-id': session.id }, { route: { path: '/other/mcp' } }), 'SESSION_NOT_FOUND');
    assert.equal(await used({ 'mcp-session-id': forged(session.id) }), 'SESSION_NOT_FOUND');
    assert.equal(await used({}), 'SESSION_REQUIRED');
    assert.equal(await used({ 'mcp-session-id': [session.id, session.id] }), 'SESSION_REQUIRED');
  });

  it('DELETE ends the session and its child; the id is unknown then', async () => {
    const bench = await openStdio('legacy');
    await bench.settled({ children: 1, calls: 0 });
    const session = await bench.session();
    const pid = Number(textOf(await session.tool('pid').done));
    const stream = session.bare('get_stream');
    assert.deepEqual(fields((await stream.head).headers), {});
    const held = session.tool('hang');
    assert.deepEqual([(await session.bare('session_end').done).status, (await stream.done).reason], [200, 'source']);
    assert.equal((await held.done).error?.code, 'SESSION_NOT_FOUND');
    await bench.settled({ children: 0, sessions: 0 });
    assert.equal(isAlive(pid), false);
    assert.equal((await session.tool('pid').done).error?.code, 'SESSION_NOT_FOUND');
    assert.deepEqual(bench.ends, [], 'it did not end by itself');
  });

  it('a question of the child reaches the calling client, and its answer the right child, with equal ids at once', async () => {
    const bench = await openStdio('legacy');
    const [one, two] = [await bench.session(), await bench.session()];
    const calls = [one.tool('ask'), two.tool('ask')];
    await Promise.all(calls.map((call) => call.wrote(1)));
    for (const call of calls) {
      const [asked] = eventsOf(call.writes.join('')).map((text) => JSON.parse(text));
      assert.deepEqual([asked.id, asked.method], ['e1', 'elicitation/create']);
    }
    assert.equal((await two.answer('"e1"', { action: 'two' }).done).status, 202);
    assert.equal((await one.answer('"\\u00651"', { action: 'one' }).done).status, 202, 'the same id in another spelling');
    assert.equal(JSON.parse(textOf(await calls[0]!.done)).action, 'one');
    assert.equal(JSON.parse(textOf(await calls[1]!.done)).action, 'two');
    assert.equal((await one.answer('"e1"', { action: 'late' }).done).status, 202, 'what answers nothing is dropped');
  });

  it('a question goes to the GET stream when several calls run or the caller takes no events, and waits for that stream', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    const call = bench.send(
      legacyCall('tools/call', { name: 'ask', arguments: { id: 7 } }, { headers: { 'mcp-session-id': session.id } }),
      { accepts_events: false },
    );
    await delay(50);
    const stream = session.bare('get_stream');
    await stream.wrote(1);
    assert.equal(JSON.parse(eventsOf(stream.writes.join(''))[0] ?? '').id, 7);
    await session.answer('7', { action: 'accept' }).done;
    assert.equal((await call.done).by, 'respond');

    const busy = [session.tool('hang'), session.tool('ask')];
    await stream.wrote(2);
    assert.equal(JSON.parse(eventsOf(stream.writes.join(''))[1] ?? '').id, 'e1');
    for (const exchange of busy) exchange.cancel('client');
  });

  it('a ping of the child is answered by the gateway', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    assert.equal(textOf(await session.tool('ping').done), '{}');
    assert.equal(textOf(await bench.tool('ping').done), '{}');
  });

  it('notices reach the GET stream of their own session, also those that came before it; a new stream takes over', async () => {
    const bench = await openStdio('legacy');
    const [one, two] = [await bench.session(), await bench.session()];
    const other = two.bare('get_stream');
    await one.tool('changes').done;
    const first = one.bare('get_stream');
    await first.wrote(5);
    const methods = (writes: readonly string[]) => eventsOf(writes.join('')).map((text) => JSON.parse(text).method);
    assert.deepEqual(methods(first.writes), [
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
      'notifications/resources/updated',
    ]);
    const second = one.bare('get_stream');
    assert.equal((await first.done).reason, 'source');
    await one.tool('changes').done;
    await second.wrote(5);
    assert.deepEqual(other.writes, []);
  });

  it('notifications/cancelled is told to the child with the id that it saw, and the call ends without an answer', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    const [held, other] = [session.tool('hang', {}, { id: '"a"' }), session.tool('hang', {}, { id: '1' })];
    const body = Buffer.from('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"enough"}}');
    const cancel = session.send('notifications/cancelled', {}, { kind: 'notification', body });
    assert.equal((await cancel.done).status, 202);
    const { by, body: text } = await held.done;
    assert.deepEqual([by, text.toString()], ['events', '']);
    assert.deepEqual(JSON.parse(textOf(await session.tool('cancelled').done)), [3]);
    assert.equal(other.ended, false);
    other.cancel('client');
  });

  it('a failed handshake leaves neither session nor child', async () => {
    const bench = await openStdio('discovers', { args: [FIXTURE, 'discovers', '{}', 'refuses'] });
    const { body, headers, rpc_code } = await bench.send(legacyCall('initialize', {})).done;
    assert.deepEqual([rpc_code, headers], [-32603, ['content-type', 'application/json']]);
    assert.equal(messageOf({ body } as never).id, 1);
    await bench.settled({ sessions: 0, bridged: 0 });
  });

  it('the TTL counts what the client does: an open stream does not keep a session, and its child is gone', async () => {
    const bench = await openStdio('legacy', { idle_ttl_ms: 700 });
    const [kept, lost] = [await bench.session(), await bench.session()];
    const pid = Number(textOf(await lost.tool('pid').done));
    const stream = lost.bare('get_stream');
    for (let i = 0; i < 10 && !stream.ended; i++) {
      await kept.send('ping').done;
      await delay(250);
    }
    assert.equal((await stream.done).reason, 'source');
    assert.equal((await lost.tool('pid').done).error?.code, 'SESSION_NOT_FOUND');
    assert.equal((await kept.send('ping').done).status, 200);
    for (let i = 0; i < 100 && isAlive(pid); i++) await delay(20);
    assert.equal(isAlive(pid), false);
  });

  it('sessions are capped in all and per caller: the oldest idle one ends, a busy one never', async () => {
    const bench = await openStdio('legacy', { max_sessions: 3, max_sessions_per_caller: 2 });
    const [alice, bob] = [{ identity: { principal: 'alice' } }, { identity: { principal: 'bob' } }];
    const first = await bench.session(alice);
    const second = await bench.session(alice);
    const held = first.tool('hang');
    const third = await bench.session(alice);
    assert.equal((await second.send('ping').done).error?.code, 'SESSION_NOT_FOUND', 'the idle one of the same caller');
    const bobs = await bench.session(bob);
    assert.equal(bench.runtime.peers.sessions, 3);
    const busy = [third.tool('hang'), bobs.tool('hang')];
    const refused = await bench.send(legacyCall('initialize', {}, bob)).done;
    assert.deepEqual([refused.status, refused.error?.code], [503, 'OVERLOADED']);
    for (const exchange of [held, ...busy]) exchange.cancel('client');
    await bench.session(bob);
    assert.equal(bench.runtime.peers.sessions, 3);
  });

  it('one more than max_children is OVERLOADED, those on their way out counted', async () => {
    const bench = await openStdio('legacy', { max_children: 2 });
    await bench.tool('count').done;
    const session = await bench.session();
    assert.equal((await bench.send(legacyCall('initialize', {})).done).error?.code, 'OVERLOADED');
    await session.bare('session_end').done;
    await bench.settled({ children: 1 });
    await bench.session();
  });

  it('a modern child that knows both eras serves legacy sessions from children of their own', async () => {
    const bench = await openStdio('dual');
    const session = await bench.session();
    assert.notEqual(textOf(await session.tool('pid').done), textOf(await bench.tool('pid').done));
    const call = bench.send(modernCall('server/discover'));
    assert.deepEqual((messageOf(await call.done) as { result: { supportedVersions: unknown } }).result.supportedVersions, ['2026-07-28']);
  });
});
