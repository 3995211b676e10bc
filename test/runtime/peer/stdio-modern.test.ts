import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { until } from '../../support/e2e/until.js';
import { said } from '../../support/legacy-clients.js';
import { legacyCall } from '../../support/proxied-bench.js';
import { closeBenches, messageOf, openStdio, textOf } from '../../support/stdio/bench.js';

describe('legacy clients of a modern child', { timeout: 60_000 }, () => {
  afterEach(closeBenches);

  it('share the one child: the first handshake shows that it serves no legacy revision', async () => {
    const bench = await openStdio('modern');
    const [one, two] = [await bench.session(), await bench.session()];
    assert.equal(textOf(await one.tool('count').done), '1');
    assert.equal(textOf(await two.tool('count').done), '2');
    assert.equal(textOf(await bench.tool('count').done), '3');
    await bench.settled({ children: 1, sessions: 0 });
    assert.equal(bench.runtime.peers.bridged, 2);
  });

  it('a call carries the metadata of the modern revision, its answer none of it; ids and numbers are the client’s own', async () => {
    const bench = await openStdio('modern');
    const session = await bench.session();
    const answer = await session.tool('meta', {}, { id: '"x"' }).done;
    const { id, result } = messageOf(answer) as unknown as { readonly id: string; readonly result: object };
    assert.deepEqual([id, Object.keys(result)], ['x', ['content']]);
    assert.deepEqual(JSON.parse(textOf(answer)), {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      'io.modelcontextprotocol/logLevel': 'info',
    });
  });

  it('a question is asked on the stream of its call, and the child is asked again with the answer', async () => {
    const bench = await openStdio('modern');
    const session = await bench.session();
    const call = session.tool('rounds');
    await call.wrote(1);
    const [question] = said(call);
    assert.equal(question?.method, 'elicitation/create');
    await session.answer(JSON.stringify(question?.id), { action: 'accept' }).done;
    assert.deepEqual(JSON.parse(textOf(await call.done)), [{ who: { action: 'accept' } }, 'mine']);
  });

  it('a cancelled call is told to the child by the id that it saw', async () => {
    const bench = await openStdio('modern');
    const session = await bench.session();
    const call = session.tool('hang', {}, { id: '77' });
    await bench.settled({ calls: 1 });
    await session.send('notifications/cancelled', { requestId: 77 }, { kind: 'notification', id: undefined }).done;
    await call.done;
    await until('the child is told', async () => /^\[\d+\]$/.test(textOf(await session.tool('cancelled').done)));
  });

  it('the GET stream carries its changes; DELETE ends the session', async () => {
    const bench = await openStdio('modern');
    const session = await bench.session();
    const stream = session.bare('get_stream');
    await bench.settled({ calls: 1 });
    await until('the subscription', async () => (await session.tool('changes').done) !== undefined && stream.writes.length > 0);
    assert.equal(said(stream)[0]?.method?.toString().startsWith('notifications/'), true);
    await session.bare('session_end').done;
    await bench.settled({ calls: 0 });
    assert.equal((await session.tool('count').done).error?.code, 'SESSION_NOT_FOUND');
  });

  it('a child of both eras is spoken to as it is', async () => {
    const bench = await openStdio('dual');
    const session = await bench.session();
    assert.equal(textOf(await session.tool('count').done), '1');
    assert.deepEqual([bench.runtime.peers.sessions, bench.runtime.peers.bridged], [1, 0]);
  });

  it('an id of nobody stays unknown', async () => {
    const bench = await openStdio('modern');
    const call = legacyCall('tools/call', { name: 'count' }, { headers: { 'mcp-session-id': 'made-up' } });
    assert.equal((await bench.send(call).done).error?.code, 'SESSION_NOT_FOUND');
  });
});
