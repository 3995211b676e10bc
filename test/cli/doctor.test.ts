import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import type { Upstream } from '../support/upstream.js';

const { folder, remove } = folderWith({ token: 'not-a-good-token\n', 'two-tokens': 'a b', 'bad.yaml': 'listener: { prot: 1 }\n' });

describe('doctor', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startMcpUpstream();
    const config = (url: string) =>
      `listener: { port: 2 }\nruntimes: { up: { kind: proxied, url: "${url}" } }\nroutes: [{ path: /mcp, public: true, runtime: up }]\n`;
    writeFileSync(join(folder, 'portcullis.yaml'), config(`${upstream.url}/mcp`));
    writeFileSync(join(folder, 'down.yaml'), config('http://127.0.0.1:1/mcp'));
  });
  after(async () => {
    await upstream.close();
    remove();
  });

  it('a config that is all right ends with 0, one line a check', async () => {
    const { code, stdout, stderr } = await runCli(['doctor'], folder);
    assert.deepEqual([code, stderr], [0, '']);
    const lines = stdout.trimEnd().split('\n');
    for (const check of [
      'config',
      'files',
      'sessions',
      'certificates',
      'drain',
      'open files',
      'upstream up',
      'clock',
      'gateway',
      'route /mcp challenge',
      'route /mcp modern',
      'route /mcp legacy',
    ])
      assert.ok(
        lines.some((line) => line.startsWith(`ok    ${check} `)),
        `${check}\n${stdout}`,
      );
    assert.match(lines.at(-1) ?? '', /^13 ok, 0 to look at, 0 failed$/);
  });

  it('what is broken ends with 1, and a line says what to do', async () => {
    const { code, stdout } = await runCli(['doctor', '-c', 'down.yaml'], folder);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^fail {2}upstream up +http:\/\/127\.0\.0\.1:1\/mcp: nothing listens there \(ECONNREFUSED\)\n {6}Start it, or correct host and port\.$/m,
    );
  });

  it('--json is the same for programs', async () => {
    const { code, stdout } = await runCli(['doctor', '-c', 'down.yaml', '--json'], folder);
    assert.equal(code, 1);
    const { ok, checks } = JSON.parse(stdout);
    assert.equal(ok, false);
    assert.deepEqual(checks.find(({ check }: { check: string }) => check === 'upstream up')?.verdict, 'fail');
  });

  it('a config that cannot be used ends with 78, as JSON too', async () => {
    const plain = await runCli(['doctor', '-c', 'bad.yaml'], folder);
    assert.deepEqual([plain.code, plain.stdout], [78, '']);
    assert.match(plain.stderr, /bad\.yaml:1:13 listener\.prot: unknown key; did you mean port\?/);
    const { code, stdout } = await runCli(['doctor', '-c', 'bad.yaml', '--json'], folder);
    assert.equal(code, 78);
    assert.equal(JSON.parse(stdout).checks[0].check, 'config');
  });

  it('warnings of the config are told and fail nothing', async () => {
    const { code, stdout } = await runCli(['doctor'], folder, { TERMINATION_GRACE_PERIOD_SECONDS: 'soon' });
    assert.equal(code, 1);
    assert.match(stdout, /^warn {2}config +portcullis\.yaml:1:1 listener\.limits: TERMINATION_GRACE_PERIOD_SECONDS is not a whole number/m);
    assert.match(stdout, /^fail {2}drain /m);
    const given = await runCli(['doctor', '--grace-period', '12', '--pre-stop', '2'], folder);
    assert.match(given.stdout, /^ok {4}drain +needs 12 s and has 12 s/m);
  });

  it('what the command line says wrong is 64, and a token is never shown', async () => {
    for (const [args, says] of [
      [['--url', 'http://127.0.0.1:1/mcp', '-c', 'x'], /give --config or --url/],
      [['--ops-url', 'http://127.0.0.1:1'], /go with --url/],
      [['--url', 'mcp.example.com'], /--url is an http:\/\/ or https:\/\/ URL/],
      [['--token-file', 'absent'], /absent cannot be read \(ENOENT\)/],
      [['--token-file', 'two-tokens'], /two-tokens does not hold one token/],
      [['--certificate', 'token'], /token holds no certificate in PEM/],
      [['--certificate', 'token', '--url', 'http://127.0.0.1:1/mcp'], /--certificate goes with --config/],
      [['--timeout', '0'], /--timeout is at least 1/],
      [['--pre-stop', 'x'], /write a whole number/],
    ] as const) {
      const { code, stderr } = await runCli(['doctor', ...args], folder);
      assert.equal(code, 64, args.join(' '));
      assert.match(stderr, says);
    }
    const { stdout } = await runCli(['doctor', '--token-file', 'token', '--header', 'x-api-key: hunter2'], folder);
    assert.doesNotMatch(stdout, /not-a-good-token|hunter2/);
  });

  it('--url looks at a gateway that is not ours to configure', async () => {
    const { code, stdout } = await runCli(['doctor', '--url', 'http://127.0.0.1:1/mcp'], folder);
    assert.equal(code, 1);
    assert.match(stdout, /^fail {2}route \/mcp challenge +nothing listens there \(ECONNREFUSED\)$/m);
    const good = await runCli(['doctor', '--url', `${upstream.url}/mcp`], folder);
    assert.equal(good.code, 0, good.stdout);
  });
});
