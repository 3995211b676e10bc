import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChainOutcome } from '../../src/gate-chain/chain.js';
import type { JudgedRequest } from '../../src/gate-chain/wait.js';
import { type BenchInit, identify, moduleOf, openBench, pass } from '../support/chain-bench.js';
import { head, openRouteBench, summary } from '../support/route-bench.js';

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
      const made = await openRouteBench(init);
      assert.equal(summary(await made.decide()), expected);
    });
  }

  const listener = async (init: BenchInit): Promise<string> => {
    const { chains } = await openBench(init);
    const visit: JudgedRequest = { abort: undefined };
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
