import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gate as ipAllow } from '../../gates/ip-allow/gate.js';
import { gate as principalAllow } from '../../gates/principal-allow/gate.js';
import type { ChainOutcome } from '../../src/gate-chain/chain.js';
import { type ChainInput, type ChainSet, checkChains, type GateConfig, openChains } from '../../src/gate-chain/load.js';
import { makeClock, makeHead, makeLog, makeMetrics } from '../../src/testing.js';
import { identify, moduleOf } from '../support/chain-bench.js';
import { folderWith } from '../support/config-files.js';
import { makeConfigFolder } from '../support/third-party-gates/folder.js';

const folder = makeConfigFolder();
after(folder.remove);

const builtins = { 'ip-allow': ipAllow, 'principal-allow': principalAllow, me: moduleOf(() => identify('me')) };

function input(gates: Readonly<Record<string, GateConfig>>, paths: readonly string[] = ['/mcp']): ChainInput {
  const routes = paths.map((path) => ({
    path,
    url: `https://mcp.example.com${path}`,
    runtime: 'main',
    gates: Object.keys(gates),
    public: false,
  }));
  return { gates, listener_gates: [], routes, gate_timeout_ms: 10_000, public_url: 'https://mcp.example.com' };
}

function deps() {
  const told: string[] = [];
  const telemetry = {
    gateDecided: (_route: string, gate: string, verdict: string, code: string) => void told.push(`${gate} ${verdict} ${code}`),
  } as never;
  return {
    told,
    builtins,
    log: makeLog(),
    metrics: makeMetrics(),
    telemetry,
    clock: makeClock(),
    signal: new AbortController().signal,
    folder: folder.path,
  };
}

const visit = () => ({ abort: undefined });

describe('an npm: gate', () => {
  const quota = {
    quota: { use: 'npm:@acme/quota', options: { tenants: { red: 2 } } },
    team: { use: 'principal-allow', options: { principals: ['quota#red'], facts: ['tenant'] } },
  };
  const open = (): Promise<ChainSet> => openChains(input(quota, ['/a', '/b']), deps());
  const red = (path: string) => makeHead({ path, headers: { 'x-tenant': 'red' } });

  test('has options, an identity, a fact and a shared value of its own', async () => {
    const chains = await open();
    const ask = async (path: string, head = red(path)): Promise<ChainOutcome | undefined> => chains.routes.get(path)?.decide(head, visit());
    const first = await ask('/a');
    assert.ok(first?.kind === 'admit');
    assert.deepEqual([first.identity?.principal, first.facts], ['red', { tenant: 'red' }]);
    assert.equal((await ask('/b'))?.kind, 'admit');
    const third = await ask('/a');
    assert.deepEqual([third?.kind === 'refuse' && [third.status, third.code, third.headers?.['retry-after']]], [[429, 'QUOTA', '60']]);
    const blue = await ask('/a', makeHead());
    assert.deepEqual(blue?.kind === 'refuse' && [blue.status, blue.code, blue.message], [
      403,
      'TENANT_UNKNOWN',
      'The request was refused.',
    ]);
    await chains.close();
  });

  test('serves its path, exactly that, and only by GET, HEAD and OPTIONS', async () => {
    const chains = await open();
    assert.deepEqual([...chains.served.keys()], ['/.well-known/quota/a', '/.well-known/quota/b']);
    const served = chains.served.get('/.well-known/quota/a');
    const at = (method: string) => served?.decide(makeHead({ method, path: '/.well-known/quota/a' }), visit());
    const answer = await at('GET');
    assert.deepEqual(answer, {
      kind: 'serve',
      status: 200,
      headers: Object.assign(Object.create(null), { 'content-type': 'application/json' }),
      body: '[]',
      gate: 'quota',
    });
    const post = at('POST') as ChainOutcome;
    assert.deepEqual(post.kind === 'refuse' && [post.status, post.code, post.headers], [
      405,
      'METHOD_NOT_ALLOWED',
      { allow: 'GET, HEAD, OPTIONS' },
    ]);
    await chains.close();
  });

  test('that would pass on its served path fails there', async () => {
    const chains = await open();
    const head = red('/a');
    const outcome = await chains.served.get('/.well-known/quota/a')?.decide({ ...head, method: 'GET' }, visit());
    assert.deepEqual(outcome?.kind === 'refuse' && [outcome.status, outcome.code], [500, 'GATE_FAILED']);
    await chains.close();
  });
});

