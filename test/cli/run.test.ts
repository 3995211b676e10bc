import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../support/cli.js';
import { startCli } from '../support/cli-running.js';
import { folderWith } from '../support/config-files.js';
import { freePort } from '../support/e2e/everything-server.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { tool, whole } from '../support/send.js';
import { closeServer, listen, type Upstream } from '../support/upstream.js';

let upstream: Upstream;
let occupier: Server;
let taken: number;
let files: ReturnType<typeof folderWith>;

const yaml = (listener: number, ops: number, more = ''): string =>
  `listener: { port: ${listener} }\nops: { port: ${ops} }\nruntimes: { s: { kind: proxied, url: "\${U}" } }\nroutes:\n  - { path: /mcp, public: true, runtime: s }\n${more}`;

before(async () => {
  upstream = await startMcpUpstream();
  occupier = createServer();
  taken = await listen(occupier);
  files = folderWith({
    'portcullis.yaml': yaml(0, 0),
    'taken.yaml': yaml(taken, 0),
    'ops-taken.yaml': yaml(0, taken),
    'elsewhere.yaml': yaml(0, 0).replace('port: 0', 'host: 192.0.2.1, port: 0'),
    'tls.yaml': yaml(0, 0).replace('port: 0', 'port: 0, tls: { cert_file: junk, key_file: junk }'),
    junk: 'junk',
    'refusing.mjs':
      "export const gate = { name: 'refusing', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => { throw new Error('no database'); } };\n",
    'refusing.yaml': `${yaml(0, 0).replace('public: true', 'gates: [g]')}gates:\n  g: { use: "file:./refusing.mjs" }\n`,
  });
});

after(async () => {
  files.remove();
  await closeServer(occupier, []);
  await upstream.close();
});

