import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtins } from '../../gates/index.js';
import { type GateHost, type GateModule, type RequestGate, Type } from '../../src/gate.js';
import { type ChainDeps, type ChainInput, checkChains, openChains } from '../../src/gate-chain/load.js';
import { makeClock, makeHead, makeLog, makeMetrics, type TestClock, type TestLog } from '../../src/testing.js';
import { type BenchInit, identify, inputOf, moduleOf, pass } from '../support/chain-bench.js';

function deps(modules: Readonly<Record<string, GateModule>>): ChainDeps & { readonly clock: TestClock; readonly log: TestLog } {
  const telemetry = { gateDecided: () => {} } as never;
  return {
    builtins: modules,
    log: makeLog(),
    metrics: makeMetrics(),
    telemetry,
    clock: makeClock(),
    signal: new AbortController().signal,
    folder: '.',
  };
}

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
      ['gates.a.use: b is no built-in gate; did you mean a? Known: a, npm:<package>, file:<path>'],
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
        'gates.c.use: d is no built-in gate; did you mean a? Known: a, npm:<package>, file:<path>',
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
      else await assert.rejects(opening, { name: 'ConfigError', message: expected.join('\n') });
    });
  }
});

describe('opened gates', () => {
  interface Seen {
    readonly hosts: GateHost[];
    readonly closed: string[];
  }
  function recording(seen: Seen, more: Partial<RequestGate> = {}): GateModule {
    return moduleOf(() => pass, {
      authorizes: true,
      options: Type.Object({ list: Type.Array(Type.String(), { default: ['x'] }) }),
      open: (options, host) => {
        seen.hosts.push(host);
        assert.throws(() => (options as { list: string[] }).list.push('y'), TypeError);
        return { decide: () => pass, close: async () => void seen.closed.push(`${host.name} ${host.route.path}`), ...more };
      },
    });
  }
  const two = (listener: readonly string[]): ChainInput => ({
    gates: { edge: { use: 'm' }, door: { use: 'm', options: { list: ['z'] } } },
    listener_gates: listener,
    routes: ['/a', '/b'].map((path) => ({ path, url: `https://x${path}`, runtime: 'r', gates: ['door'], public: false })),
    gate_timeout_ms: 10_000,
    public_url: 'https://x',
  });

  test('are one for each name and route, and close once', async () => {
    const seen: Seen = { hosts: [], closed: [] };
    const env = deps({ m: recording(seen) });
    const chains = await openChains(two(['edge']), env);
    assert.deepEqual(
      seen.hosts.map(({ name, route }) => [name, route.path, route.url, route.runtime]),
      [
        ['edge', '*', 'https://x', ''],
        ['door', '/a', 'https://x/a', 'r'],
        ['door', '/b', 'https://x/b', 'r'],
      ],
    );
    assert.deepEqual([chains.listener.size, chains.routes.get('/a')?.size, chains.routes.size], [1, 1, 2]);
    await Promise.all([chains.close(), chains.close()]);
    await chains.close();
    assert.deepEqual(seen.closed, ['edge *', 'door /a', 'door /b']);
    assert.equal(env.clock.pending, 0);
  });

  test('share values by module and key, closed after the gates', async () => {
    const seen: Seen = { hosts: [], closed: [] };
    const chains = await openChains(
      { ...two(['edge']), gates: { edge: { use: 'n' }, door: { use: 'm' } } },
      deps({ m: recording(seen), n: recording(seen) }),
    );
    const [edge, a, b] = seen.hosts;
    const make = (name: string) => () => ({ name, close: async () => void seen.closed.push(name) });
    const first = a?.shared('k', make('one'));
    assert.equal(b?.shared('k', make('two')), first);
    assert.equal(edge?.shared('k', make('other module'))?.name, 'other module');
    assert.equal(b?.shared('l', make('other key'))?.name, 'other key');
    await chains.close();
    assert.deepEqual(seen.closed, ['edge *', 'door /a', 'door /b', 'one', 'other module', 'other key']);
  });

  test('that fail to close, or never do, are logged and do not keep the rest', async () => {
    const ends = [
      () => Promise.reject(new Error('stuck')),
      () => new Promise<void>(() => {}),
      () => {
        throw new Error('thrown');
      },
    ];
    let n = 0;
    const env = deps({
      m: moduleOf(() => pass, { authorizes: true, open: () => ({ decide: () => pass, close: ends[n++] as () => Promise<void> }) }),
    });
    const chains = await openChains({ ...two(['edge']), gates: { edge: { use: 'm' }, door: { use: 'm' } } }, env);
    const closing = chains.close();
    await new Promise(setImmediate);
    env.clock.advance(5_000);
    await closing;
    assert.deepEqual(env.log.lines.map(({ level, fields }) => [level, fields.cause]).sort(), [
      ['warn', 'did not close within 5000 ms'],
      ['warn', 'stuck'],
      ['warn', 'thrown'],
    ]);
  });

  test('that do not open in time stop the start, and are closed if they open later', async () => {
    let open: (gate: RequestGate) => void = () => {};
    const closed: string[] = [];
    const late = moduleOf(() => pass, { authorizes: true, open: () => new Promise<RequestGate>((resolve) => (open = resolve)) });
    const env = deps({ late });
    const opening = openChains(inputOf({ modules: { late } }), env);
    const refused = assert.rejects(opening, { message: 'gates.late: could not be opened for /mcp: did not open within 30000 ms' });
    await new Promise(setImmediate);
    env.clock.advance(30_000);
    await refused;
    open({ decide: () => pass, close: async () => void closed.push('late') });
    await new Promise(setImmediate);
    assert.deepEqual(closed, ['late']);
    assert.equal(env.clock.pending, 0);
  });

  test('whose open fails are all named', async () => {
    const bad = moduleOf(() => pass, {
      authorizes: true,
      open: (_, host) => {
        throw new Error(`no ${host.route.path}`);
      },
    });
    const env = deps({ m: bad });
    await assert.rejects(openChains({ ...two(['edge']), gates: { edge: { use: 'm' }, door: { use: 'm' } } }, env), {
      message: [
        'gates.edge: could not be opened for listener.gates: no *',
        'gates.door: could not be opened for /a: no /a',
        'gates.door: could not be opened for /b: no /b',
      ].join('\n'),
    });
  });
});

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

test('every built-in gate lists its codes, describes its options and bears its name', () => {
  assert.ok(Object.keys(builtins).length >= 7);
  for (const [name, module] of Object.entries(builtins)) {
    assert.equal(module.name, name);
    assert.equal(module.contract, 1);
    for (const [code, row] of Object.entries(module.codes ?? {})) {
      assert.match(code, /^[A-Z][A-Z0-9_]{1,63}$/);
      assert.ok(row.status >= 400 && row.meaning.length > 10 && row.remedy.length > 10, code);
    }
    assert.notDeepEqual(module.codes ?? {}, {}, name);
  }
});