describe('a file: gate that misbehaves', () => {
  const failed = [500, 'GATE_FAILED'] as const;
  const ways: readonly (readonly [how: string, expected: readonly [number, string]])[] = [
    ['never answers', [504, 'GATE_TIMEOUT']],
    ['answers late', [504, 'GATE_TIMEOUT']],
    ['throws', failed],
    ['rejects', failed],
    ['throws nothing', failed],
    ['returns nothing', failed],
    ['returns true', failed],
    ['returns a Response', failed],
    ['calls next', failed],
    ['is a trap', failed],
    ['injects a header', failed],
    ['injects a header name', failed],
    ['injects a NUL', failed],
    ['frames the answer', failed],
    ['writes a label', failed],
    ['identifies twice', failed],
    ['writes a foreign fact', failed],
    ['identifies an object', failed],
  ];
  for (const [how, [status, code]] of ways) {
    test(`${how}: ${status} ${code}`, async () => {
      const env = deps();
      const chains = await openChains(
        input({ me: { use: 'me' }, bad: { use: 'file:./misbehaving.mjs', timeout_ms: 250, options: { how } } }),
        env,
      );
      const outcome = chains.routes.get('/mcp')?.decide(makeHead(), visit());
      if (status === 504) {
        await new Promise(setImmediate);
        env.clock.advance(250);
      }
      const settled = await outcome;
      assert.ok(settled?.kind === 'refuse');
      assert.deepEqual([settled.status, settled.code, settled.gate, settled.headers], [status, code, 'bad', undefined]);
      assert.ok(!JSON.stringify(settled).includes('abc123'));
      assert.equal(env.log.lines.length, 1);
      assert.equal(env.log.lines[0]?.fields.gate, 'bad');
      assert.deepEqual(env.told, ['me identify ', `bad ${status === 504 ? 'timeout' : 'failed'} ${code}`]);
      assert.equal(env.clock.pending, 0);
      await chains.close();
    });
  }

  test('does not open, and the others are closed', async () => {
    for (const [how, message] of [
      ['rejects to open', 'no'],
      ['opens nothing', 'open() returned no gate with a decide function'],
    ] as const) {
      let closed = 0;
      const other = moduleOf(() => identify('me'), {}, { close: async () => void closed++ });
      const env = { ...deps(), builtins: { other } };
      const config = input({ other: { use: 'other' }, bad: { use: 'file:./misbehaving.mjs', options: { how } } });
      await assert.rejects(openChains(config, env), {
        name: 'ConfigError',
        message: `gates.bad: could not be opened for /mcp: ${message}`,
      });
      assert.equal(closed, 1);
      assert.equal(env.clock.pending, 0);
    }
  });
});