const env = () => ({ U: `${upstream.url}/mcp` });
const LISTENS = /"url":"(http[^"]+)".*"ops":"(http[^"]+)".*listens on/;

describe('portcullis run', () => {
  it('serves a file until a signal, which drains and ends with 0', async () => {
    const run = startCli(['run'], files.folder, env());
    const [, url, ops] = await run.says(LISTENS);
    assert.equal((await whole(`${url}/mcp`, tool('echo'))).status, 200);
    assert.equal((await whole(`${ops}/readyz`)).status, 200);
    assert.equal(run.listening, true);
    run.signal('SIGTERM');
    assert.equal(await run.ended, 0);
    assert.deepEqual([run.listening, run.stderr], [false, '']);
    const messages = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).message);
    assert.deepEqual(messages.slice(-3), ['SIGTERM: draining; a second signal ends at once', 'drain begins', 'drain done']);
  });

  it('fronts one URL without a file, on the ports that are asked for', async () => {
    const run = startCli(['run', `${upstream.url}/mcp`, '--port', '0', '--ops-port', '0'], files.folder);
    const [, url] = await run.says(LISTENS);
    assert.match(url ?? '', /^http:\/\/127\.0\.0\.1:/);
    assert.equal((await whole(`${url}/mcp`, tool('echo'))).status, 200);
    run.signal('SIGINT');
    assert.equal(await run.ended, 0);
    assert.match(run.stdout, /SIGINT: draining/);
  });

  it('a second signal does not wait for calls', async () => {
    const run = startCli(['run'], files.folder, env());
    const [, url] = await run.says(LISTENS);
    const seen = upstream.seen.length;
    const call = whole(`${url}/mcp`, tool('slow', { ms: 60_000 })).catch((error) => error.code);
    while (upstream.seen.length === seen) await new Promise((resolve) => setTimeout(resolve, 5));
    run.signal('SIGTERM');
    await run.says(/drain begins/);
    run.signal('SIGTERM');
    assert.equal(await run.ended, 0);
    assert.equal(await call, 'ECONNRESET');
  });

  it('denials, failed calls and access lines are written whatever the level is', async () => {
    const port = await freePort();
    const silent = {
      listener: { port },
      ops: { enabled: false },
      runtimes: { s: { kind: 'proxied', url: '${U}' }, gone: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
      routes: [
        { path: '/mcp', public: true, runtime: 's' },
        { path: '/gone', public: true, runtime: 'gone' },
      ],
      telemetry: { log: { level: 'error', access: true } },
    };
    writeFileSync(`${files.folder}/silent.yaml`, JSON.stringify(silent));
    const run = startCli(['run', '-c', 'silent.yaml'], files.folder, env());
    const url = `http://127.0.0.1:${port}`;
    await until('it serves', () =>
      whole(`${url}/mcp`, tool('echo')).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    await whole(`${url}/nowhere`, tool('echo'));
    await whole(`${url}/gone`, tool('echo'));
    run.signal('SIGTERM');
    assert.equal(await run.ended, 0);
    const lines = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const told = lines.filter(({ code }) => code !== 'DRAINING').map(({ message, code }) => `${message} ${code}`);
    assert.ok(told.includes('request refused NO_ROUTE') && told.includes('call failed UPSTREAM_UNREACHABLE'), told.join(', '));
    assert.ok(
      lines.some(({ level, message }) => level === 'info' && message === 'request'),
      run.stdout,
    );
    assert.doesNotMatch(run.stdout, /listens on|drain begins|draining/);
  });

  it('a hangup puts the changed file in force, and keeps the old one when the new one cannot be used', async () => {
    const file = `${files.folder}/reloaded.yaml`;
    writeFileSync(file, yaml(0, 0));
    const run = startCli(['run', '-c', 'reloaded.yaml'], files.folder, env());
    const [, url] = await run.says(LISTENS);
    const statuses = async () => Promise.all(['/mcp', '/new'].map(async (path) => (await whole(url + path, tool('echo'))).status));
    assert.deepEqual(await statuses(), [200, 404]);
    writeFileSync(file, yaml(0, 0, '  - { path: /new, public: true, runtime: s }\n'));
    run.hangup();
    await run.says(/the new config is in force/);
    assert.deepEqual(await statuses(), [200, 200]);
    writeFileSync(file, yaml(0, 0, '  - { path: /newer, runtime: s }\n'));
    run.hangup();
    await run.says(/reloaded\.yaml:6:\d+ routes\[1\] \(\/newer\): a route without gates/);
    assert.deepEqual(await statuses(), [200, 200]);
    run.signal('SIGTERM');
    assert.equal(await run.ended, 0);
  });

  it('an address that cannot be bound is 69, and says which and what to do', async () => {
    const url = `${upstream.url}/mcp`;
    const busy = `127.0.0.1:${taken} is in use by another process`;
    const in_file = 'choose another listener.port or ops.port';
    for (const [args, stderr] of [
      [['run', '-c', 'taken.yaml'], `${busy}: ${in_file}\n`],
      [['run', '-c', 'ops-taken.yaml'], `${busy}: ${in_file}\n`],
      [['run', url, '--port', String(taken), '--ops-port', '0'], `${busy}: choose others with --port and --ops-port\n`],
      [['run', '-c', 'elsewhere.yaml'], `192.0.2.1:0 cannot be bound (EADDRNOTAVAIL): ${in_file}\n`],
    ] as const) {
      const result = await runCli(args, files.folder, env());
      assert.deepEqual([result.code, result.stderr], [69, stderr], args.join(' '));
    }
  });

  it('a command line that makes no sense is 64, and says what would', async () => {
    const url = 'http://127.0.0.1:1/mcp';
    for (const [args, stderr] of [
      [['run', 'ftp://x'], /^error: "ftp:\/\/x" is not an http:\/\/ or https:\/\/ URL of an MCP server; a command goes after --\n/],
      [['run', '--port', '1'], /^error: --host, --port and --ops-port go without a config file, which has listener\.host/],
      [['run', url, '-c', 'portcullis.yaml'], /^error: give one of: a URL, -- COMMAND, --mcp-servers, --config\n/],
      [
        ['run', url, '--port', '65536'],
        /^error: option '--port <port>' argument '65536' is invalid\. a port is a number from 0 to 65535\./,
      ],
      [['run', url, '--ops-port', '-1'], /^error: option '--ops-port <port>' argument '-1' is invalid/],
      [['run', url, url], /^error: more than one argument; a command goes after --/],
    ] as const) {
      const result = await runCli(args, files.folder, env());
      assert.equal(result.code, 64, args.join(' '));
      assert.match(result.stderr, stderr);
      assert.equal(result.stdout, '');
    }
  });

  it('a config that cannot be served is 78, with the place of each problem', async () => {
    for (const [file, stderr] of [
      ['portcullis.yaml', /^portcullis\.yaml:3:\d+ runtimes\.s\.url: environment variable U is not set/],
      [
        'tls.yaml',
        /^tls\.yaml:1:\d+ listener\.tls\.cert_file: the file holds no certificate: .*\n.*\n.*\n(?:.*\n)*tls\.yaml:1:\d+ listener\.tls\.key_file: /,
      ],
      ['refusing.yaml', /^refusing\.yaml:7:3 gates\.g: could not be opened for \/mcp: no database\n/],
      ['absent.yaml', /^absent\.yaml does not exist: name a config with -c FILE/],
    ] as const) {
      const result = await runCli(['run', '-c', file], files.folder, file === 'portcullis.yaml' ? {} : env());
      assert.equal(result.code, 78, `${file}: ${result.stderr}`);
      assert.match(result.stderr, stderr);
      assert.match(result.stderr, /\n[12] problems? in the configuration\n$/);
    }
  });
});
