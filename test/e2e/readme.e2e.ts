// Every block of README.md that is code does what the text around it says, run as it is written; only ports that are taken are replaced.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../support/e2e/everything-server.js';
import { type Shell, startShell } from '../support/e2e/shell.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { INITIALIZE, whole } from '../support/send.js';

const PORTS = ['3001', '8080', '9090'];

/** The code blocks in order, with the ports that are in use here replaced. */
let blocks: { readonly kind: string; readonly text: string }[];
let ports: ReadonlyMap<string, string>;
/** A folder of a user who has the packages installed. */
let folder: string;
const shells: Shell[] = [];

before(async () => {
  ports = new Map(
    await Promise.all(PORTS.map(async (port) => [port, (await isFree(Number(port))) ? port : String(await freePort())] as const)),
  );
  const readme = readFileSync(repositoryPath('README.md'), 'utf8');
  blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({ kind, text: ported(text) }));
  folder = mkdtempSync(join(tmpdir(), 'portcullis-readme-'));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(repositoryPath('.'), join(folder, 'node_modules/portcullis'));
  // As an installation makes it: the built file itself is not executable.
  writeFileSync(join(folder, 'node_modules/.bin/portcullis'), `#!/bin/sh\nexec node ${repositoryPath('dist/src/main.js')} "$@"\n`, {
    mode: 0o755,
  });
  symlinkSync(repositoryPath('node_modules/.bin/mcp-server-everything'), join(folder, 'node_modules/.bin/mcp-server-everything'));
});

