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
