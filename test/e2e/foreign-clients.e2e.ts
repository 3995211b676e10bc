// Clients that people already use: the Inspector's command line on a current Node, and mcp-remote between a stdio client and a
// guarded route. Before a server over stdio, and before the hosted demo.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type Child, startChild, startProgram } from '../support/e2e/child.js';
import { currentNode } from '../support/e2e/current-node.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startCommand } from '../support/e2e/gateway.js';
import { peerTool } from '../support/e2e/peer-tool.js';
import { repositoryPath } from '../support/repository.js';

const EVERYTHING = repositoryPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
let home: string;
let demo: Child;
let demo_url: string;
let token: string;
let stdio: RunningGateway;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'portcullis-clients-'));
  const [port, ops_port] = [await freePort(), await freePort()];
  demo_url = `http://127.0.0.1:${port}/mcp`;
  demo = startChild([repositoryPath('dist/src/main.js'), 'demo', '--port', String(port), '--ops-port', String(ops_port)]);
  [, token = ''] = await demo.says(/export TOKEN=(\S+)/);
  stdio = await startCommand(['run', '--port', '0', '--ops-port', '0', '--', process.execPath, EVERYTHING, 'stdio']);
});

after(async () => {
  await demo?.stop('SIGKILL');
  const code = await stdio?.stop();
  await rm(home, { recursive: true, force: true });
  assert.equal(code, 0);
});

describe('the Inspector’s command line', () => {
  it('lists and calls behind a bearer token', async () => {
    const { code, answer } = await inspect(demo_url, ['--method', 'tools/list'], token);
    assert.equal(code, 0);
    assert.deepEqual(
      (answer.tools as { name: string }[]).map(({ name }) => name),
      ['echo', 'add', 'countdown', 'whoami'],
    );
    const called = await inspect(demo_url, ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'text=hi'], token);
    assert.deepEqual(called.answer.content, [{ type: 'text', text: 'hi' }]);
  });

  it('is told to authorize without one', async () => {
    const { answer } = await inspect(demo_url, ['--method', 'tools/list'], undefined);
    assert.equal((answer.error as { code?: unknown }).code, 'auth_required');
  });

  it('uses a server over stdio', async () => {
    const url = `${stdio.url}/mcp`;
    const { answer } = await inspect(url, ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=ü'], undefined);
    assert.deepEqual(answer.content, [{ type: 'text', text: 'Echo: ü' }]);
    const resources = await inspect(url, ['--method', 'resources/list'], undefined);
    assert.ok((resources.answer.resources as unknown[]).length >= 1);
  });
});

describe('mcp-remote', () => {
  for (const [name, target] of [
    ['the hosted demo behind a token', () => demo_url],
    ['a server over stdio', () => `${stdio.url}/mcp`],
  ] as const)
    it(`carries a stdio client to ${name}`, { timeout: 60_000 }, async () => {
      const args = [
        peerTool('mcp-remote'),
        target(),
        '--allow-http',
        '--transport',
        'http-only',
        '--header',
        `Authorization: Bearer ${token}`,
      ];
      const client = new Client({ name: 'behind-mcp-remote', version: '1' });
      const env = { ...process.env, HOME: home, MCP_REMOTE_CONFIG_DIR: home } as Record<string, string>;
      await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
      try {
        const { tools } = await client.listTools();
        assert.ok(tools.some((tool) => tool.name === 'echo'));
        const said = target() === demo_url ? { text: 'hi' } : { message: 'hi' };
        const { content } = await client.callTool({ name: 'echo', arguments: said });
        assert.match(JSON.stringify(content), /hi/);
      } finally {
        await client.close();
      }
    });
});

/** Runs one command of the Inspector and reads the JSON that it prints. */
async function inspect(
  url: string,
  args: readonly string[],
  bearer: string | undefined,
): Promise<{ readonly code: number | null; readonly answer: Readonly<Record<string, unknown>> }> {
  const header = bearer === undefined ? [] : ['--header', `Authorization: Bearer ${bearer}`];
  const script = peerTool('mcp-inspector');
  const env = { HOME: home, MCP_CATALOG_PATH: join(home, 'catalog.json') };
  const inspector = startProgram(currentNode(), [script, '--cli', url, '--transport', 'http', ...args, ...header], env);
  const code = await inspector.ended;
  // What it says to a person stands around the JSON.
  const [from, to] = [inspector.output.indexOf('{'), inspector.output.lastIndexOf('}') + 1];
  return { code, answer: JSON.parse(inspector.output.slice(from, to)) };
}
