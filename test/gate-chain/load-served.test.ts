import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GateModule, RequestGate } from '../../src/gate.js';
import { type ChainInput, openChains } from '../../src/gate-chain/load.js';
import { makeHead } from '../../src/testing.js';
import { identify, inputOf, moduleOf, pass } from '../support/chain-bench.js';
import { deps } from '../support/chain-deps.js';

describe('served paths', () => {
  const serving = (...serves: unknown[]): GateModule => moduleOf(() => pass, { authorizes: true }, { serves: serves as readonly string[] });
  const rows: readonly (readonly [name: string, modules: Readonly<Record<string, GateModule>>, expected: readonly string[] | string])[] = [
    ['two gates, two paths', { a: serving('/a', '/b/'), b: serving('/c.json') }, ['/a', '/b/', '/c.json']],
    ['two gates, one path', { a: serving('/a'), b: serving('/a') }, 'gates.b: serves /a, which gate "a" serves already'],
    ['the path of a route', { a: serving('/mcp') }, 'gates.a: serves /mcp, which is the path of a route'],
    ['a relative path', { a: serving('a') }, 'gates.a: serves "a", which is not a plain absolute path'],
    ['an escape', { a: serving('/%61') }, 'gates.a: serves "/%61", which is not a plain absolute path'],
    ['a dot segment', { a: serving('/a/../b') }, 'gates.a: serves "/a/../b", which is not a plain absolute path'],
    ['an empty segment', { a: serving('//a') }, 'gates.a: serves "//a", which is not a plain absolute path'],
    ['a query', { a: serving('/a?b') }, 'gates.a: serves "/a?b", which is not a plain absolute path'],
    ['a space', { a: serving('/a b') }, 'gates.a: serves "/a b", which is not a plain absolute path'],
    ['a number', { a: serving(1) }, 'gates.a: serves 1, which is not a plain absolute path'],
    ['seventeen', { a: serving(...Array.from({ length: 17 }, (_, i) => `/${i}`)) }, 'gates.a: serves is not a list of at most 16 paths'],
  ];
  for (const [name, modules, expected] of rows) {
    test(name, async () => {
      let closed = 0;
      const closing = { ...modules, z: moduleOf(() => pass, { authorizes: true }, { close: async () => void closed++ }) };
      const opening = openChains(inputOf({ modules: closing }), deps(closing));
      if (typeof expected === 'string') {
        await assert.rejects(opening, { name: 'ConfigError', message: expected });
        assert.equal(closed, 1);
      } else {
        const chains = await opening;
        assert.deepEqual([...chains.served.keys()], expected);
        await chains.close();
      }
    });
  }

  const alone: readonly (readonly [
    name: string,
    gates: readonly (readonly string[])[],
    listener: readonly string[],
    root: string | undefined,
  ])[] = [
    ['one route', [['a']], [], '/a'],
    ['one of two routes', [['a'], ['z']], [], '/a'],
    ['two routes, one gate', [['a'], ['a']], [], undefined],
    ['two routes, two gates', [['a'], ['b']], [], undefined],
    ['two gates of one route', [['a', 'b']], [], undefined],
    ['a gate that has it anyway', [['a'], ['has']], [], '/has'],
    ['a gate of the listener', [['z']], ['a'], '*'],
    ['none', [['z']], [], undefined],
  ];
  for (const [name, gates, listener, root] of alone)
    test(`what a gate serves only while it is alone: ${name}`, async () => {
      const naming = (more: Partial<RequestGate>): GateModule => ({
        ...moduleOf(() => pass, { authorizes: true }),
        open: (_options, { route }) => ({
          ...more,
          decide: ({ path }) => (path === '/root' ? { kind: 'serve', status: 200, body: route.path } : pass),
        }),
      });
      const modules = {
        a: naming({ serves_if_alone: ['/root'] }),
        b: naming({ serves_if_alone: ['/root'] }),
        has: { ...naming({ serves: ['/root'] }) },
        z: moduleOf(() => pass, { authorizes: true }),
      };
      const places = ['/a', '/has'];
      const routes = gates.map((names, i) => ({
        path: places[i] ?? '',
        url: `https://mcp.example.com${places[i]}`,
        runtime: 'main',
        gates: names,
        public: false,
      }));
      const chains = await openChains({ ...inputOf({ modules, listener }), routes }, deps(modules));
      const answer = await chains.served.get('/root')?.decide(makeHead({ method: 'GET', path: '/root' }), { abort: undefined });
      assert.equal(answer?.kind === 'serve' ? answer.body : undefined, root);
      await chains.close();
    });

  test('a path that is none is told for what a gate serves alone too', async () => {
    const modules = { a: moduleOf(() => pass, { authorizes: true }, { serves_if_alone: ['a', 1] as unknown as string[] }) };
    await assert.rejects(openChains(inputOf({ modules }), deps(modules)), {
      name: 'ConfigError',
      message: /serves_if_alone "a", which is not/,
    });
  });

  test('stand behind the listener’s gates that need not know who calls, and no other', async () => {
    const asked: string[] = [];
    const note = (name: string, more: Partial<GateModule>): GateModule =>
      moduleOf(
        () => {
          asked.push(name);
          return more.identifies === 'always' ? identify(name) : pass;
        },
        { authorizes: true, ...more },
      );
    const modules = {
      edge: note('edge', { provides: ['zone'] }),
      token: note('token', { identifies: 'always', provides: ['groups'] }),
      zoned: note('zoned', { requires: ['zone'] }),
      team: note('team', { requires: ['identity'] }),
      grouped: note('grouped', { requires: ['groups'] }),
      doc: moduleOf(({ path }) => (path === '/doc' ? { kind: 'serve', status: 200, body: 'x' } : pass), {}, { serves: ['/doc'] }),
    };
    const listener = Object.keys(modules).slice(0, 5);
    const chains = await openChains(inputOf({ modules, listener }), deps(modules));
    const answer = await chains.served.get('/doc')?.decide(makeHead({ method: 'GET', path: '/doc' }), { abort: undefined });
    assert.deepEqual([answer?.kind, answer?.kind === 'serve' && answer.gate], ['serve', 'doc']);
    assert.deepEqual(asked, ['edge', 'zoned']);
    await chains.close();
  });

  test('may be claimed by all instances of one gate; the first answers', async () => {
    let n = 0;
    const modules = {
      a: moduleOf(() => pass, {
        authorizes: true,
        open: () => {
          const me = n++;
          return { serves: ['/x'], decide: () => ({ kind: 'serve', status: 200, body: String(me) }) };
        },
      }),
    };
    const input = inputOf({ modules });
    const routes = ['/a', '/b'].map((path) => ({ ...(input.routes[0] as ChainInput['routes'][number]), path }));
    const chains = await openChains({ ...input, routes }, deps(modules));
    assert.deepEqual([...chains.served.keys()], ['/x']);
    const answer = await chains.served.get('/x')?.decide(makeHead({ method: 'HEAD', path: '/x' }), { abort: undefined });
    assert.equal(answer?.kind === 'serve' && answer.body, '0');
    await chains.close();
  });
});
