import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GateDecision } from '../../src/gate.js';
import type { ChainOutcome, Refusal, Visit } from '../../src/gate-chain/chain.js';
import { makeHead } from '../../src/testing.js';
import { type Bench, type BenchInit, type Decide, identify, moduleOf, openBench, pass } from '../support/chain-bench.js';

const head = makeHead();

async function bench(init: BenchInit): Promise<Bench & { readonly decide: (visit?: Visit) => ChainOutcome | Promise<ChainOutcome> }> {
  const made = await openBench(init);
  const chain = made.chains.routes.get('/mcp');
  assert.ok(chain);
  return { ...made, decide: (visit = { abort: undefined }) => chain.decide(head, visit) };
}

const one = (decide: Decide): BenchInit => ({ modules: { gate: moduleOf(decide) } });
const summary = (outcome: ChainOutcome): string =>
  outcome.kind === 'admit'
    ? `admit ${outcome.identity?.principal ?? 'nobody'}`
    : outcome.kind === 'refuse'
      ? `refuse ${outcome.status} ${outcome.rpc} ${outcome.code} by ${outcome.gate}`
      : `serve ${outcome.status} by ${outcome.gate}`;

function noted(list: string[], name: string, decision: GateDecision): () => GateDecision {
  return () => {
    list.push(name);
    return decision;
  };
}