describe('a gate that cannot be loaded', () => {
  const package_ = (name: string, manifest: object, files: Readonly<Record<string, string>>): void => {
    const home = join(folder.path, 'node_modules', name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), JSON.stringify({ name, ...manifest }));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text);
  };
  const body =
    "{ name: 'x', contract: 1, options: { type: 'object' }, authorizes: true, open: () => ({ decide: () => ({ kind: 'pass' }) }) }";
  const esm = `export const gate = ${body};`;
  package_('by-main', { main: 'x.cjs' }, { 'x.cjs': `exports.gate = ${body};` });
  package_('by-string', { exports: './x.mjs' }, { 'x.mjs': esm });
  package_('by-condition', { exports: { browser: './no.mjs', node: { require: './no.cjs', import: './x.mjs' } } }, { 'x.mjs': esm });
  package_('by-subpath', { exports: { './hours': ['./x.mjs'] } }, { 'x.mjs': esm });
  package_('require-only', { exports: { '.': { require: './x.cjs' } } }, { 'x.cjs': `exports.gate = ${body};` });
  package_('escaping', { exports: { '.': './../../x.mjs' } }, {});
  package_('broken', { exports: './x.mjs' }, { 'x.mjs': "import 'not-there-at-all';" });
  writeFileSync(join(folder.path, 'good.mjs'), esm);
  writeFileSync(join(folder.path, 'half.mjs'), "export const gate = { name: 'x', contract: 1, options: {} };");
  const elsewhere = folderWith({ 'homeless.mjs': "import { defineGate } from 'portcullis/gate';" });
  after(elsewhere.remove);
  writeFileSync(join(folder.path, 'syntax.mjs'), 'export const gate = {');
  writeFileSync(join(folder.path, 'throws.mjs'), 'export const gate = new Proxy({}, { get() { throw null; } });');

  const start = `gates.g.use: `;
  const rows: readonly (readonly [use: string, expected: string | undefined])[] = [
    ['npm:by-main', undefined],
    ['npm:by-string', undefined],
    ['npm:by-condition', undefined],
    ['npm:by-subpath/hours', undefined],
    ['file:./good.mjs', undefined],
    ['file:good.mjs', undefined],
    [pathToFileURL(join(folder.path, 'good.mjs')).href, undefined],
    ['npm:by-subpath', 'npm:by-subpath could not be loaded: package "by-subpath" does not export "." for import'],
    ['npm:require-only', 'npm:require-only could not be loaded: package "require-only" does not export "." for import'],
    ['npm:escaping', 'npm:escaping could not be loaded: package "escaping" exports "." from outside itself'],
    [
      'npm:@acme/missing',
      `npm:@acme/missing could not be loaded: package "@acme/missing" is not installed in or above ${folder.path}; the gateway never installs anything`,
    ],
    ['npm:@acme/quota/none', 'npm:@acme/quota/none has no named export "gate" that is a gate module (see gates/README.md)'],
    ['npm:../x', 'npm:../x names no npm package; write npm:<package> or npm:<package>/<subpath>'],
    ['npm:node:fs', 'npm:node:fs names no npm package; write npm:<package> or npm:<package>/<subpath>'],
    ['npm:', 'npm: names no npm package; write npm:<package> or npm:<package>/<subpath>'],
    ['file:./contract-2.mjs', 'file:./contract-2.mjs speaks gate contract 2; this gateway speaks contract 1'],
    ['file:./half.mjs', 'file:./half.mjs gate.open is not a function'],
    ['file:./throws.mjs', 'file:./throws.mjs cannot be looked at: null'],
    ['ip-alow', 'ip-alow is not a built-in gate; did you mean ip-allow? Known: ip-allow, principal-allow, me, npm:<package>, file:<path>'],
    ['constructor', 'constructor is not a built-in gate. Known: ip-allow, principal-allow, me, npm:<package>, file:<path>'],
  ];
  for (const [use, expected] of rows) {
    test(`${use.replace(folder.path, '…')}: ${expected === undefined ? 'loads' : 'does not'}`, async () => {
      const problems = await checkChains(input({ g: { use } }), deps());
      assert.deepEqual(
        problems.map((problem) => `${problem.where}: ${problem.message}`),
        expected === undefined ? [] : [start + expected],
      );
    });
  }

  for (const [use, expected] of [
    ['npm:broken', /^npm:broken could not be loaded: Cannot find package 'not-there-at-all'/],
    [
      'file:./gone.mjs',
      /^file:\.\/gone\.mjs could not be loaded: no such file: \/.*\/gone\.mjs; relative names start at the folder of the config file$/,
    ],
    [
      `file:${elsewhere.folder}/homeless.mjs`,
      /Cannot find package 'portcullis' imported from .*; install portcullis beside the module \(npm install \/path\/to\/portcullis in its folder\)/,
    ],
    ['file:./syntax.mjs', /^file:\.\/syntax\.mjs could not be loaded: Unexpected end of input/],
  ] as const) {
    test(`${use.replace(elsewhere.folder, '…')}: does not`, async () => {
      const [problem, ...more] = await checkChains(input({ g: { use } }), deps());
      assert.deepEqual(more, []);
      assert.equal(problem?.where, 'gates.g.use');
      assert.match(problem?.message ?? '', expected);
    });
  }
});
