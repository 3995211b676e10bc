// `portcullis stdio` as a program: the official clients start it, and raw pipes bring it to its limits.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { modernBody } from '../demo/rpc.js';
import { repositoryPath } from '../support/repository.js';

const MAIN = repositoryPath('dist/src/main.js');
const INFO = { name: 'stdio-e2e', version: '1' };
let folder = '';
let args: string[] = [];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-stdio-'));
  writeFileSync(
    join(folder, 'noisy.mjs'),
    `console.log('loading'); export { server } from ${JSON.stringify(repositoryPath('dist/test/support/doors-server.js'))};`,
  );
  // Gates have no part in it, so a loud one must not be heard on standard output either.
  writeFileSync(join(folder, 'loud.mjs'), `console.log('a gate is loading');`);
  writeFileSync(
    join(folder, 'portcullis.yaml'),
    `gates: { loud: { use: file:./loud.mjs } }
listener: { limits: { write_timeout_ms: 500 } }
runtimes:
  doors: { kind: hosted, module: ./noisy.mjs }
  clock: { kind: hosted, module: ${repositoryPath('dist/test/support/hosted-server.js')} }
routes: [{ path: /mcp, public: true, runtime: doors }, { path: /clock, public: true, runtime: clock }]
`,
  );
  args = [MAIN, 'stdio', '-c', join(folder, 'portcullis.yaml'), '--runtime', 'doors'];
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe('portcullis stdio, started by', () => {
  it('SDK v1', async () => {
    const client = new ClientV1(INFO);
    await client.connect(new StdioV1({ command: process.execPath, args, stderr: 'ignore' }));
    await use(client as never);
    await client.close();
  });

  for (const mode of ['legacy', 'auto'] as const)
    it(`SDK v2, ${mode}`, async () => {
      const client = new ClientV2(INFO, { versionNegotiation: { mode } });
      await client.connect(new StdioV2({ command: process.execPath, args, stderr: 'ignore' }));
      assert.equal(client.getNegotiatedProtocolVersion(), mode === 'auto' ? '2026-07-28' : '2025-11-25');
      await use(client as never);
      await client.close();
    });
});

describe('portcullis stdio, as a program', () => {
  it('ends by itself at the end of the input, all answered, logs on standard error alone', async () => {
    const child = start();
    for (let id = 1; id <= 50; id++) child.stdin?.write(`${say(id, `ü${id}`)}\n`);
    child.stdin?.end();
    const { code, stdout, stderr } = await over(child);
    assert.equal(code, 0);
    assert.equal(stdout.split('\n').length, 51);
    assert.match(stdout, /^[\x20-\x7e\n]*$/);
    assert.equal(stderr, 'loading\n');
  });

  it('ends with 74 when its client reads nothing', async () => {
    const child = start();
    child.stdout?.pause();
    for (let id = 1; id <= 8; id++) child.stdin?.write(`${modernBody('tools/call', { name: 'big', arguments: {} }, {}, id)}\n`);
    const code = await new Promise((resolve) => child.on('exit', resolve));
    assert.equal(code, 74);
    child.stdout?.destroy();
  });

  it('ends when its client is gone', async () => {
    const child = start();
    child.stdout?.destroy();
    child.stdin?.on('error', () => undefined);
    for (let id = 1; id <= 2; id++) child.stdin?.write(`${say(id, 'x')}\n`);
    const code = await new Promise((resolve) => child.on('exit', resolve));
    assert.equal(code, 0);
  });

  it('ends at SIGTERM', async () => {
    const child = start();
    child.stdin?.write(`${say(1, 'x')}\n`);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.kill('SIGTERM');
    assert.equal((await over(child)).code, 0);
  });

  it('says which runtimes there are', async () => {
    const child = spawn(process.execPath, args.slice(0, -2), { stdio: 'pipe' });
    const { code, stderr } = await over(child);
    assert.deepEqual([code, stderr], [64, 'error: --runtime names a runtime of kind hosted; there is doors, clock\n']);
  });
});

const say = (id: number, text: string) => modernBody('tools/call', { name: 'say', arguments: { text } }, {}, id);

function start(): ChildProcess {
  return spawn(process.execPath, args, { stdio: 'pipe' });
}

async function over(child: ChildProcess): Promise<{ code: unknown; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString('latin1')));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

/** What both SDK versions have. */
interface Face {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(...args: readonly unknown[]): Promise<{ content: { text: string }[] }>;
}

async function use(client: Face): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['say', 'count', 'hang', 'big', 'ask'],
  );
  const call = async (name: string, input: object, options: object = {}) => {
    const schema = client instanceof ClientV1 ? [undefined] : [];
    return (await client.callTool({ name, arguments: input }, ...schema, options)).content[0]?.text;
  };
  const texts = await Promise.all([1, 2, 3].map((n) => call('say', { text: `straße ${n}` })));
  assert.deepEqual(texts, ['straße 1 nobody', 'straße 2 nobody', 'straße 3 nobody']);
  const seen: number[] = [];
  assert.equal(await call('count', {}, { onprogress: ({ progress }: { progress: number }) => seen.push(progress) }), 'counted');
  assert.deepEqual(seen, [1, 2, 3]);
  const stop = new AbortController();
  const hanging = call('hang', {}, { signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(hanging);
  assert.equal((await call('big', {}))?.length, 1_000_000);
}
