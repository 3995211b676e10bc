import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import { CliExit, EXIT } from '../../src/cli/exit.js';
import { buildProgram, runProgram } from '../../src/cli/program.js';
import { version } from '../../src/version.js';
import { cliIo, runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const GOOD =
  'listener: { host: 0.0.0.0 }\nruntimes:\n  a: { kind: proxied, url: "http://127.0.0.1:1/mcp", headers: { x-api-key: "${KEY:-hunter2}" } }\nroutes:\n  - { path: /a/mcp, public: true, runtime: a }\n';
const { folder, remove } = folderWith({
  'portcullis.yaml': GOOD,
  'sub/other.yaml': GOOD,
  'bad.yaml': `${GOOD}opps: {}\n`,
  'both.yaml': `listener: { prot: 1 }
gates:
  edge: { use: ip-allow, options: { alow: [], allow: [127.0.0.1] } }
  rate: { use: rate, options: { limit: "\${LIMIT}", by: ip } }
  quota: { use: rate, options: { by: ip } }
runtimes: { a: { kind: proxied, url: "http://127.0.0.1:1/mcp" } }
routes:
  - { path: /a, gates: [quota], runtime: a }
  - { path: /b, gates: [quota, edg], runtime: a }
`,
  'contradicting.yaml': `gates:
  net: { use: ip-allow, options: { allow: [10.0.0.1/8] } }
  who: { use: principal-allow, options: {} }
  token: { use: oauth-bearer, options: { issuer: "http://id.example.com" } }
  ask: { use: forward-auth, options: { url: "http://127.0.0.1:1/", request_headers: [host] } }
runtimes:
  a: { kind: proxied, url: "http://127.0.0.1:1/mcp" }
routes:
  - { path: /a, gates: [net, token], runtime: a }
  - { path: /b, gates: [ask], runtime: a }
`,
  'gates.yaml': `gates:
  typo: { use: ip-alow }
  edge: { use: ip-allow, options: { alow: [127.0.0.1] } }
  away: { use: "npm:@acme/absent" }
runtimes:
  a: { kind: proxied, url: "http://127.0.0.1:1/mcp" }
routes:
  - { path: /a, gates: [typo, edge, away], runtime: a }
`,
});
const HINT = '(portcullis --help lists the commands, portcullis COMMAND --help their options)\n';

describe('command line', () => {
  after(remove);

  it('--version prints the version', async () => {
    assert.deepEqual(await runCli(['--version'], folder), { code: 0, stdout: `${version}\n`, stderr: '' });
    assert.match(version, /^\d+\.\d+\.\d+/);
  });

  it('--help lists the commands on standard output', async () => {
    const { code, stdout, stderr } = await runCli(['--help'], folder);
    assert.deepEqual([code, stderr], [0, '']);
    for (const command of ['validate', 'print-config']) assert.match(stdout, new RegExp(`^ +${command} `, 'm'));
  });

  it('usage errors are 64, on standard error, and say what to do', async () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['validat'], `error: unknown command 'validat'\n(Did you mean validate?)\n${HINT}`],
      [['validate', '--conf', 'x'], `error: unknown option '--conf'\n(Did you mean --config?)\n${HINT}`],
      [['validate', 'x'], `error: too many arguments for 'validate'. Expected 0 arguments but got 1.\n${HINT}`],
      [['validate', '-c'], `error: option '-c, --config <file>' argument missing\n${HINT}`],
    ];
    for (const [args, stderr] of cases) {
      const result = await runCli(args, folder);
      assert.equal(result.code, 64, args.join(' '));
      assert.equal(result.stdout, '');
      assert.equal(result.stderr, stderr);
    }
    const nothing = await runCli([], folder);
    assert.deepEqual([nothing.code, nothing.stdout], [64, '']);
    assert.match(nothing.stderr, /^Usage: portcullis /);
  });

  it('validate says what is there, warnings apart', async () => {
    assert.deepEqual(await runCli(['validate'], folder), {
      code: 0,
      stdout: `OK ${folder}/portcullis.yaml: 1 route, 0 gates, 1 runtime\n`,
      stderr:
        'warning: portcullis.yaml:1:13 listener.host: plaintext HTTP outside loopback, gates or not: tokens can be read on the way; set listener.tls, or keep this behind a TLS terminator on a private network\n',
    });
  });

  it('validate tells every problem and returns 78', async () => {
    const { code, stdout, stderr } = await runCli(['validate', '-c', 'bad.yaml'], folder);
    assert.deepEqual([code, stdout], [78, '']);
    assert.equal(stderr, 'bad.yaml:6:1 opps: unknown key; did you mean ops?\n  opps: {}\n  ^\n1 problem in the configuration\n');
  });

  it('validate refuses what a start refuses: options that no schema can judge', async () => {
    const { code, stderr } = await runCli(['validate', '-c', 'contradicting.yaml'], folder);
    assert.equal(code, 78);
    const told = stderr.split('\n').filter((line) => line.includes('contradicting.yaml:'));
    assert.deepEqual(
      told.map((line) => line.slice(line.indexOf('gates.'))),
      [
        'gates.net.options: "10.0.0.1/8" has bits beside its prefix; write 10.0.0.0/8, or 10.0.0.1 for the one address',
        'gates.who.options: no list has an entry, so everybody would pass; fill at least one',
        'gates.token.options: issuer must be an https URL without credentials (http only for a loopback host), found "http://id.example.com"',
        'gates.ask.options: header host is set by the gateway; remove it from request_headers and headers',
      ],
    );
  });

  it('validate looks into the gates: their modules, options and order', async () => {
    const { code, stderr } = await runCli(['validate', '-c', 'gates.yaml'], folder);
    assert.equal(code, 78);
    const places = stderr.split('\n').filter((line) => line.startsWith('gates.yaml'));
    assert.deepEqual(
      places.map((line) => line.split(': ', 1)[0]),
      [
        'gates.yaml:2:16 gates.typo.use',
        'gates.yaml:3:26 gates.edge.options.allow',
        'gates.yaml:3:37 gates.edge.options.alow',
        'gates.yaml:4:16 gates.away.use',
      ],
    );
    assert.match(places[0] ?? '', /did you mean ip-allow\?/);
    assert.equal(places[2], 'gates.yaml:3:37 gates.edge.options.alow: unknown key; did you mean allow?');
    assert.match(places[3] ?? '', /@acme\/absent/);
    assert.match(stderr, /\n {2} {2}edge: \{ use: ip-allow, options: \{ alow: \[127\.0\.0\.1\] \} \}\n {38}\^\n/);
  });

  it('validate tells problems of the config and of its gates at once, in the order of the file', async () => {
    const { code, stderr } = await runCli(['validate', '-c', 'both.yaml'], folder);
    assert.equal(code, 78);
    assert.deepEqual(
      stderr
        .split('\n')
        .filter((line) => line.startsWith('both.yaml'))
        .map((line) => line.split(': ', 1)[0]),
      [
        'both.yaml:1:13 listener.prot',
        'both.yaml:3:37 gates.edge.options.alow',
        'both.yaml:4:40 gates.rate.options.limit',
        'both.yaml:8:17 routes[0] (/a).gates',
        'both.yaml:9:32 routes[1] (/b).gates[1]',
      ],
    );
    assert.match(stderr, /\n5 problems in the configuration\n$/);
  });

  it('the file is named by -c, then PORTCULLIS_CONFIG, then the default', async () => {
    const named = async (args: readonly string[], env: Readonly<Record<string, string>>) =>
      (await runCli(['validate', ...args], folder, env)).stdout.split(':')[0];
    assert.equal(await named([], {}), `OK ${folder}/portcullis.yaml`);
    assert.equal(await named([], { PORTCULLIS_CONFIG: 'sub/other.yaml' }), `OK ${folder}/sub/other.yaml`);
    assert.equal(await named([], { PORTCULLIS_CONFIG: '' }), `OK ${folder}/portcullis.yaml`);
    assert.equal(await named(['-c', 'portcullis.yaml'], { PORTCULLIS_CONFIG: 'sub/other.yaml' }), `OK ${folder}/portcullis.yaml`);
    assert.deepEqual(await runCli(['validate'], `${folder}/sub`), {
      code: 78,
      stdout: '',
      stderr:
        'portcullis.yaml does not exist: name a config with -c FILE or PORTCULLIS_CONFIG, or write one with portcullis init\n1 problem in the configuration\n',
    });
  });

  it('print-config shows what is in force and no secret', async () => {
    const { code, stdout, stderr } = await runCli(['print-config'], folder, { KEY: 'hunter3' });
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(parse(stdout).runtimes, {
      a: {
        kind: 'proxied',
        url: 'http://127.0.0.1:1/mcp',
        headers: { 'x-api-key': '***' },
        connections: 1024,
        connection_max_age_ms: 300_000,
        max_waiting: 256,
        max_event_bytes: 8_000_000,
        transport: 'http',
        protocol: 'auto',
        bridge: {
          probe_timeout_ms: 5000,
          era_ttl_ms: 300_000,
          max_sessions: 256,
          max_sessions_per_caller: 8,
          session_idle_ms: 300_000,
          max_held: 1024,
          max_held_per_caller: 16,
          hold_ttl_ms: 300_000,
        },
        tasks: 'bind',
      },
    });
    assert.ok(!stdout.includes('hunter'));
    assert.equal((await runCli(['print-config', '-c', 'bad.yaml'], folder)).code, 78);
  });

  it('a command chooses its exit code by CliExit; what is unforeseen is thrown', async () => {
    let stderr = '';
    const io = cliIo({ env: {}, cwd: folder, stdout: () => {}, stderr: (text: string) => void (stderr += text) });
    const program = buildProgram(io);
    program.command('boom').action(() => {
      throw new CliExit(EXIT.unavailable, 'the port is taken');
    });
    program.command('bug').action(() => {
      throw new TypeError('bug');
    });
    assert.equal(await runProgram(program, ['boom'], io), 69);
    assert.equal(stderr, 'the port is taken\n');
    await assert.rejects(runProgram(program, ['bug'], io), new TypeError('bug'));
  });
});
