import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { MTLS_SOURCES } from '../../src/cli/init/answers.js';
import { splitCommandLine } from '../../src/cli/init/command-line.js';
import { buildProgram, runProgram } from '../../src/cli/program.js';
import { issue } from '../gates/mtls/certificates.js';
import { type CliResult, cliIo, runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const { folder, remove } = folderWith({});
const FILE = join(folder, 'portcullis.yaml');
const UPSTREAM = ['--upstream', 'http://127.0.0.1:3001/mcp'];

const init = (...args: readonly string[]): Promise<CliResult> => runCli(['init', ...args], folder);
const written = (file = FILE) => parse(readFileSync(file, 'utf8'));

/** Runs `init` at a terminal where somebody gives these answers, and tells what was asked. */
async function answer(
  answers: readonly string[],
  args: readonly string[] = [],
): Promise<CliResult & { readonly asked: readonly string[] }> {
  let stdout = '';
  let stderr = '';
  const asked: string[] = [];
  const left = [...answers];
  const prompt = {
    async ask(question: string): Promise<string> {
      asked.push(question);
      const next = left.shift();
      if (next === undefined) throw Object.assign(new Error('gone'), { name: 'AbortError' });
      return next;
    },
    close: () => undefined,
  };
  const io = {
    ...cliIo({ env: {}, cwd: folder, stdout: (text) => void (stdout += text), stderr: (text) => void (stderr += text) }),
    openPrompt: () => prompt,
  };
  const code = await runProgram(buildProgram(io), ['init', ...args], io);
  assert.deepEqual(left, [], 'every answer was asked for');
  return { code, stdout, stderr, asked };
}

describe('init', () => {
  before(async () => {
    const { pem, key_pem } = await issue();
    for (const [name, text] of [
      ['tls.crt', pem],
      ['tls.key', key_pem],
      ['ca.crt', pem],
    ] as const)
      writeFileSync(join(folder, name), text);
  });
  beforeEach(() => {
    for (const name of ['portcullis.yaml', 'portcullis-key.sha256', 'sub.yaml']) rmSync(join(folder, name), { force: true });
  });
  after(remove);

  const tls = ['--cert-file', 'tls.crt', '--key-file', 'tls.key'];
  const oauth = ['--issuer', 'https://id.example.com'];
  const mtls = MTLS_SOURCES.map((source) =>
    source === 'direct'
      ? ['--mtls', source, ...tls, '--client-ca-file', 'ca.crt']
      : ['--mtls', source, '--trusted-proxy', '10.0.0.0/8', '--trusted-proxy', '127.0.0.1'],
  );
  const callers = [
    oauth,
    [...oauth, '--audience', 'https://mcp.example.com/mcp'],
    [...oauth, '--public-url', 'https://mcp.example.com', ...tls],
    ['--api-key'],
    ['--public'],
    ['--public', '--host', '0.0.0.0', '--port', '8081', '--ops-port', '9091', '--path', '/files/mcp'],
    ...mtls,
    ...mtls.map((flags) => [...flags, ...oauth]),
    ...mtls.map((flags) => [...flags, '--api-key']),
  ];
  const servers = [UPSTREAM, ['--command', `node server.js --name 'two words'`], ['--', 'node', 'server.js', '-x']];

  it('writes a file that is valid, for every combination of server and callers', async () => {
    for (const who of callers) {
      for (const server of servers) {
        const flags = [...who, '--force', ...server];
        const { code, stderr } = await init(...flags);
        assert.equal(code, 0, `${flags.join(' ')}: ${stderr}`);
        const validated = await runCli(['validate'], folder);
        assert.equal(validated.code, 0, `${flags.join(' ')}: ${validated.stderr}`);
      }
    }
  });

  it('puts what the flags say into the file, each choice with a comment', async () => {
    await init(...oauth, '--audience', 'https://a', '--host', '::1', '--port', '0', '--path', '/x', ...UPSTREAM);
    const { listener, gates, runtimes, routes } = written();
    assert.deepEqual([listener.host, listener.port], ['::1', 0]);
    assert.deepEqual(gates.token.options, { issuer: 'https://id.example.com', audience: 'https://a' });
    assert.deepEqual(runtimes.server, { kind: 'proxied', url: 'http://127.0.0.1:3001/mcp' });
    assert.deepEqual(routes, [{ path: '/x', gates: ['token'], runtime: 'server' }]);
    const text = readFileSync(FILE, 'utf8');
    assert.match(text, /^# yaml-language-server: \$schema=\S+config\/portcullis\.schema\.json\n/);
    for (const key of ['host', 'public_url', 'kind', 'issuer', 'audience', 'gates', 'path'])
      assert.match(text, new RegExp(`#[^\\n]*\\n +(?:# |- )?${key}:`), key);
  });

  it('keeps the words of a command apart', async () => {
    await init('--public', '--', 'npx', '-y', 'two words', '--', '${HOME:-x}');
    assert.deepEqual(written().runtimes.server, { kind: 'stdio', command: 'npx', args: ['-y', 'two words', '--', '${HOME:-x}'] });
  });

  it('makes an API key, shows it once and keeps only its SHA-256', async () => {
    const { stdout } = await init('--api-key', ...UPSTREAM);
    const key = /shown this once: (\S+)\n/.exec(stdout)?.[1] ?? '';
    assert.ok(key.length >= 43);
    assert.match(stdout, /Callers send it as the header x-api-key\./);
    const file = join(folder, 'portcullis-key.sha256');
    assert.equal(readFileSync(file, 'utf8'), `${createHash('sha256').update(key).digest('hex')}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!readFileSync(FILE, 'utf8').includes(key));
    const again = await init('--api-key', '--force', ...UPSTREAM);
    assert.match(again.stdout, /The API key is the one of portcullis-key\.sha256\./);
  });

  it('says what comes next', async () => {
    const { stdout } = await init('--public', ...UPSTREAM);
    assert.equal(stdout, 'Wrote portcullis.yaml.\n\nNext:\n  portcullis validate\n  portcullis run\n');
    const { stdout: other } = await init('--public', '-o', 'sub.yaml', ...UPSTREAM);
    assert.match(other, /portcullis validate -c sub\.yaml\n {2}portcullis run -c sub\.yaml\n$/);
  });

  it('--output - prints the config and nothing else', async () => {
    const { code, stdout } = await init('--public', '--output', '-', ...UPSTREAM);
    assert.equal(code, 0);
    assert.equal(parse(stdout).routes[0].public, true);
    assert.ok(!existsSync(FILE));
  });

  it('never overwrites unless it is told to', async () => {
    writeFileSync(FILE, 'mine');
    const { code, stderr } = await init('--public', ...UPSTREAM);
    assert.deepEqual([code, stderr], [64, 'error: portcullis.yaml exists; --force overwrites it, --output FILE writes another\n']);
    assert.equal(readFileSync(FILE, 'utf8'), 'mine');
    const kept = await answer(['n'], ['--public', ...UPSTREAM]);
    assert.equal(kept.code, 64);
    assert.equal(readFileSync(FILE, 'utf8'), 'mine');
    const done = await answer(['y'], ['--public', ...UPSTREAM]);
    assert.equal(done.code, 0);
    assert.equal(written().routes[0].path, '/mcp');
  });

  it('without a terminal it says which flags are missing', async () => {
    const { code, stderr } = await init();
    assert.equal(code, 64);
    assert.equal(
      stderr,
      `error: standard input is not a terminal, so init cannot ask; add
  what stands behind the gateway: --upstream URL, --command LINE or -- COMMAND ARGS
  who may call: --issuer URL, --mtls SOURCE, --api-key or --public\n`,
    );
    assert.doesNotMatch((await init('--public')).stderr, /who may call/);
    assert.doesNotMatch((await init(...UPSTREAM)).stderr, /what stands behind/);
  });

  it('flags that contradict each other are a usage error, and nothing is written', async () => {
    for (const [args, says] of [
      [['--public', '--api-key'], /--public lets everybody in/],
      [[...oauth, '--api-key'], /a caller is identified once/],
      [['--audience', 'x', '--public'], /--audience needs --issuer/],
      [['--mtls', 'nginx'], /--mtls nginx needs --trusted-proxy/],
      [['--mtls', 'direct'], /--mtls direct needs --cert-file, --key-file and --client-ca-file/],
      [['--public', '--cert-file', 'tls.crt'], /--cert-file and --key-file go together/],
      [['--public', '--client-ca-file', 'ca.crt'], /--client-ca-file needs/],
      [['--public', '--command', "x 'y"], /give one of/],
      [['--issuer', 'http://id.example.com'], /issuer must be an https URL/],
      [['--public', '--path', 'x'], /must begin with \//],
      [['--public', '--port', 'x'], /a port is a number/],
      [['--api-key', '--path', 'x'], /must begin with \//],
    ] as const) {
      const { code, stderr } = await init(...args, ...UPSTREAM);
      assert.equal(code, 64, args.join(' '));
      assert.match(stderr, says);
      assert.ok(!existsSync(FILE) && !existsSync(join(folder, 'portcullis-key.sha256')), args.join(' '));
    }
    assert.match((await init('--public', '--command', "x 'y")).stderr, /a quote in it is not closed/);
    assert.match((await init('--public', '-o', 'absent/x.yaml', ...UPSTREAM)).stderr, /cannot be written \(ENOENT\)/);
  });

  it('asks what the flags leave open, again until an answer can be taken', async () => {
    const { code, asked } = await answer([
      '',
      'ftp://x',
      'http://127.0.0.1:1/mcp',
      '5',
      '1',
      'id.example.com',
      'https://id.example.com',
      '',
      '99999',
      '',
    ]);
    assert.equal(code, 0);
    assert.deepEqual(
      asked.filter((question) => question.startsWith('  ')).map((question) => question.split('\n')[0]),
      [
        '  needs an answer',
        '  must be a URL that begins with http:// or https://',
        '  answer 1, 2, 3 or 4',
        '  must be a URL that begins with http:// or https://',
        '  a port is a number up to 65535',
      ],
    );
    const { listener, gates, runtimes } = written();
    assert.deepEqual([listener.host, listener.port], ['127.0.0.1', 8080]);
    assert.equal(gates.token.options.issuer, 'https://id.example.com');
    assert.equal(runtimes.server.url, 'http://127.0.0.1:1/mcp');
  });

  it('asks for what certificates need', async () => {
    assert.equal((await answer(['node server.js', 'mtls', '', 'tls.crt', 'tls.key', 'ca.crt', '', ''])).code, 0);
    assert.deepEqual(written().listener.tls.client_ca_file, './ca.crt');
    assert.equal((await answer(['y', 'node server.js', '2', 'envoy', 'xfcc', 'x', '10.0.0.1', '', ''])).code, 0);
    assert.deepEqual(written().listener.trusted_proxies, ['10.0.0.1']);
    assert.equal((await answer(['3', '0.0.0.0', '80'], ['--force', ...UPSTREAM])).code, 0);
    assert.deepEqual(written().listener.host, '0.0.0.0');
    assert.equal((await answer(['public'], ['--force', '--port', '1', ...UPSTREAM])).code, 0);
  });

  it('a person who leaves ends it, and nothing is written', async () => {
    const { code, stderr } = await answer(['http://127.0.0.1:1/mcp']);
    assert.deepEqual([code, stderr], [64, 'error: no answer; nothing was written\n']);
    assert.ok(!existsSync(FILE));
  });

  it('a command line is split as a shell would, nothing expanded', () => {
    assert.deepEqual(splitCommandLine(` a  "b c" 'd\\e' f\\ g "" "h\\"i"$J `), ['a', 'b c', 'd\\e', 'f g', '', 'h"i$J']);
    assert.equal(splitCommandLine('a "b'), undefined);
    assert.equal(splitCommandLine('  '), undefined);
  });
});
