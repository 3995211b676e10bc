import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type GateHost, type GateModule, type RequestGate, Type } from '../../src/gate.js';
import { type ChainInput, openChains } from '../../src/gate-chain/load.js';
import { inputOf, moduleOf, pass } from '../support/chain-bench.js';
import { deps } from '../support/chain-deps.js';

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
