// What an operator does with the built program: init, validate, run, doctor; then doctor against each thing that can be broken.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { startDemoIssuer } from '../../src/demo/issuer.js';
import { issue } from '../gates/mtls/certificates.js';
import { type EverythingServer, freePort, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startCommand } from '../support/e2e/gateway.js';
import { type Shell, startShell } from '../support/e2e/shell.js';
import { repositoryPath } from '../support/repository.js';
import { closeServer, listen, startUpstream } from '../support/upstream.js';

const MAIN = `node ${repositoryPath('dist/src/main.js')}`;
let folder: string;
let everything: EverythingServer;
const running: (RunningGateway | Shell)[] = [];
const ending: (() => Promise<unknown>)[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-operator-'));
  everything = await startEverything();
});

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop('SIGTERM');
  for (const end of ending.splice(0)) await end();
});

after(async () => {
  await everything.child.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const shell = startShell(script, folder, env);
  return { code: await shell.ended, output: shell.output };
}

/** Runs doctor on a config text: exit 1, and a failed line that says so. */
async function sick(config: string, says: RegExp, args = ''): Promise<void> {
  writeFileSync(join(folder, 'sick.yaml'), config);
  const { code, output } = await run(`${MAIN} doctor -c sick.yaml ${args}`);
  assert.equal(code, 1, output);
  assert.match(output, says);
}

const place = async (): Promise<string> => `--port ${await freePort()} --ops-port ${await freePort()}`;
const behind = (more: string): string => `listener: { port: 2 }\n${more}`;
const served = (): string =>
  `runtimes: { up: { kind: proxied, url: "${everything.url}" } }\nroutes: [{ path: /mcp, public: true, runtime: up }]\n`;

describe('an operator', () => {
  it('goes from init over validate and run to a doctor who finds nothing, inside and outside', async () => {
    const init = await run(`${MAIN} init --public --upstream ${everything.url} ${await place()}`);
    assert.equal(init.code, 0, init.output);
    const validate = await run(`${MAIN} validate`);
    assert.match(validate.output, /^OK .*: 1 route, 0 gates, 1 runtime$/m);
    const doctor = await run(`${MAIN} doctor`);
    assert.equal(doctor.code, 0, doctor.output);
    assert.match(doctor.output, /^ok {4}route \/mcp legacy +mcp-servers\/everything /m);
    assert.match(doctor.output, / 0 to look at, 0 failed$/m);
    const gateway = await startCommand(['run', '-c', join(folder, 'portcullis.yaml')]);
    running.push(gateway);
    const outside = await run(`${MAIN} doctor --url ${gateway.url}/mcp --ops-url ${gateway.ops_url}`);
    assert.equal(outside.code, 0, outside.output);
    assert.match(outside.output, /^ok {4}ready +takes requests$/m);
  });

  it('finds the commands of docs/operators.md work', async () => {
    const block = /<!-- run by [^>]*-->\n\n```sh\n([\s\S]*?)```/.exec(readFileSync(repositoryPath('docs/operators.md'), 'utf8'))?.[1] ?? '';
    const script = block
      .replace('http://127.0.0.1:3001/mcp', `${everything.url} --force ${await place()}`)
      .replaceAll(/^portcullis/gm, MAIN);
    assert.equal(script.match(/main\.js/g)?.length, 3);
    const { code, output } = await run(`set -e\n${script}`);
    assert.equal(code, 0, output);
  });

  it('answers the questions of init at a terminal', async () => {
    const answers = `${everything.url}\\n4\\n\\n0\\n`;
    const { code, output } = await run(`(sleep 1; printf '${answers}'; sleep 2) | script -qec '${MAIN} init -o asked.yaml' /dev/null`);
    assert.equal(code, 0, output);
    assert.match(output, /Wrote asked\.yaml\./);
    assert.match(readFileSync(join(folder, 'asked.yaml'), 'utf8'), /^ {2}port: 0$/m);
    const left = await run(`(sleep 1; printf '\\004'; sleep 1) | script -qec '${MAIN} init -o left.yaml' /dev/null`);
    assert.match(left.output, /error: no answer; nothing was written/);
  });

  it('completes with the Tab key in zsh', { skip: spawnSync('zsh', ['--version']).status !== 0 }, async () => {
    writeFileSync(
      join(folder, 'tab.zsh'),
      `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "cd ${folder}; autoload -Uz compinit; compinit -u -D; portcullis() { ${MAIN} \\"\\$@\\"; }; source <(portcullis completion zsh); print rea''dy"
typeset -g seen=
wait_for() { local -i i; for ((i = 0; i < 100; i++)); do while zpty -r -t z more; do seen+=$more; done; [[ $seen == *$1* ]] && return; sleep 0.1; done; print "no $1 in $seen"; exit 1 }
wait_for ready
for pair in 'portcullis va|validate' 'portcullis doctor --gra|--grace-period' 'portcullis call --era le|legacy' 'portcullis init --mtls ng|nginx'; do
  zpty -w -n z "\${pair%|*}"$'\\t'
  wait_for "\${pair#*|}"
  zpty -w -n z $'\\x15'
done
zpty -d z
`,
    );
    const { code, output } = await run('zsh -f tab.zsh');
    assert.equal(code, 0, output);
  });

  it('guards a route by tokens, and doctor tries one', async () => {
    const issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: 'https://mcp.example.com/mcp', scopes: ['mcp.read'] });
    ending.push(() => issuer.close());
    writeFileSync(join(folder, 'token'), issuer.token);
    const init = `${MAIN} init -o guarded.yaml --issuer ${issuer.issuer} --public-url https://mcp.example.com --upstream ${everything.url} ${await place()}`;
    assert.equal((await run(init)).code, 0);
    const { code, output } = await run(`${MAIN} doctor -c guarded.yaml --token-file token`);
    assert.equal(code, 0, output);
    assert.match(output, /^ok {4}issuer http:\/\/127\.0\.0\.1:\d+ +metadata and keys are there: 1 key$/m);
    assert.match(output, /^ok {4}route \/mcp discovery +resource https:\/\/mcp\.example\.com\/mcp, /m);
    assert.match(output, /^ok {4}route \/mcp legacy +mcp-servers\/everything /m);
    assert.ok(!output.includes(issuer.token));
    await run(`${MAIN} doctor -c guarded.yaml --token-file token --json > report.json`);
    assert.equal(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')).ok, true);
  });
});

