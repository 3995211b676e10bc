import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import { resolveConfig } from '../../src/config/load.js';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const CLAUDE = `{
  // Comments, and a trailing comma: desktop clients allow both.
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data//*not a comment*/"], "env": { "KEY": "\${API_KEY:-none}" } },
    "my notes": { "command": "node", "args": ["\${workspaceFolder}/notes.js"], "cwd": "notes" },
    "my_notes": { "command": "node" },
    "my:notes": { "command": "node" },
    "off": { "command": "node", "disabled": true },
    "old": { "type": "sse", "url": "http://127.0.0.1:1/sse" },
    "empty": {},
  },
}`;
const VSCODE = JSON.stringify({
  inputs: [{ id: 'api-key', type: 'promptString', password: true }],
  servers: {
    remote: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { 'x-api-key': '${input:api-key}' } },
    local: { type: 'stdio', command: '${env:HOME_DIR}/server', envFile: '.env' },
  },
});
const { folder, remove } = folderWith({
  'claude.json': CLAUDE,
  'mcp.json': VSCODE,
  'none.json': '{"mcpServers":{"off":{"command":"x","disabled":true}}}',
  'other.json': '{"servers":[]}',
  'broken.json': '{"mcpServers":',
});
after(remove);

describe('portcullis import', () => {
  it('takes mcpServers: one stdio runtime and route each, references kept, what cannot be served told', async () => {
    const { code, stdout, stderr } = await runCli(['import', 'claude.json'], folder);
    assert.equal(code, 0);
    const config = parse(stdout);
    assert.deepEqual(config.runtimes, {
      files: {
        kind: 'stdio',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/data//*not a comment*/'],
        env: { KEY: '${API_KEY:-none}' },
      },
      'my-notes': { kind: 'stdio', command: 'node', args: ['$${workspaceFolder}/notes.js'], cwd: 'notes' },
      my_notes: { kind: 'stdio', command: 'node' },
      'my-notes-2': { kind: 'stdio', command: 'node' },
      old: { kind: 'proxied', url: 'http://127.0.0.1:1/sse', transport: 'sse' },
    });
    assert.deepEqual(config.routes[1], { path: '/my-notes/mcp', public: true, runtime: 'my-notes' });
    assert.deepEqual(stderr.trim().split('\n'), [
      'note: my notes: ${workspaceFolder} means nothing here and stays as it is written',
      'note: off: is disabled; left out',
      'note: empty: has neither a command nor a url; left out',
    ]);
    const { config: loaded } = resolveConfig(config, { folder, env: {} });
    assert.deepEqual(loaded.runtimes.files?.kind === 'stdio' && loaded.runtimes.files.env, { KEY: 'none' });
  });

  it('takes servers of VS Code: inputs and env references become variables', async () => {
    const { stdout, stderr } = await runCli(['import', 'mcp.json'], folder);
    assert.deepEqual(parse(stdout).runtimes, {
      remote: { kind: 'proxied', url: 'https://mcp.example.com/mcp', headers: { 'x-api-key': '${API_KEY}' } },
      local: { kind: 'stdio', command: '${HOME_DIR}/server' },
    });
    assert.match(stderr, /remote: \$\{input:api-key\} is read from the environment variable API_KEY/);
    assert.match(stderr, /local: envFile is not read/);
  });

  it('says what is wrong with a file, exit 78', async () => {
    const told = async (file: string) => {
      const { code, stdout, stderr } = await runCli(['import', file], folder);
      assert.deepEqual([code, stdout], [78, ''], file);
      return stderr.trim();
    };
    assert.equal(await told('none.json'), 'none.json has no server that can be served\n  off: is disabled; left out');
    assert.equal(await told('other.json'), 'other.json has neither "mcpServers" nor "servers", a mapping from names to servers');
    assert.match(await told('broken.json'), /^broken.json is not JSON: /);
    assert.equal(await told('absent.json'), 'absent.json cannot be read (ENOENT)');
  });
});

describe('portcullis run without a config file', () => {
  it('is told apart from one with a file, exit 64', async () => {
    const usage = async (...args: readonly string[]) => {
      const { code, stderr } = await runCli(['run', ...args], folder);
      assert.equal(code, 64, args.join(' '));
      return stderr.trim();
    };
    assert.equal(await usage('ftp://x'), 'error: "ftp://x" is not an http:// or https:// URL of an MCP server; a command goes after --');
    assert.equal(await usage('node', 'x.js'), 'error: more than one argument; a command goes after --: portcullis run -- COMMAND args');
    assert.equal(await usage('-c', 'a', '--', 'node'), 'error: give one of: a URL, -- COMMAND, --mcp-servers, --config');
    assert.equal(await usage('--mcp-servers', 'a', 'http://x'), 'error: give one of: a URL, -- COMMAND, --mcp-servers, --config');
    assert.equal(await usage('--env', 'A=b'), 'error: --env applies to a command; a file sets env itself');
    assert.equal(
      await usage('--env', 'ABSENT', '--', 'node'),
      'error: --env ABSENT: this variable is not set here; write --env ABSENT=value',
    );
    assert.match(await usage('--port', '1'), /--host, --port and --ops-port go without a config file/);
    assert.equal((await runCli(['run', '--mcp-servers', 'absent.json'], folder)).code, 78);
  });
});
