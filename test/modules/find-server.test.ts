import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ConfigError, createGateway, type Gateway } from '../../src/index.js';
import { modernBody, modernHead } from '../demo/rpc.js';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';
import { repositoryPath } from '../support/repository.js';

const MODULE = repositoryPath('dist/test/support/hosted-server.js');

const config = (module: string) => ({
  listener: { port: 0 },
  ops: { enabled: false },
  gates: { probe: { use: 'api-key', options: { keys: ['ada', 'bob'].map((name) => ({ name, sha256: SHA256[name] })) } } },
  runtimes: { clock: { kind: 'hosted', module } },
  routes: [{ path: '/mcp', gates: ['probe'], runtime: 'clock' }],
});
/** Of `ada` and `bob`. */
const SHA256: Readonly<Record<string, string>> = {
  ada: 'fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029',
  bob: '81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9',
};

describe('runtimes of kind hosted', () => {
  it('serve a module’s server behind the gates; each caller sees only its own identity', async () => {
    const gateway = createGateway(config(MODULE), { folder: '/' });
    await gateway.start();
    const call = caller(gateway);
    try {
      assert.deepEqual(await call('nobody', 'whoami'), [401, undefined]);
      assert.deepEqual(await call('bob', 'shout', { text: 'hi' }), [200, 'HI']);
      const seen = await Promise.all(Array.from({ length: 100 }, (_, i) => call(i % 2 === 0 ? 'ada' : 'bob', 'whoami')));
      assert.deepEqual(
        seen,
        Array.from({ length: 100 }, (_, i) => [200, i % 2 === 0 ? 'ada' : 'bob']),
      );
    } finally {
      await gateway.close();
    }
  });

  it('tell the audit why a component was hidden from a caller', async () => {
    const { folder, remove } = folderWith({});
    const gateway = createGateway({ ...config(MODULE), telemetry: { audit: { file: 'audit.log' } } }, { folder });
    await gateway.start();
    assert.deepEqual(await caller(gateway)('ada', 'locked'), [200, undefined]);
    await gateway.close();
    const lines = readFileSync(`${folder}/audit.log`, 'utf8').trim().split('\n');
    const told = lines.map((line) => JSON.parse(line)).filter(({ code }) => code === 'HIDDEN_BY_SCOPES');
    assert.deepEqual(
      told.map(({ route, verdict, method, tool, principal }) => [route, verdict, method, tool, principal]),
      [['/mcp', 'refused', 'tools/call', 'locked', 'ada']],
    );
    remove();
  });

  it('refuse to start on a module that is no server, naming the key and the component', async () => {
    const { folder, remove } = folderWith({
      'none.mjs': 'export const other = 1;',
      'foreign.mjs': 'export const server = { name: "x" };',
      'throws.mjs': 'export const server = new Proxy({}, { get() { throw null; } });',
      'thenable.mjs': 'export const server = new Proxy(() => ({}), { get() { throw null; } });',
      'fails.mjs': 'export const server = () => { throw null; };',
      'broken.mjs': 'import "./nothing.mjs";',
      'alone.mjs': 'import "portcullis/server";',
      'invalid.mjs': `import { defineServer } from ${JSON.stringify(repositoryPath('dist/src/server.js'))};
        export const server = defineServer({ name: 'x', version: '1', tools: [{ name: 'a b', run: () => '' }] });`,
    });
    const problemsOf = async (module: string) => {
      const gateway = createGateway(config(module), { folder });
      const error: unknown = await gateway.start().catch((reason: unknown) => reason);
      assert.ok(error instanceof ConfigError, String(error));
      return error.problems.map(({ where, message }) => `${where} ${message}`);
    };
    try {
      assert.deepEqual(await problemsOf('none.mjs'), ['runtimes.clock.module has no named export "server" (see docs/server.md)']);
      assert.deepEqual(await problemsOf('foreign.mjs'), [
        'runtimes.clock.module its export "server" was not made by defineServer of portcullis/server, and is not a function that returns an official SDK server (see docs/server.md)',
      ]);
      assert.deepEqual(await problemsOf('throws.mjs'), ['runtimes.clock.module cannot be looked at: null']);
      assert.match((await problemsOf('thenable.mjs'))[0] ?? '', /^runtimes\.clock\.module its export "server" was not made by /);
      assert.deepEqual(await problemsOf('fails.mjs'), ['runtimes.clock.module its factory threw null']);
      assert.match((await problemsOf('broken.mjs'))[0] ?? '', /^runtimes\.clock\.module could not be loaded: /);
      assert.match((await problemsOf('alone.mjs'))[0] ?? '', /Cannot find package 'portcullis' .*; install portcullis beside the module/);
      assert.deepEqual(await problemsOf('invalid.mjs'), [
        'runtimes.clock.module tool "a b": a tool name has 1 to 128 of A-Z a-z 0-9 _ - .',
      ]);
      assert.throws(() => createGateway(config('absent.mjs'), { folder }), /runtimes\.clock\.module: file .*absent\.mjs does not exist/);
    } finally {
      remove();
    }
  });

  it('whose modules cannot be used are told all at once, at a start and by validate', async () => {
    const { folder, remove } = folderWith({ 'none.mjs': 'export const other = 1;', 'broken.mjs': 'import "./nothing.mjs";' });
    const runtimes = { one: { kind: 'hosted', module: 'none.mjs' }, two: { kind: 'hosted', module: 'broken.mjs' } };
    const both = { ...config(''), runtimes, routes: ['one', 'two'].map((runtime) => ({ path: `/${runtime}`, public: true, runtime })) };
    writeFileSync(`${folder}/portcullis.yaml`, JSON.stringify(both, undefined, 1));
    const told = [/runtimes\.one\.module: has no named export "server"/, /runtimes\.two\.module: could not be loaded: /];
    await assert.rejects(createGateway(both, { folder }).start(), ({ message }: Error) => told.every((one) => one.test(message)));
    const { code, stderr } = await runCli(['validate', '-c', 'portcullis.yaml'], folder);
    remove();
    assert.equal(code, 78);
    for (const one of told) assert.match(stderr, new RegExp(`portcullis\\.yaml:\\d+:\\d+ ${one.source}`));
  });
});

function caller(gateway: Gateway) {
  return async (key: string, name: string, args: object = {}) => {
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: { ...modernHead('tools/call', name), 'x-api-key': key },
      body: modernBody('tools/call', { name, arguments: args }),
    });
    const { result } = (await response.json()) as { result?: { content: { text: string }[] } };
    return [response.status, result?.content[0]?.text];
  };
}