describe('doctor says what is broken', () => {
  it('the upstream, its TLS and its path', async () => {
    const { pem: cert, key_pem: key } = await issue({ ip: ['127.0.0.1'] });
    const tls = await startUpstream((_request, response) => void response.writeHead(405).end(), { cert, key });
    ending.push(() => tls.close());
    await sick(
      behind(served().replace(/url: "[^"]+"/, 'url: "http://127.0.0.1:1/mcp"')),
      /^fail {2}upstream up .*nothing listens there \(ECONNREFUSED\)$/m,
    );
    await sick(
      behind(served().replace(/url: "[^"]+"/, `url: "https://127.0.0.1:${tls.port}/mcp"`)),
      /^fail {2}upstream up .*self-signed|unknown CA/m,
    );
    await sick(behind(served().replace('/mcp" }', '/wrong" }')), /^fail {2}route \/mcp legacy .*404/m);
  });

  it('a child that cannot be started', async () => {
    await sick(
      behind('runtimes: { up: { kind: stdio, command: not-there-at-all } }\nroutes: [{ path: /mcp, public: true, runtime: up }]\n'),
      /^fail {2}runtime up +not-there-at-all could not be started \(ENOENT\)$/m,
    );
  });

  it('the issuer', async () => {
    const guarded = (issuer: string): string =>
      behind(`gates: { g: { use: oauth-bearer, options: { issuer: "${issuer}" } } }\n${served().replace('public: true', 'gates: [g]')}`);
    await sick(guarded('http://127.0.0.1:1'), /^fail {2}issuer http:\/\/127\.0\.0\.1:1 +nothing listens there/m);
    await sick(guarded(new URL(everything.url).origin), /^fail {2}issuer .* the issuer publishes no metadata$/m);
  });

  it('certificates that have ended, or have another name', async () => {
    const old = await issue({ not_before: '2020-01-01T00:00:00Z', not_after: '2021-01-01T00:00:00Z', dns: ['old.example.com'] });
    writeFileSync(join(folder, 'tls.crt'), old.pem);
    writeFileSync(join(folder, 'tls.key'), old.key_pem, { mode: 0o600 });
    const config = `listener: { port: 2, public_url: "https://mcp.example.com", tls: { cert_file: tls.crt, key_file: tls.key } }\n${served()}`;
    await sick(config, /^fail {2}certificates listener\.tls\.cert_file +the certificate has expired on /m);
    await sick(config, /^fail {2}certificates listener\.tls\.cert_file +is not for mcp\.example\.com/m);
    chmodSync(join(folder, 'tls.key'), 0o644);
    await sick(config, /^warn {2}files .*tls\.key holds a key or a secret, and every user/m);
  });

  it('the drain budget and the limit on open files', async () => {
    await sick(behind(served()), /^fail {2}drain +needs 10 s and has 9 s/m, '--grace-period 9');
    writeFileSync(join(folder, 'sick.yaml'), behind(served()));
    const { code, output } = await run(`ulimit -n 1000; ${MAIN} doctor -c sick.yaml`);
    assert.equal(code, 1, output);
    assert.match(output, /^fail {2}open files +1000 are allowed, fewer than 1024 connections/m);
  });

  it('a clock that is wrong', async () => {
    const late = createServer(
      (_request, response) => void response.writeHead(405, { date: new Date(Date.now() - 600_000).toUTCString() }).end(),
    );
    const port = await listen(late);
    ending.push(() => closeServer(late, []));
    await sick(
      behind(served().replace(/url: "[^"]+"/, `url: "http://127.0.0.1:${port}/mcp"`)),
      /^warn {2}clock +(?:599|60[01]) s ahead of 127\.0\.0\.1:\d+$/m,
    );
  });

  it('a config that does not load, with 78', async () => {
    writeFileSync(join(folder, 'sick.yaml'), 'listener: { prot: 1 }\n');
    const { code, output } = await run(`${MAIN} doctor -c sick.yaml`);
    assert.equal(code, 78);
    assert.match(output, /listener\.prot: unknown key; did you mean port\?/);
  });
});
