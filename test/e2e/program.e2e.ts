// The built program as its reader meets it: every example validates, and each way to end has its code and its words.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { issue } from '../gates/mtls/certificates.js';
import { startShell } from '../support/e2e/shell.js';
import { repositoryPath } from '../support/repository.js';
import { closeServer, listen } from '../support/upstream.js';

const MAIN = `node ${repositoryPath('dist/src/main.js')}`;
let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-program-'));
});

after(() => rmSync(folder, { recursive: true, force: true }));

function writeAll(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

describe('the program', () => {
  it('validates every example of config/examples as it is written, its files in a folder of the test', async () => {
    const names = readdirSync(repositoryPath('config/examples')).filter((name) => name.endsWith('.yaml'));
    const { pem, key_pem } = await issue();
    const key = 'a-session-key-of-more-than-32-characters\n';
    const moved = (text: string): string => text.replaceAll(/\/(?:run\/secrets|etc\/portcullis\/tls)\//g, './');
    const examples = names.map((name) => [`examples/${name}`, moved(readFileSync(repositoryPath(`config/examples/${name}`), 'utf8'))]);
    const secrets = {
      session_key: key,
      session_key_before: `older-${key}`,
      files_key: 'files-key\n',
      'probe.sha256': `${'0'.repeat(64)}\n`,
    };
    const certificates = { 'tls.crt': pem, 'tls.key': key_pem, 'clients-ca.crt': pem, 'internal-ca.crt': pem };
    const beside = Object.entries({ ...secrets, ...certificates }).map(([name, text]) => [`examples/${name}`, text]);
    writeAll(Object.fromEntries([...examples, ...beside]));
    const env = { PUBLIC_URL: 'https://mcp.example.com', ISSUER: 'https://id.example.com', UPSTREAM: 'http://127.0.0.1:1/mcp' };
    const run = startShell(`set -e\nfor file in *.yaml; do ${MAIN} validate -c "$file"; done`, join(folder, 'examples'), env);
    assert.equal(await run.ended, 0, run.output);
    assert.deepEqual(
      run.output.match(/^OK .*\/([\w-]+\.yaml): /gm)?.map((line) => line.split('/').at(-1)),
      names.map((name) => `${name}: `),
    );
  });

  it('ends with 0, 64, 69 or 78, and says why', async () => {
    const occupier = createServer();
    const taken = await listen(occupier);
    writeAll({ 'wrong.yaml': 'listener: { prot: 1 }\nruntimes: {}\nroutes: []\n' });
    try {
      for (const [script, wanted, says] of [
        ['--version', 0, /^\d+\.\d+\.\d+\n$/],
        ['run --help', 0, /^Usage: portcullis run/],
        ['rum', 64, /^error: unknown command 'rum'\n\(Did you mean run\?\)\n/],
        ['run file:///x', 64, /^error: "file:\/\/\/x" is not an http:\/\/ or https:\/\/ URL of an MCP server/],
        [
          `run http://127.0.0.1:1/mcp --port ${taken} --ops-port 0`,
          69,
          /^127\.0\.0\.1:\d+ is in use by another process: choose others with --port and --ops-port\n$/m,
        ],
        [
          'run -c wrong.yaml',
          78,
          /^wrong\.yaml:1:13 listener\.prot: unknown key; did you mean port\?\n {2}listener: \{ prot: 1 \}\n {14}\^\n/,
        ],
        ['run -c absent.yaml', 78, /^absent\.yaml does not exist: name a config with -c FILE or PORTCULLIS_CONFIG/],
      ] as const) {
        const run = startShell(`${MAIN} ${script}`, folder);
        const code = await run.ended;
        assert.equal(code, wanted, `${script}: ${run.output}`);
        assert.match(run.output, says);
      }
    } finally {
      await closeServer(occupier, []);
    }
  });
});
