import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GateDecision } from '../../src/gate.js';
import type { GateRefusal } from '../../src/gate-chain/chain.js';
import type { JudgedRequest } from '../../src/gate-chain/wait.js';
import { type BenchInit, type Decide, identify, moduleOf, pass } from '../support/chain-bench.js';
import { noted, openRouteBench, summary } from '../support/route-bench.js';

const one = (decide: Decide): BenchInit => ({ modules: { gate: moduleOf(decide) } });

describe('a chain', () => {
  test('answers synchronously when its gates do, without a timer', async () => {
    const { decide, clock } = await openRouteBench({ modules: { a: moduleOf(() => identify('alice')), b: moduleOf(() => pass) } });
    const outcome = decide();
    assert.ok(!(outcome instanceof Promise));
    assert.equal(summary(outcome), 'admit alice');
    assert.equal(clock.pending, 0);
  });

  test('stops at the first gate that refuses', async () => {
    const asked: string[] = [];
    const refuse: GateDecision = { kind: 'refuse', status: 403, code: 'NOT_YOU', message: 'Not you.', headers: { 'X-Why': ['a', 'b'] } };
    const { decide, told } = await openRouteBench({
      modules: {
        a: moduleOf(noted(asked, 'a', identify('alice'))),
        b: moduleOf(noted(asked, 'b', refuse)),
        c: moduleOf(noted(asked, 'c', pass)),
      },
    });
    const { identity, ...outcome } = (await decide()) as GateRefusal;
    assert.equal(identity?.principal, 'alice');
    assert.deepEqual(outcome, {
      kind: 'refuse',
      status: 403,
      rpc: -32600,
      code: 'NOT_YOU',
      message: 'Not you.',
      headers: Object.assign(Object.create(null), { 'x-why': ['a', 'b'] }),
      gate: 'b',
      about_call: false,
    });
    assert.deepEqual(asked, ['a', 'b']);
    assert.deepEqual(told, ['/mcp a identify', '/mcp b refuse NOT_YOU']);
  });

  test('hands identity and facts of earlier gates to later ones, frozen, and to the runtime', async () => {
    const seen: unknown[] = [];
    const { decide } = await openRouteBench({
      modules: {
        a: moduleOf(() => ({ ...identify('alice'), facts: { groups: ['x'], deep: { list: [1] } } }) as GateDecision),
        b: moduleOf((_, { identity, facts, route }) => {
          seen.push(identity?.principal, facts, route.path);
          return { kind: 'pass', facts: { late: true } };
        }),
      },
    });
    const outcome = await decide();
    assert.equal(outcome.kind, 'admit');
    assert.deepEqual(seen, ['alice', { groups: ['x'], deep: { list: [1] } }, '/mcp']);
    assert.ok(outcome.kind === 'admit' && outcome.identity !== undefined);
    assert.deepEqual(outcome.facts, { groups: ['x'], deep: { list: [1] }, late: true });
    assert.equal(outcome.identity.facts, outcome.facts);
    for (const frozen of [outcome.identity, outcome.facts, outcome.facts.groups, outcome.facts.deep, outcome.identity.scopes]) {
      assert.ok(Object.isFrozen(frozen));
    }
    assert.ok(outcome.identity.scopes.has('read'));
    const scopes = outcome.identity.scopes as Set<string>;
    assert.throws(() => scopes.add('admin'), TypeError);
  });

  const failing: readonly (readonly [name: string, decide: Decide, cause: string])[] = [
    [
      'throws',
      () => {
        throw new Error('boom');
      },
      'boom',
    ],
    [
      'throws a string',
      () => {
        throw 'secret';
      },
      'secret',
    ],
    ['rejects', () => Promise.reject(new Error('bang')), 'bang'],
    ['returns undefined', () => undefined as never, 'returned undefined'],
    ['resolves to null', () => Promise.resolve(null as never), 'returned null'],
    ['returns true', () => true as never, 'returned boolean'],
    ['returns another kind', () => ({ kind: 'allow' }) as never, 'kind is none of pass, identify, refuse, serve'],
    ['refuses with 200', () => ({ kind: 'refuse', status: 200, code: 'OK' }) as never, 'refuse with a status that cannot refuse'],
    [
      'has a then that throws',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('trap');
          },
        }) as never,
      'trap',
    ],
  ];
  for (const [name, decide, cause] of failing) {
    test(`is GATE_FAILED, logged and not told, when a gate ${name}`, async () => {
      const made = await openRouteBench(one(decide));
      const outcome = await made.decide();
      assert.equal(summary(outcome), 'refuse 500 -32603 GATE_FAILED by gate');
      assert.ok(!JSON.stringify(outcome).includes(cause));
      assert.deepEqual(
        made.log.lines.map((line) => [line.level, line.message, line.fields.gate, line.fields.cause]),
        [['error', 'gate failed', 'gate', cause]],
      );
      assert.deepEqual(made.told, ['/mcp gate failed GATE_FAILED']);
      assert.equal(made.clock.pending, 0);
    });
  }

  test('is GATE_TIMEOUT at the deadline exactly, aborts the gate and drops what it says later', async () => {
    let signal: AbortSignal | undefined;
    let answer: (decision: GateDecision) => void = () => {};
    const made = await openRouteBench({
      ...one((_, context) => {
        signal = context.signal;
        return new Promise((resolve) => (answer = resolve));
      }),
      gates: { gate: { use: 'gate', timeout_ms: 250 } },
    });
    const outcome = made.decide();
    assert.ok(outcome instanceof Promise);
    made.clock.advance(249);
    assert.equal(signal?.aborted, false);
    made.clock.advance(1);
    assert.equal(summary(await outcome), 'refuse 504 -32603 GATE_TIMEOUT by gate');
    assert.equal(signal?.aborted, true);
    answer(identify('late'));
    await new Promise(setImmediate);
    assert.deepEqual(made.told, ['/mcp gate timeout GATE_TIMEOUT']);
    assert.deepEqual(made.seconds, [0.25]);
    assert.equal(made.clock.pending, 0);
  });

  test('gives each waiting gate a deadline of its own', async () => {
    const answers: ((decision: GateDecision) => void)[] = [];
    const slow: Decide = () => new Promise((resolve) => answers.push(resolve));
    const made = await openRouteBench({ modules: { a: moduleOf(slow), b: moduleOf(slow) } });
    const outcome = made.decide();
    made.clock.advance(9_999);
    answers[0]?.(identify('alice'));
    await new Promise(setImmediate);
    made.clock.advance(9_999);
    answers[1]?.(pass);
    assert.equal(summary(await outcome), 'admit alice');
    assert.equal(made.clock.pending, 0);
  });

  test('aborts the waiting gate when the client leaves', async () => {
    let signal: AbortSignal | undefined;
    const made = await openRouteBench(one((_, context) => new Promise(() => (signal = context.signal))));
    const visit: JudgedRequest = { abort: undefined };
    const outcome = made.decide(visit);
    visit.abort?.();
    assert.equal((await outcome).kind, 'refuse');
    assert.equal(signal?.aborted, true);
    assert.equal(visit.abort, undefined);
    assert.deepEqual(made.told, ['/mcp gate refuse CLIENT_LEFT']);
    assert.equal(made.clock.pending, 0);
  });

  test('leaves nothing to abort once the gate has answered', async () => {
    const visit: JudgedRequest = { abort: undefined };
    const made = await openRouteBench(one(async () => identify('alice')));
    assert.equal(summary(await made.decide(visit)), 'admit alice');
    assert.equal(visit.abort, undefined);
    assert.equal(made.clock.pending, 0);
  });

  test('counts at most 32 unlisted refusal codes by name', async () => {
    let n = 0;
    const made = await openRouteBench(one(() => ({ kind: 'refuse', status: 403, code: `CODE_${n++}` })));
    for (let i = 0; i < 100; i += 1) await made.decide();
    assert.equal(new Set(made.told).size, 33);
    assert.equal(made.told[99], '/mcp gate refuse other');
  });
});