describe('a chain', () => {
  test('answers synchronously when its gates do, without a timer', async () => {
    const { decide, clock } = await bench({ modules: { a: moduleOf(() => identify('alice')), b: moduleOf(() => pass) } });
    const outcome = decide();
    assert.ok(!(outcome instanceof Promise));
    assert.equal(summary(outcome), 'admit alice');
    assert.equal(clock.pending, 0);
  });

  test('stops at the first gate that refuses', async () => {
    const asked: string[] = [];
    const refuse: GateDecision = { kind: 'refuse', status: 403, code: 'NOT_YOU', message: 'Not you.', headers: { 'X-Why': ['a', 'b'] } };
    const { decide, told } = await bench({
      modules: {
        a: moduleOf(noted(asked, 'a', identify('alice'))),
        b: moduleOf(noted(asked, 'b', refuse)),
        c: moduleOf(noted(asked, 'c', pass)),
      },
    });
    const { identity, ...outcome } = (await decide()) as Refusal;
    assert.equal(identity?.principal, 'alice');
    assert.deepEqual(outcome, {
      kind: 'refuse',
      status: 403,
      rpc: -32600,
      code: 'NOT_YOU',
      message: 'Not you.',
      headers: Object.assign(Object.create(null), { 'x-why': ['a', 'b'] }),
      gate: 'b',
    });
    assert.deepEqual(asked, ['a', 'b']);
    assert.deepEqual(told, ['/mcp a identify', '/mcp b refuse NOT_YOU']);
  });

  test('hands identity and facts of earlier gates to later ones, frozen, and to the runtime', async () => {
    const seen: unknown[] = [];
    const { decide } = await bench({
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
      const made = await bench(one(decide));
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
    const made = await bench({
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
    const made = await bench({ modules: { a: moduleOf(slow), b: moduleOf(slow) } });
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
    const made = await bench(one((_, context) => new Promise(() => (signal = context.signal))));
    const visit: Visit = { abort: undefined };
    const outcome = made.decide(visit);
    visit.abort?.();
    assert.equal((await outcome).kind, 'refuse');
    assert.equal(signal?.aborted, true);
    assert.equal(visit.abort, undefined);
    assert.deepEqual(made.told, ['/mcp gate refuse CLIENT_LEFT']);
    assert.equal(made.clock.pending, 0);
  });

  test('leaves nothing to abort once the gate has answered', async () => {
    const visit: Visit = { abort: undefined };
    const made = await bench(one(async () => identify('alice')));
    assert.equal(summary(await made.decide(visit)), 'admit alice');
    assert.equal(visit.abort, undefined);
    assert.equal(made.clock.pending, 0);
  });

  test('B23 counts at most 32 unlisted refusal codes by name', async () => {
    let n = 0;
    const made = await bench(one(() => ({ kind: 'refuse', status: 403, code: `CODE_${n++}` })));
    for (let i = 0; i < 100; i += 1) await made.decide();
    assert.equal(new Set(made.told).size, 33);
    assert.equal(made.told[99], '/mcp gate refuse other');
  });
});

describe('identity', () => {
  const cases: readonly (readonly [name: string, init: BenchInit, expected: string])[] = [
    [
      'a guarded route refuses when all pass and nobody identified',
      { modules: { a: moduleOf(() => pass, {}) } },
      'refuse 401 -32600 UNAUTHENTICATED by ',
    ],
    ['a public route admits nobody in particular', { modules: { a: moduleOf(() => pass) }, public: true }, 'admit nobody'],
    [
      'a public route still runs its gates',
      { modules: { a: moduleOf(() => ({ kind: 'refuse', status: 403, code: 'NO' })) }, public: true },
      'refuse 403 -32600 NO by a',
    ],
    ['an allowlist alone admits', { modules: { a: moduleOf(() => pass, { authorizes: true }) } }, 'admit nobody'],
    [
      'a second identity fails',
      { modules: { a: moduleOf(() => identify('a')), b: moduleOf(() => identify('b')) } },
      'refuse 500 -32603 GATE_FAILED by b',
    ],
    ['when_alone counts alone', { modules: { a: moduleOf(() => identify('a'), { identifies: 'when_alone' }) } }, 'admit a'],
    [
      'when_alone gives way to a later always',
      {
        modules: {
          a: moduleOf(() => identify('a'), { identifies: 'when_alone' }),
          b: moduleOf(() => identify('b'), { identifies: 'always' }),
        },
      },
      'admit b',
    ],
    [
      'when_alone gives way to an earlier always',
      {
        modules: {
          b: moduleOf(() => identify('b'), { identifies: 'always' }),
          a: moduleOf(() => identify('a'), { identifies: 'when_alone' }),
        },
      },
      'admit b',
    ],
    ['always may not pass', { modules: { a: moduleOf(() => pass, { identifies: 'always' }) } }, 'refuse 500 -32603 GATE_FAILED by a'],
    [
      'a gate writes only facts that it provides',
      { modules: { a: moduleOf(() => ({ kind: 'pass', facts: { b: 1 } }), { provides: ['a'] }) } },
      'refuse 500 -32603 GATE_FAILED by a',
    ],
  ];
  for (const [name, init, expected] of cases) {
    test(name, async () => {
      const made = await bench(init);
      assert.equal(summary(await made.decide()), expected);
    });
  }

  const listener = async (init: BenchInit): Promise<string> => {
    const { chains } = await openBench(init);
    const visit: Visit = { abort: undefined };
    const front = await chains.listener.decide(head, visit);
    if (front.kind !== 'admit') return summary(front);
    return summary(await (chains.routes.get('/mcp')?.decide(head, visit, front) as ChainOutcome));
  };

  test("the listener's identity and allowlist count for the route", async () => {
    assert.equal(await listener({ modules: { a: moduleOf(() => identify('a')), b: moduleOf(() => pass) }, listener: ['a'] }), 'admit a');
    const edge = moduleOf(() => pass, { authorizes: true });
    assert.equal(await listener({ modules: { edge, b: moduleOf(() => pass) }, listener: ['edge'] }), 'admit nobody');
  });

  test("a route gate that always identifies replaces the listener's when_alone", async () => {
    const a = moduleOf(() => identify('a'), { identifies: 'when_alone' });
    const b = moduleOf(() => identify('b'), { identifies: 'always' });
    assert.equal(await listener({ modules: { a, b }, listener: ['a'] }), 'admit b');
    assert.equal(await listener({ modules: { a, b }, listener: ['b'] }), 'admit b');
  });
});

describe('a call', () => {
  const call = { era: 'legacy', revision: '2025-11-25', method: 'tools/call', name: 'delete' } as const;
  const nobody = { identity: undefined, facts: Object.freeze({}), authorized: true };

  test('is judged by the gates that judge calls, the listener’s first', async () => {
    const asked: string[] = [];
    const judge = (name: string, decision: GateDecision) =>
      moduleOf(() => pass, { authorizes: true }, { decideCall: ({ method }) => noted(asked, `${name} ${method}`, decision)() });
    const { chains } = await openBench({
      modules: {
        front: judge('front', pass),
        plain: moduleOf(() => pass),
        back: judge('back', { kind: 'refuse', status: 403, code: 'NO' }),
      },
      listener: ['front'],
    });
    const chain = chains.routes.get('/mcp');
    assert.equal(chain?.judges_calls, true);
    assert.equal(chain?.size, 2);
    assert.equal(
      summary((await chain?.decideCall(call, head, { abort: undefined }, nobody)) as ChainOutcome),
      'refuse 403 -32600 NO by back',
    );
    assert.deepEqual(asked, ['front tools/call', 'back tools/call']);
  });

  test('may not identify or serve', async () => {
    for (const decision of [identify('x'), { kind: 'serve', status: 200, body: '' } as const]) {
      const { chains, log } = await openBench({
        modules: { a: moduleOf(() => pass, { authorizes: true }, { decideCall: () => decision }) },
      });
      const outcome = await chains.routes.get('/mcp')?.decideCall(call, head, { abort: undefined }, nobody);
      assert.equal(summary(outcome as ChainOutcome), 'refuse 500 -32603 GATE_FAILED by a');
      assert.equal(log.lines[0]?.fields.cause, `decideCall returned ${decision.kind}; it may pass or refuse`);
    }
  });

  test('has nobody to ask without judging gates', async () => {
    const { chains } = await openBench({ modules: { a: moduleOf(() => identify('a')) } });
    const chain = chains.routes.get('/mcp');
    assert.equal(chain?.judges_calls, false);
    assert.equal(summary(chain?.decideCall(call, head, { abort: undefined }, nobody) as ChainOutcome), 'admit nobody');
  });
});
