// Official SDK clients, old and new, use the reference server over stdio behind `portcullis run -- COMMAND`: lists, calls, progress,
// server requests, notices, cancel, sessions; and real servers from npm behind `portcullis run --mcp-servers FILE`.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, startCommand } from '../support/e2e/gateway.js';
import { type OpenClient, openV1Current, openV2, openV12 } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';

const PORTS = ['--port', '0', '--ops-port', '0'];
const EVERYTHING = repositoryPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const LONG = 'trigger-long-running-operation';
const RESOURCE = 'demo://resource/static/document/features.md';
const LEGACY: readonly (readonly [string, OpenClient])[] = [
  ['SDK 1.12', openV12],
  ['SDK 1 current', openV1Current],
  ['SDK 2 legacy', openV2('legacy')],
];
const MODERN: readonly (readonly [string, OpenClient])[] = [
  ['SDK 2 auto', openV2('auto')],
  ['SDK 2 pinned to 2026-07-28', openV2({ pin: '2026-07-28' })],
];

let gateway: RunningGateway;
let url: string;

before(async () => {
  gateway = await startCommand(['run', ...PORTS, '--', process.execPath, EVERYTHING, 'stdio']);
  url = `${gateway.url}/mcp`;
});

after(async () => assert.equal(await gateway?.stop(), 0));

for (const [name, open] of [...LEGACY, ...MODERN])
  describe(name, () => {
    const modern = MODERN.some(([other]) => other === name);

    it('uses the server: lists, reads, calls, progress, cancel', { timeout: 40_000 }, async () => {
      const client = await open(url);
      try {
        const [tools, resources, prompts] = [await client.tools(), await client.resources(), await client.prompts()];
        assert.ok(tools.includes(LONG) && resources.includes(RESOURCE) && prompts.length >= 4);
        assert.match(await client.read(RESOURCE), /Everything/);
        assert.equal(await client.call('echo', { message: 'a — b 😀' }), 'Echo: a — b 😀');
        const progress: number[] = [];
        const done = await client.call(LONG, { duration: 0.2, steps: 4 }, { onprogress: (step) => void progress.push(step.progress) });
        assert.match(done, /Steps: 4/);
        assert.deepEqual(progress, [1, 2, 3, 4]);
        const abort = new AbortController();
        const call = client.call(LONG, { duration: 3, steps: 30 }, { signal: abort.signal, onprogress: () => abort.abort('enough') });
        await assert.rejects(call, /enough|abort/i);
        await until('nothing waits any more', async () => (await gateway.metric('portcullis_runtime_pending')) === 0);
        assert.equal(client.revision === '2026-07-28', modern);
      } finally {
        if (client.session !== undefined) await client.terminate();
        await client.close();
      }
    });

    it(modern ? 'is asked by the server, and keeps no session' : 'is asked by the server, hears its notices, and ends its session', {
      timeout: 40_000,
    }, async () => {
      const client = await open(url);
      try {
        if (modern) {
          assert.equal(client.session, undefined);
          assert.match(await client.call('trigger-sampling-request', { prompt: 'a prompt', maxTokens: 20 }), /sampled text/);
          assert.match(await client.call('get-roots-list'), /e2e root/);
          assert.match(await client.call('trigger-elicitation-request'), /e2e caller/);
          await until('no call is held', async () => (await gateway.metric('portcullis_held_calls')) === 0);
          await until('no session is left', async () => (await gateway.metric('portcullis_bridge_sessions')) === 0);
          return;
        }
        await until('tools that need a capability', async () => (await client.tools()).includes('get-roots-list'));
        assert.match(await client.call('trigger-sampling-request', { prompt: 'a prompt', maxTokens: 20 }), /sampled text/);
        assert.match(await client.call('get-roots-list'), /e2e root/);
        assert.match(await client.call('trigger-elicitation-request'), /e2e caller/);
        await client.subscribe(RESOURCE);
        await client.call('toggle-subscriber-updates');
        await until('an update', () => client.notified.includes(`notifications/resources/updated ${RESOURCE}`));
        await client.terminate();
        await until('its child is gone', async () => (await gateway.metric('portcullis_runtime_sessions')) === 0);
      } finally {
        await client.close();
      }
    });
  });

describe('real servers from npm behind one gateway', () => {
  const server = (name: string): string => repositoryPath(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
  let folder: string;
  let many: RunningGateway;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-e2e-'));
    await writeFile(join(folder, 'note.txt'), 'read through the gateway');
    const entry = (name: string, ...args: readonly string[]) => ({ command: process.execPath, args: [server(name), ...args] });
    const mcpServers = {
      filesystem: entry('filesystem', folder),
      memory: { ...entry('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } },
      thinking: entry('sequential-thinking'),
      broken: { command: '/no/such/command' },
    };
    await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }));
    many = await startCommand(['run', ...PORTS, '--mcp-servers', join(folder, 'mcp.json')]);
  });

  after(async () => {
    assert.equal(await many?.stop(), 0);
    await rm(folder, { recursive: true, force: true });
  });

  for (const [name, open] of [LEGACY[1], MODERN[1]] as typeof LEGACY)
    it(`${name} uses the filesystem, memory and sequential-thinking servers`, { timeout: 60_000 }, async () => {
      const at = (route: string) => open(`${many.url}/${route}/mcp`);
      const [files, memory, thinking] = await Promise.all([at('filesystem'), at('memory'), at('thinking')]);
      try {
        assert.equal(await files.call('read_text_file', { path: join(folder, 'note.txt') }), 'read through the gateway');
        await memory.call('create_entities', { entities: [{ name, entityType: 'client', observations: ['came by'] }] });
        assert.match(await memory.call('read_graph'), /came by/);
        const thought = { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
        assert.match(await thinking.call('sequentialthinking', thought), /"thoughtNumber": 1/);
      } finally {
        await Promise.all([files.close(), memory.close(), thinking.close()]);
      }
    });

  it('a command that does not exist costs its own route an error', { timeout: 20_000 }, async () => {
    await assert.rejects(openV1Current(`${many.url}/broken/mcp`), /not running|ended before/);
    assert.equal(await many.metric('portcullis_runtime_state', { runtime: 'broken', state: 'degraded' }), 1);
    assert.equal((await fetch(`${many.ops_url}/livez`)).status, 200);
  });
});
