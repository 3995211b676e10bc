import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { type CallInit, modernCall, PEER_BRIDGE } from '../../support/proxied-bench.js';
import { closeBenches, messageOf, openStdio, type StdioBench, textOf } from '../../support/stdio/bench.js';

const ALICE: CallInit = { identity: { principal: 'alice' } };
const BOB: CallInit = { identity: { principal: 'bob' } };
const KEY = 'io.modelcontextprotocol/clientCapabilities';

interface Asked {
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: object }>>;
  readonly requestState: string;
}

describe('questions of a legacy child to modern clients', { timeout: 60_000 }, () => {
  afterEach(closeBenches);

  const call = (
    bench: StdioBench,
    name: string,
    args: object,
    init: CallInit,
    more: object = {},
    has: object = { elicitation: {}, roots: {} },
  ) => bench.send(modernCall('tools/call', { name, arguments: args, _meta: { [KEY]: has }, ...more }, init));
  const askedBy = async (exchange: FakeExchange): Promise<Asked> => {
    const { result } = messageOf(await exchange.done) as unknown as { readonly result: Asked & { readonly resultType: string } };
    assert.equal(result.resultType, 'input_required');
    return result;
  };
  const retry = (bench: StdioBench, name: string, args: object, init: CallInit, asked: Asked, answer: object) =>
    call(bench, name, args, init, { requestState: asked.requestState, inputResponses: { q1: answer } });

  /** A call that the child ended while it was held, with so many bytes; `again`: the state for its client. */
  const endedWhileHeld = async (bench: StdioBench, init: CallInit, bytes: number): Promise<{ readonly again: Asked }> => {
    const args = bytes === 0 ? {} : { bytes };
    const asked = await askedBy(call(bench, 'either', args, init));
    const again = await askedBy(retry(bench, 'either', args, init, asked, { action: 'accept' }));
    assert.deepEqual(Object.keys(again.inputRequests), ['q2']);
    await bench.settled({ calls: 0 });
    return { again };
  };

  it('a question becomes input_required; the retry answers it, in a child that the call has for itself', async () => {
    const bench = await openStdio('legacy');
    const asked = await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    assert.equal(asked.inputRequests.q1?.method, 'elicitation/create');
    assert.deepEqual([bench.runtime.peers.held, bench.runtime.peers.leased], [1, 1]);
    const beside = await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    assert.equal(bench.runtime.peers.leased, 2);
    const done = await retry(bench, 'ask', { id: 'a' }, ALICE, asked, { action: 'accept', content: { n: 1 } }).done;
    assert.deepEqual(JSON.parse(textOf(done)), { action: 'accept', content: { n: 1 } });
    assert.deepEqual(JSON.parse(textOf(await retry(bench, 'ask', { id: 'a' }, ALICE, beside, { action: 'decline' }).done)), {
      action: 'decline',
    });
    assert.equal(bench.runtime.peers.held, 0);
  });

  it('an identified caller keeps its child for its next calls; another caller gets another', async () => {
    const bench = await openStdio('legacy');
    const pidOf = async (init: CallInit) => textOf(await call(bench, 'pid', {}, init).done);
    const alice = await pidOf(ALICE);
    assert.equal(await pidOf(ALICE), alice);
    assert.notEqual(await pidOf(BOB), alice);
    assert.equal(bench.runtime.peers.leased, 2);
  });

  it('an unknown caller’s child ends with its call', async () => {
    const bench = await openStdio('legacy');
    const first = textOf(await call(bench, 'pid', {}, {}).done);
    assert.notEqual(textOf(await call(bench, 'pid', {}, {}).done), first);
    await bench.settled({ leased: 0 });
  });

  it('a client that cannot be asked shares the common child, and so does everybody with max_held: 0', async () => {
    const bench = await openStdio('legacy');
    assert.equal(textOf(await bench.tool('count').done), '1');
    assert.equal(bench.runtime.peers.leased, 0);
    const closed = await openStdio('legacy', { bridge: { ...PEER_BRIDGE, max_held: 0 } });
    assert.equal((await call(closed, 'ask', {}, ALICE).done).error?.code, 'MISSING_CAPABILITY');
    assert.equal(closed.runtime.peers.leased, 0);
  });

  it('two unknown clients that are asked at once never meet', async () => {
    const bench = await openStdio('legacy', { max_sessions: 16 });
    const rounds = Array.from({ length: 6 }, async (_, index) => {
      for (let turn = 0; turn < 3; turn++) {
        const who = `${index}-${turn}`;
        const asked = await askedBy(call(bench, 'ask', { id: who }, {}));
        const done = await retry(bench, 'ask', { id: who }, {}, asked, { action: 'accept', content: { who } }).done;
        assert.deepEqual(JSON.parse(textOf(done)), { action: 'accept', content: { who } });
      }
    });
    await Promise.all(rounds);
    await bench.settled({ leased: 0, held: 0 });
  });

  it('foreign, changed and used states are refused, and the child hears nothing of them', async () => {
    const bench = await openStdio('legacy');
    const asked = await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    const codeOf = async (init: CallInit, state: string, args: object = { id: 'a' }) =>
      (await retry(bench, 'ask', args, init, { ...asked, requestState: state }, { action: 'accept' }).done).error?.code;
    assert.equal(await codeOf(BOB, asked.requestState), 'INVALID_STATE');
    assert.equal(await codeOf(ALICE, asked.requestState, { id: 'b' }), 'INVALID_STATE');
    assert.equal(await codeOf(ALICE, `${asked.requestState.slice(0, -2)}AA`), 'INVALID_STATE');
    assert.equal(textOf(await retry(bench, 'ask', { id: 'a' }, ALICE, asked, { action: 'cancel' }).done), '{"action":"cancel"}');
    assert.equal(await codeOf(ALICE, asked.requestState), 'HELD_CALL_GONE');
  });

  it('two questions come together; unanswered ones come again under their keys, keys of nobody are ignored', async () => {
    const bench = await openStdio('legacy');
    const asked = await askedBy(call(bench, 'either', {}, ALICE));
    assert.deepEqual(Object.keys(asked.inputRequests), ['q1', 'q2']);
    assert.ok(asked.requestState.length <= 160);
    const none = { requestState: asked.requestState, inputResponses: { q9: { action: 'accept' } } };
    const again = await askedBy(call(bench, 'either', {}, ALICE, none));
    assert.deepEqual(again.inputRequests, asked.inputRequests);
    assert.notEqual(again.requestState, asked.requestState);
    const both = { q1: { action: 'accept' }, q2: { action: 'cancel' } };
    const done = await call(bench, 'either', {}, ALICE, { requestState: again.requestState, inputResponses: both }).done;
    assert.match(textOf(done), /^{"action":"accept"}/);
    assert.equal(bench.told.filter((line) => line.startsWith('asked /alpha/mcp elicitation/create')).length, 2);
  });

  it('the server ends the call while it is held: the retry gets the result, once', async () => {
    const bench = await openStdio('legacy');
    const { again } = await endedWhileHeld(bench, ALICE, 0);
    assert.match(textOf(await retry(bench, 'either', {}, ALICE, again, { action: 'decline' }).done), /accept/);
    assert.ok(bench.told.includes('held child finished'));
    assert.equal((await retry(bench, 'either', {}, ALICE, again, { action: 'decline' }).done).error?.code, 'HELD_CALL_GONE');
  });

  it('results that nobody fetches are kept up to 16 MiB; those beyond are lost', async () => {
    const bench = await openStdio('legacy', { max_line_bytes: 8_000_000 });
    const kept = [];
    for (const _ of [1, 2, 3]) kept.push((await endedWhileHeld(bench, ALICE, 7_000_000)).again);
    const told = await Promise.all(
      kept.map((state) => retry(bench, 'either', { bytes: 7_000_000 }, ALICE, state, { action: 'decline' }).done),
    );
    assert.deepEqual(
      told.map(({ error, body }) => error?.code ?? body.length > 7_000_000),
      [true, true, 'UPSTREAM_BROKEN'],
    );
    const { again } = await endedWhileHeld(bench, BOB, 7_000_000);
    assert.equal((await retry(bench, 'either', { bytes: 7_000_000 }, BOB, again, { action: 'decline' }).done).error, undefined);
  });

  it('a state is in use until its call is over or asks again; a client that leaves then cancels it', async () => {
    const bench = await openStdio('legacy');
    const asked = await askedBy(call(bench, 'ask_hang', {}, ALICE));
    const first = retry(bench, 'ask_hang', {}, ALICE, asked, { action: 'accept' });
    assert.equal((await retry(bench, 'ask_hang', {}, ALICE, asked, { action: 'accept' }).done).error?.code, 'HELD_CALL_BUSY');
    first.cancel('client');
    await bench.settled({ calls: 0, held: 0 });
    assert.equal((await retry(bench, 'ask_hang', {}, ALICE, asked, { action: 'accept' }).done).error?.code, 'HELD_CALL_GONE');
    // The first id went to the handshake; the tools are known from the common child.
    assert.equal(textOf(await call(bench, 'cancelled', {}, ALICE).done), '[2]');
  });

  it('a caller with max_sessions_per_caller calls waits for one of them, in order; others do not wait', async () => {
    const bench = await openStdio('legacy', { max_sessions_per_caller: 1 });
    const asked = await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    const order: string[] = [];
    const [gone, second, third] = [1, 2, 3].map((n) => call(bench, 'echo', { text: `${n}` }, ALICE)) as [
      FakeExchange,
      FakeExchange,
      FakeExchange,
    ];
    for (const exchange of [second, third]) void exchange.done.then((answer) => order.push(textOf(answer)));
    gone.cancel('client');
    assert.notEqual(textOf(await call(bench, 'pid', {}, BOB).done), '');
    assert.deepEqual(order, []);
    assert.match(textOf(await retry(bench, 'ask', { id: 'a' }, ALICE, asked, { action: 'decline' }).done), /decline/);
    await Promise.all([second.done, third.done]);
    assert.deepEqual(order, ['2', '3']);
    assert.equal(bench.runtime.peers.leased, 2);
  });

  it('a call that waits for its caller’s session ends with the gateway', async () => {
    const bench = await openStdio('legacy', { max_sessions_per_caller: 1 });
    await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    const waiting = Array.from({ length: 65 }, () => call(bench, 'pid', {}, ALICE));
    assert.equal((await (waiting.pop() as FakeExchange).done).error?.code, 'OVERLOADED');
    await bench.runtime.close(2000);
    for (const { done } of waiting) assert.equal((await done).error?.code, 'DRAINING');
  });

  it('a legacy client gets the room of an idle session that the gateway keeps for a modern one', async () => {
    const bench = await openStdio('legacy', { max_sessions: 1 });
    await call(bench, 'pid', {}, ALICE).done;
    await bench.settled({ leased: 1, calls: 0 });
    await bench.session();
    assert.deepEqual([bench.runtime.peers.leased, bench.runtime.peers.sessions], [0, 1]);
  });

  it('what the client has not declared is refused to the server, and ends the call if the server does not', async () => {
    const bench = await openStdio('legacy');
    const answer = await call(bench, 'ask', { id: 'a' }, ALICE, {}, { roots: {} }).done;
    assert.match(textOf(answer), /-32601|not declared/);
  });

  it('a call that nobody comes back for is cancelled', async () => {
    const bench = await openStdio('legacy', { bridge: { ...PEER_BRIDGE, hold_ttl_ms: 50 } });
    await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    await bench.settled({ held: 0 });
    assert.ok(bench.told.includes('held child expired'));
  });

  it('a held call ends with its child, and the drain ends both', async () => {
    const bench = await openStdio('legacy');
    await askedBy(call(bench, 'ask', { id: 'a' }, ALICE));
    await bench.runtime.close(2000);
    assert.ok(bench.told.includes('held child drain'));
    assert.ok(bench.told.includes('killed held 1'));
    assert.deepEqual([bench.runtime.peers.held, bench.runtime.peers.children], [0, 0]);
  });

  it('max_sessions counts them together with legacy sessions; the one idle longest makes room, else 503', async () => {
    const bench = await openStdio('legacy', { max_sessions: 2 });
    await bench.session();
    await call(bench, 'pid', {}, ALICE).done;
    assert.equal(bench.runtime.peers.leased, 1);
    const held = await askedBy(call(bench, 'ask', { id: 'b' }, BOB));
    assert.ok(bench.told.includes('session child evicted'));
    assert.equal((await call(bench, 'pid', {}, ALICE).done).error?.code, 'OVERLOADED');
    assert.equal(textOf(await retry(bench, 'ask', { id: 'b' }, BOB, held, { action: 'decline' }).done), '{"action":"decline"}');
  });

  it('log messages reach the call that asked for them, from its level on, when no other runs', async () => {
    const bench = await openStdio('legacy');
    const log = (level: string | undefined) =>
      bench.send(
        modernCall('tools/call', {
          name: 'log',
          arguments: { lines: 2 },
          ...(level === undefined ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': level } }),
        }),
      );
    const some = log('debug');
    await some.done;
    assert.equal(some.writes.filter((text) => text.includes('notifications/message')).length, 2);
    const none = log(undefined);
    assert.equal(textOf(await none.done), 'logged');
    const high = log('emergency');
    assert.equal(textOf(await high.done), 'logged');
    assert.equal([...none.writes, ...high.writes].filter((text) => text.includes('notifications/message')).length, 0);
  });
});
