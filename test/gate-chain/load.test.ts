import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GateModule } from '../../src/gate.js';
import { checkChains, openChains } from '../../src/gate-chain/load.js';
import { type BenchInit, identify, inputOf, moduleOf, pass } from '../support/chain-bench.js';
import { deps } from '../support/chain-deps.js';

const always = (): GateModule => moduleOf(() => identify('a'), { identifies: 'always' });
const alone = (): GateModule => moduleOf(() => identify('a'), { identifies: 'when_alone' });
const facts = (provides: readonly string[], requires: GateModule['requires'] = []): GateModule =>
  moduleOf(() => pass, { provides, requires, authorizes: true });
const plain = (): GateModule => moduleOf(() => pass, { identifies: undefined as never });

describe('what a config may not say about chains', () => {
  const rows: readonly (readonly [name: string, init: BenchInit, expected: readonly string[]])[] = [
    ['nothing is wrong', { modules: { a: always() } }, []],
    ['a route without gates', { modules: {} }, ['routes[0].gates: a route without gates must say public: true']],
    ['a public route without gates', { modules: {}, public: true }, []],
    [
      'a route without gates behind the listener’s',
      { modules: { a: always() }, listener: ['a'] },
      ['routes[0].gates: a route without gates must say public: true'],
    ],
    [
      'a gate that is not there',
      { modules: { token: always() }, route: ['tokn'] },
      ['routes[0].gates[0]: there is no gate "tokn"; did you mean token?'],
    ],
    ['a listener gate that is not there', { modules: { a: always() }, listener: ['edge'] }, ['listener.gates[0]: there is no gate "edge"']],
    ['a gate twice', { modules: { a: always() }, route: ['a', 'a'] }, ['routes[0].gates[1]: gate "a" is listed twice']],
    [
      'a gate of the listener again',
      { modules: { a: always() }, listener: ['a'], route: ['a'] },
      ['routes[0].gates[0]: gate "a" runs already, as one of listener.gates'],
    ],
    [
      'two that always identify',
      { modules: { a: always(), b: always() } },
      ['routes[0].gates: gates "a" and "b" both identify the caller; exactly one gate of a chain may'],
    ],
    [
      'one of them the listener’s',
      { modules: { a: always(), b: always() }, listener: ['a'] },
      ['routes[0].gates: gates "a" and "b" both identify the caller; exactly one gate of a chain may'],
    ],
    [
      'two when alone',
      { modules: { a: alone(), b: alone() } },
      ['routes[0].gates: gates "a" and "b" would both identify the caller; exactly one gate of a chain may'],
    ],
    ['two when alone beside one always', { modules: { a: alone(), b: alone(), c: always() } }, []],
    [
      'a fact from behind',
      { modules: { a: facts([], ['x']), b: facts(['x']) } },
      ['routes[0].gates[0]: gate "a" needs the fact "x" from a gate before it; put that gate first'],
    ],
    ['a fact from before', { modules: { b: facts(['x']), a: facts([], ['x']) } }, []],
    ['a fact from the listener', { modules: { b: facts(['x']), a: facts([], ['x']) }, listener: ['b'] }, []],
    [
      'a fact of its own',
      { modules: { a: facts(['x'], ['x']) } },
      ['routes[0].gates[0]: gate "a" needs the fact "x" from a gate before it; put that gate first'],
    ],
    [
      'an identity from behind',
      { modules: { a: facts([], ['identity', 'y']), b: always() } },
      ['routes[0].gates[0]: gate "a" needs an identity and the fact "y" from a gate before it; put that gate first'],
    ],
    ['an identity from before', { modules: { b: alone(), a: facts([], ['identity']) } }, []],
    [
      'an identity that is ignored',
      { modules: { b: alone(), a: facts([], ['identity']), c: always() } },
      ['routes[0].gates[1]: gate "a" needs an identity from a gate before it; put that gate first'],
    ],
    ['an identity by provides', { modules: { b: facts(['identity']), a: facts([], ['identity']) } }, []],
    [
      'a listener’s gate that needs something',
      { modules: { a: facts([], ['x']) }, listener: ['a'], route: [], public: true },
      ['listener.gates[0]: gate "a" needs the fact "x" from a gate before it; put that gate first'],
    ],
    [
      'needs that options decide',
      { modules: { a: facts([], () => ['x']) } },
      ['routes[0].gates[0]: gate "a" needs the fact "x" from a gate before it; put that gate first'],
    ],
    [
      'needs that cannot be told',
      {
        modules: {
          a: facts([], () => {
            throw new Error('odd options');
          }),
        },
      },
      ['gates.a.options: odd options'],
    ],
    [
      'nobody who admits',
      { modules: { a: plain() } },
      [
        'routes[0].gates: no gate of this chain says that it identifies the caller or is an allowlist: every request would be refused; add one, or say public: true (a gate of your own declares `identifies` or `authorizes`)',
      ],
    ],
    ['nobody who admits to a public route', { modules: { a: plain() }, public: true }, []],
    ['nobody but the listener’s allowlist', { modules: { e: facts([]), a: plain() }, listener: ['e'] }, []],
    [
      'an unknown built-in',
      { modules: { a: always() }, gates: { a: { use: 'b' } } },
      ['gates.a.use: b is not a built-in gate; did you mean a? Known: a, npm:<package>, file:<path>'],
    ],
    [
      'an unknown option',
      { modules: { a: always() }, gates: { 'a b': { use: 'a', options: { x: 1 } } }, route: ['a b'] },
      ['gates["a b"].options.x: unknown key'],
    ],
    [
      'everything at once',
      { modules: { a: always() }, gates: { a: { use: 'a', options: { x: 1 } }, c: { use: 'd' } }, route: ['e'] },
      [
        'gates.a.options.x: unknown key',
        'gates.c.use: d is not a built-in gate; did you mean a? Known: a, npm:<package>, file:<path>',
        'routes[0].gates[0]: there is no gate "e"; did you mean a?',
      ],
    ],
  ];
  for (const [name, init, expected] of rows) {
    test(name, async () => {
      const problems = await checkChains(inputOf(init), deps(init.modules));
      assert.deepEqual(
        problems.map((problem) => `${problem.where}: ${problem.message}`),
        expected,
      );
      const opening = openChains(inputOf(init), deps(init.modules));
      if (expected.length === 0) await (await opening).close();
      else await assert.rejects(opening, { name: 'ConfigError', message: expected.join('\n').replace(/^routes\[0\]/gm, '$& (/mcp)') });
    });
  }
});
