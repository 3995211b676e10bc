import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { serveStdio } from '../src/server.js';
import { hub, server } from './support/doors-server.js';
import { HOSTS, type Mounted } from './support/mounted.js';
import { repositoryPath } from './support/repository.js';

const page = (name: string): string => readFileSync(repositoryPath(name), 'utf8');
const blocks = (name: string, language: string): readonly string[] =>
  [...page(name).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1] ?? '');

/** Beside the built examples: a program there finds the package by its own name. */
const PLACE = repositoryPath('dist/examples');
let mounted: Mounted;
let count = 0;

/** Runs a block as the program that it is, with these texts in the place of others; what it prints. */
async function printed(code: string, changes: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const file = `${PLACE}/documented-${++count}.mjs`;
  mkdirSync(PLACE, { recursive: true });
  writeFileSync(
    file,
    Object.entries(changes).reduce((text, [from, to]) => text.replaceAll(from, to), code),
  );
  try {
    return (await promisify(execFile)(process.execPath, [file], { timeout: 60_000 })).stdout.trimEnd().split('\n');
  } finally {
    rmSync(file);
  }
}

describe('the programs of docs/client.md and docs/transports.md', () => {
  before(async () => {
    mounted = await (HOSTS.node as (typeof HOSTS)[string])();
  });
  after(() => mounted.close());

  it('do what the text says', async () => {
    const [first, asks, listens, ...more] = blocks('docs/client.md', 'js');
    assert.deepEqual(more, []);
    const here = { 'http://127.0.0.1:8080/mcp': mounted.url };
    assert.deepEqual(await printed(first ?? '', here), [
      'modern 2026-07-28 doors',
      ...['say', 'count', 'hang', 'big', 'ask'],
      ...['1/3', '2/3', '3/3'],
      'false counted',
    ]);
    assert.deepEqual(await printed(asks ?? '', here), ['asked']);
    const tell = setInterval(() => hub.toolsChanged(), 20);
    const [agreed, change] = await printed(listens ?? '', { ...here, '=> changes.close(), 100': '=> changes.close(), 1_000' });
    clearInterval(tell);
    assert.deepEqual([agreed, change], ['{ tools: true }', 'tools']);
  });

  it('the transport is that of the examples, and works', async () => {
    const [shown] = blocks('docs/transports.md', 'ts');
    assert.ok(page('examples/transport-tcp.ts').endsWith(shown ?? '?'), 'docs/transports.md shows examples/transport-tcp.ts as it is');
    const tcp = createServer((socket) => void serveStdio(server, { input: socket, output: socket }).then(() => socket.end()));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const [program] = blocks('docs/transports.md', 'js');
    assert.deepEqual(await printed(program ?? '', { 'port: 7000': `port: ${(tcp.address() as AddressInfo).port}` }), [
      'say,count,hang,big,ask',
    ]);
    tcp.close();
  });

  it('the limits of docs/client.md are those of the code', () => {
    const row = (option: string): string =>
      page('docs/client.md')
        .split('\n')
        .find((line) => line.startsWith(`| \`${option}\``)) ?? '';
    for (const [option, value] of [
      ['timeout_ms', '30 000'],
      ['timeout_max_ms', '300 000'],
      ['probe_timeout_ms', '5 000'],
      ['start_timeout_ms', '10 000'],
      ['connect_timeout_ms', '10 000'],
      ['pool_size', '4'],
      ['pool_idle_timeout_ms', '30 000'],
      ['pool_max_requests', '100'],
      ['max_response_bytes', '16 777 216'],
      ['max_pages', '100, 10 000'],
    ] as const) {
      assert.ok(row(option).includes(` ${value} `), `${option}: ${row(option)}`);
    }
  });
});