after(async () => {
  for (const shell of shells) await shell.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function ported(text: string): string {
  return text.replaceAll(/\b(?:3001|8080|9090)\b/g, (port) => ports.get(port) ?? port);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** For a gateway without a config file, when the usual ports are taken. */
function flags(): string {
  return PORTS.some((port) => ports.get(port) !== port) ? ` --port ${ports.get('8080')} --ops-port ${ports.get('9090')}` : '';
}

function writeAll(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  }
}

/** The only block that begins so. */
function block(begin: string): string {
  const found = blocks.filter(({ text }) => text.startsWith(ported(begin)));
  assert.equal(found.length, 1, `blocks that begin with ${begin}`);
  return found[0]?.text ?? '';
}

function shell(script: string, env: Readonly<Record<string, string>> = {}): Shell {
  const started = startShell(`set -e\n${script}`, folder, env);
  shells.push(started);
  return started;
}

async function ended(script: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const run = shell(script);
  const code = await run.ended;
  return { code, output: run.output };
}

const answers = (url: string) => () =>
  whole(url).then(
    () => true,
    () => false,
  );
const at = (port: string): string => `http://127.0.0.1:${ports.get(port)}`;

describe('README.md', () => {
  it('has these blocks of code, and no other', () => {
    assert.deepEqual(
      blocks.filter(({ kind }) => kind !== '').map(({ kind, text }) => `${kind} ${text.split('\n', 1)[0]}`),
      [
        'sh git clone URL portcullis && cd portcullis',
        'sh npm ci && npm start',
        'sh npm test',
        `console $ curl -sw '\\n%{http_code}\\n' http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' -d '{}'`,
        'sh PORT=3001 npx mcp-server-everything streamableHttp',
        'sh npx portcullis run http://127.0.0.1:3001/mcp',
        'yaml listener:',
        "sh export PROBE_KEY_SHA256=$(printf %s my-key | sha256sum | cut -d' ' -f1)",
        "sh curl -si http://127.0.0.1:8080/everything/mcp -d '{}' -H 'Content-Type: application/json'                        # 401",
        "sh export PROBE_KEY_SHA256=$(printf %s my-key | sha256sum | cut -d' ' -f1)",
        'sh npx portcullis run -- npx -y @modelcontextprotocol/server-filesystem ~/shared',
        'yaml runtimes:',
        "ts import { defineServer, defineTool, Type } from 'portcullis/server';",
        "ts import { createGateway } from 'portcullis';",
      ].map(ported),
    );
  });

  it('the clone has what the next commands need', async () => {
    const { code, output } = await ended(
      block('git clone')
        .replace('URL', `file://${repositoryPath('.')}`)
        .trimEnd()
        .concat(' && ls'),
    );
    assert.equal(code, 0, output);
    assert.match(output, /^package-lock\.json$/m);
  });

  it('the first command serves the demo: what it prints works, Ctrl-C drains and stops', async () => {
    const { scripts } = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8'));
    assert.deepEqual(
      [scripts.prestart, scripts.start, scripts.pretest, scripts.test],
      ['npm run build', 'node dist/src/main.js demo', 'npm run build', 'node dist/test/run.js'],
    );
    // The tree is built and installed; the ports are given as the text says when they are taken.
    const demo = startShell(
      `exec npm start --ignore-scripts -- --port ${ports.get('8080')} --ops-port ${ports.get('9090')}`,
      repositoryPath('.'),
    );
    shells.push(demo);
    await until('it prints a token', () => demo.output.includes('Ctrl-C'), 20_000);
    const token = /export TOKEN=(\S+)/.exec(demo.output)?.[1] ?? '';
    const session = block('$ curl -sw');
    const commands = [...session.matchAll(/^\$ ((?:\\\n|.)*)/gm)].map((match) => match[1]).join('\n');
    const shown = await ended(commands.replace('eyJ…', token));
    // The output that is shown, where … may be any text without a space.
    const expected = session
      .replaceAll(/^\$ (?:\\\n|.)*\n/gm, '')
      .replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      .replaceAll('…', '\\S+');
    assert.match(shown.output, new RegExp(`^${expected}$`));
    const lines = demo.output.match(/export TOKEN=.*|curl -sS[\s\S]*?\n\n/g)?.join('\n') ?? '';
    const { code, output } = await ended(lines);
    assert.equal(code, 0, output);
    assert.equal(JSON.parse(output).result.content[0].text, 'hello');
    await demo.stop('SIGINT');
    assert.match(demo.output, /SIGINT: draining/);
    assert.match(demo.output, /drain done/);
  });

  it('five minutes with a server of your own', async () => {
    const server = shell(block('PORT=3001'));
    await until('the server listens', () => /listening on port/.test(server.output), 20_000);
    const plain = shell(block('npx portcullis run http').trimEnd() + flags());
    await until('the gateway serves', answers(`${at('9090')}/readyz`), 20_000);
    const direct = await whole(`${at('3001')}/mcp`, INITIALIZE);
    const through = await whole(`${at('8080')}/mcp`, INITIALIZE);
    const result = ({ text }: { readonly text: string }) => /^data: (\{.*)$/m.exec(text)?.[1];
    assert.deepEqual([through.status, result(through)], [200, result(direct)]);
    assert.match((await whole(`${at('9090')}/metrics`)).text, /^portcullis_requests_total\{route="\/mcp".* 1$/m);
    await plain.stop('SIGINT');
    assert.match(plain.output, /drain done/);

    const config = block('listener:') + (flags() === '' ? '' : `ops: { port: ${ports.get('9090')} }\n`);
    writeFileSync(join(folder, 'portcullis.yaml'), config);
    const guarded = shell(
      block('export PROBE_KEY_SHA256'.concat("=$(printf %s my-key | sha256sum | cut -d' ' -f1)\nnpx portcullis validate")),
    );
    await until('the gateway serves', answers(`${at('9090')}/readyz`), 20_000);
    assert.match(guarded.output, /^OK .*portcullis\.yaml: 1 route, 2 gates, 1 runtime$/m);
    const { code, output } = await ended(block('curl -si'));
    assert.equal(code, 0, output);
    assert.match(output, /^HTTP\/1\.1 401 Unauthorized\r$/m);
    assert.match(output, /"code":"API_KEY_MISSING"/);
    assert.match(output, /^data: .*"serverInfo".*"protocolVersion":"2025-11-25"|^data: .*"protocolVersion":"2025-11-25".*"serverInfo"/m);
    const explained = await ended(block("export PROBE_KEY_SHA256=$(printf %s my-key | sha256sum | cut -d' ' -f1)\nnpx portcullis explain"));
    assert.equal(explained.code, 0, explained.output);
    assert.match(explained.output, /^✓ edge .*\n✓ probe .*\n\nADMITTED\n/m);
    assert.doesNotMatch(explained.output, /my-key/);
    const second = '  - { path: /second/mcp, gates: [probe], runtime: everything }';
    writeFileSync(join(folder, 'portcullis.yaml'), config.replace(/^routes:$/m, `routes:\n${second}`));
    await until('the changed file is in force', () => guarded.output.includes('the new config is in force'), 15_000);
    assert.equal((await whole(`${at('8080')}/second/mcp`, INITIALIZE)).status, 401);
    await guarded.stop('SIGINT');
    await server.stop('SIGKILL');
  });

  it('a server over stdio, one or many', async () => {
    const home = join(folder, 'home');
    const env = { HOME: home };
    // Stands in for the package that the line would download: another server of the same makers.
    const name = '@modelcontextprotocol/server-filesystem';
    const everything = repositoryPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
    writeAll({
      [`node_modules/${name}/package.json`]: JSON.stringify({
        name,
        version: '1.0.0',
        type: 'module',
        bin: { 'mcp-server-filesystem': 'index.js' },
      }),
      [`node_modules/${name}/index.js`]: '',
      'node_modules/.bin/mcp-server-filesystem': `#!/bin/sh\nexec node ${everything} stdio\n`,
      'home/shared/note.txt': 'x',
      'home/.cursor/mcp.json': JSON.stringify({ mcpServers: { one: { command: 'node', args: [everything, 'stdio'] } } }),
      '.vscode/mcp.json': JSON.stringify({ servers: { two: { type: 'stdio', command: 'node', args: [everything, 'stdio'] } } }),
    });
    const [one = '', many = '', imported = ''] = block('npx portcullis run -- npx').split('\n');
    for (const [line, path] of [
      [one, '/mcp'],
      [many, '/one/mcp'],
    ] as const) {
      const gateway = shell(line.replace('portcullis run', `portcullis run${flags()}`), env);
      await until(`the gateway serves: ${gateway.output}`, answers(`${at('9090')}/readyz`), 20_000);
      const answer = await whole(at('8080') + path, INITIALIZE);
      assert.match(answer.text, /"serverInfo":\{"name":"mcp-servers\/everything"/, `${line}: ${gateway.output}`);
      await gateway.stop('SIGINT');
      assert.match(gateway.output, /drain done/);
    }
    const { code, output } = await ended(`${imported}\nnpx portcullis validate -c servers.yaml`);
    assert.equal(code, 0, output);
    assert.match(output, /OK .*servers\.yaml: 1 route, 0 gates, 1 runtime/);
    writeAll({ 'stdio.yaml': block('runtimes:'), 'server.js': '' });
    assert.equal((await ended('npx portcullis validate -c stdio.yaml')).code, 0);
  });

  it('the programs compile and run', async () => {
    const [hosted, library] = [block('import { defineServer'), block('import { createGateway')];
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'echo-server.ts'), hosted);
    writeFileSync(join(folder, 'library.ts'), library);
    const options = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--skipLibCheck', '--types', 'node', '--typeRoots'];
    const types = repositoryPath('node_modules/@types');
    const compiled = await ended([repositoryPath('node_modules/.bin/tsc'), ...options, types, 'echo-server.ts', 'library.ts'].join(' '));
    assert.equal(compiled.code, 0, compiled.output);
    const run = await ended('node library.js');
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /^http:\/\/127\.0\.0\.1:\d+\n$/);
    const line = /^`runtimes: (\{.*\})`$/m.exec(readFileSync(repositoryPath('README.md'), 'utf8'))?.[1];
    writeFileSync(
      join(folder, 'hosted.yaml'),
      `listener: { port: 0 }\nops: { port: 0 }\nruntimes: ${line}\nroutes: [{ path: /mcp, public: true, runtime: mine }]\n`,
    );
    const gateway = shell('exec npx portcullis run -c hosted.yaml');
    await until('it serves', () => /"url":"(http[^"]+)"/.test(gateway.output), 20_000);
    const url = /"url":"(http[^"]+)"/.exec(gateway.output)?.[1];
    assert.match((await whole(`${url}/mcp`, INITIALIZE)).text, /"serverInfo":\{"name":"echo","version":"1\.0\.0"/);
    await gateway.stop();
  });
});
