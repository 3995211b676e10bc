import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { loadAdHocConfig } from '../../src/cli/ad-hoc-config.js';
import { readMcpServers } from '../../src/cli/mcp-servers.js';
import type { RunIo } from '../../src/cli/run-io.js';
import { resolveConfig } from '../../src/config/load.js';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const GOOD = { url: 'https://mcp.example.com/mcp?project=abc' };
/** Servers as files have them, and the note of each that cannot be taken. */
const TABLE: readonly (readonly [name: string, entry: unknown, note: RegExp | undefined])[] = [
  ['query', GOOD, undefined],
  ['http', { type: 'http', url: 'http://127.0.0.1:1/mcp' }, undefined],
  ['streamable', { type: 'streamable-http', url: 'https://a.test/mcp', headers: { 'x-key': 'k' } }, undefined],
  ['sse', { type: 'sse', url: 'https://a.test/sse' }, undefined],
  ['reference', { url: 'https://a.test/mcp', headers: { Authorization: 'Bearer ${TOKEN_THAT_IS_SET}' } }, undefined],
  ['default', { command: 'node', env: { A: '${UNSET_HERE:-x}' } }, undefined],
  ['args', { command: 'node', args: [1, true, 'x'] }, undefined],
  ['name with / and .. and é', GOOD, undefined],
  ['__proto__x', GOOD, undefined],
  ['', GOOD, undefined],
  ['userinfo', { url: 'https://u:p@a.test/mcp' }, /url: must not carry a user name or password/],
  ['fragment', { url: 'https://a.test/mcp#x' }, /url: must not have a fragment/],
  ['scheme', { type: 'ws', url: 'wss://a.test/mcp' }, /url: must be a URL that begins with http/],
  ['no url', { url: 'not a url' }, /url: /],
  ['unknown', { type: 'magic' }, /neither a command nor a url/],
  ['empty command', { command: '' }, /command: /],
  ['nul', { command: 'a\0b' }, /command: /],
  ['off', { command: 'node', disabled: true }, /is disabled/],
  ['not enabled', { command: 'node', enabled: false }, /is disabled/],
  ['text', 'node', /is not a mapping/],
  ['null', null, /is not a mapping/],
  ['list', [], /is not a mapping/],
  ['header name', { url: 'https://a.test/mcp', headers: { 'bad name': 'x' } }, /bad name/],
  ['header value', { url: 'https://a.test/mcp', headers: { a: 'x\r\ny' } }, /headers\.a: /],
  ['reserved header', { url: 'https://a.test/mcp', headers: { Host: 'x' } }, /Host/],
  ['variable name', { command: 'node', env: { 'A=B': 'x' } }, /A=B/],
  ['this gateway', { url: 'http://127.0.0.1:8080/mcp' }, /is this gateway itself/],
];
const env = { TOKEN_THAT_IS_SET: 'secret-token' };
const places = { listener: { host: '127.0.0.1', port: 8080 } };
const { folder, remove } = folderWith({
  'all.json': JSON.stringify({ mcpServers: Object.fromEntries(TABLE.map(([name, entry]) => [name, entry])) }),
  'unset.json': JSON.stringify({ mcpServers: { good: GOOD, unset: { ...GOOD, headers: { a: '${NOT_SET_ANYWHERE}' } } } }),
});
after(remove);

describe('a client’s list of servers', () => {
  it('what cannot be used is left out with a note that names it, and the rest is a config that validate takes', () => {
    const { runtimes, routes, notes } = readMcpServers('all.json', { cwd: folder, env }, { places, unset: 'allow' });
    for (const [name, , note] of TABLE) {
      const own = notes.filter((line) => line.startsWith(`${name}: `));
      if (note === undefined) assert.deepEqual(own, [], name);
      else assert.match(own.join(), new RegExp(`(?:${note.source}).*left out`), name);
    }
    assert.equal(Object.keys(runtimes).length, TABLE.filter(([, , note]) => note === undefined).length);
    const { config } = resolveConfig({ ...places, runtimes, routes }, { env, folder });
    assert.equal(config.routes.length, routes.length);
  });

  it('import prints what validate takes, and no note repeats a credential', async () => {
    const { code, stdout, stderr } = await runCli(['import', 'all.json'], folder, env);
    assert.equal(code, 0);
    resolveConfig(parse(stdout), { env, folder });
    assert.doesNotMatch(stderr, /u:p@|secret-token/);
  });

  it('a variable that is not set yet: import keeps the server, run leaves it out and serves the rest', async () => {
    assert.match((await runCli(['import', 'unset.json'], folder)).stdout, /NOT_SET_ANYWHERE/);
    const told: string[] = [];
    const io = { cwd: folder, env: {}, stderr: (text: string) => void told.push(text) } as unknown as RunIo;
    const { config } = loadAdHocConfig({ kind: 'file', file: 'unset.json' }, {}, io);
    assert.deepEqual(Object.keys(config.runtimes), ['good']);
    assert.match(told.join(''), /^note: unset: headers\.a: environment variable NOT_SET_ANYWHERE is not set.*; left out\n$/);
  });

  it('whatever a file holds, what is taken is valid', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('https://a.test/mcp', 'http://[::1', 'node', '${A}', '${input:b c}', '\0', ''));
    const texts = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)), { maxKeys: 3 });
    const entry = fc.record(
      {
        command: text,
        args: fc.array(fc.oneof(text, fc.integer()), { maxLength: 3 }),
        cwd: text,
        env: texts,
        url: text,
        headers: texts,
        type: fc.constantFrom('http', 'sse', 'stdio', 'x'),
        disabled: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), entry, { maxKeys: 4 }), (servers) => {
        const { folder, remove } = folderWith({ 'a.json': JSON.stringify({ mcpServers: { ...servers, good: GOOD } }) });
        try {
          const { runtimes, routes } = readMcpServers('a.json', { cwd: folder, env }, { places, unset: 'refuse' });
          resolveConfig({ ...places, runtimes, routes }, { env, folder });
        } finally {
          remove();
        }
      }),
      { numRuns: 100 },
    );
  });
});
