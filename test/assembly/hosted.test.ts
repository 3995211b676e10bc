import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, createGateway } from '../../src/index.js';
import { folderWith } from '../support/config-files.js';
import { repositoryPath } from '../support/repository.js';

const MODULE = repositoryPath('dist/test/support/hosted-server.js');
const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

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
  it('serve a module’s server behind the gates; B76 each caller sees only its own identity', async () => {
    const gateway = createGateway(config(MODULE), { folder: '/' });
    await gateway.start();
    const call = async (key: string, name: string, args: object = {}) => {
      const response = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-api-key': key,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: META } }),
      });
      const { result } = (await response.json()) as { result?: { content: { text: string }[] } };
      return [response.status, result?.content[0]?.text];
    };
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

  it('refuse to start on a module that is no server, naming the key and the component', async () => {
    const { folder, remove } = folderWith({
      'none.mjs': 'export const other = 1;',
      'foreign.mjs': 'export const server = { name: "x" };',
      'broken.mjs': 'import "./nothing.mjs";',
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
        'runtimes.clock.module its export "server" was not made by defineServer of portcullis/server',
      ]);
      assert.match((await problemsOf('broken.mjs'))[0] ?? '', /^runtimes\.clock\.module could not be loaded: /);
      assert.deepEqual(await problemsOf('invalid.mjs'), [
        'runtimes.clock.module tool "a b": a tool name has 1 to 128 of A-Z a-z 0-9 _ - .',
      ]);
      assert.throws(() => createGateway(config('absent.mjs'), { folder }), /runtimes\.clock\.module: file .*absent\.mjs does not exist/);
    } finally {
      remove();
    }
  });
});
