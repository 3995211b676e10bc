import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { loadCheckedConfig } from '../../src/cli/checked-config.js';
import { printedFiles } from '../../src/print/printed.js';
import { issue } from '../gates/mtls/certificates.js';
import { folderWith } from '../support/config-files.js';
import { repositoryPath } from '../support/repository.js';

const FOLDER = repositoryPath('config/examples');
const NAMES = readdirSync(FOLDER).sort();
const KEY = 'a-session-key-of-more-than-32-characters\n';
const own = await issue();
const { folder, remove } = folderWith({
  session_key: KEY,
  session_key_before: `older-${KEY}`,
  files_key: 'files-key\n',
  'probe.sha256': `${'0'.repeat(64)}\n`,
  'tls.crt': own.pem,
  'tls.key': own.key_pem,
  'clients-ca.crt': own.pem,
  'internal-ca.crt': own.pem,
  ...Object.fromEntries(NAMES.map((name) => [name, inFolder(readFileSync(`${FOLDER}/${name}`, 'utf8'))])),
});
const env = { PUBLIC_URL: 'https://mcp.example.com', ISSUER: 'https://id.example.com', UPSTREAM: 'http://127.0.0.1:1/mcp' };
const PLAIN =
  'plaintext HTTP outside loopback, gates or not: tokens can be read on the way; set listener.tls, or keep this behind a TLS terminator on a private network';
const WARNINGS: Readonly<Record<string, readonly string[]>> = {
  'behind-a-load-balancer.yaml': [
    `behind-a-load-balancer.yaml:6:3 listener.host: ${PLAIN}`,
    'behind-a-load-balancer.yaml:19:8 ops.host: the ops listener does not authenticate callers and accepts a drain command: only a private network may reach it',
  ],
  'mtls-and-oauth.yaml': [`mtls-and-oauth.yaml:6:3 listener.host: ${PLAIN}`],
};

/** The secrets and certificates of the examples lie beside them here. */
function inFolder(text: string): string {
  return text.replaceAll(/\/(run\/secrets|etc\/portcullis\/tls)\//g, './');
}

describe('config/examples', () => {
  after(remove);
  const schema: object = JSON.parse(printedFiles()['config/portcullis.schema.json'] ?? '');
  const accepts = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);

  it('are all here', () => {
    assert.deepEqual(NAMES, [
      'behind-a-load-balancer.yaml',
      'direct-tls.yaml',
      'http-beside-mcp.yaml',
      'minimal.yaml',
      'mtls-and-oauth.yaml',
      'oauth.yaml',
      'public-dev.yaml',
      'several-routes.yaml',
      'tracing.yaml',
    ]);
  });

  for (const name of NAMES) {
    it(`${name} loads, names its schema and is accepted by editors as it is written`, async () => {
      const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
      assert.equal(text.split('\n', 1)[0], '# yaml-language-server: $schema=../portcullis.schema.json');
      const io = { env, cwd: folder, stdout: () => {}, stderr: () => {} };
      const { config, warnings } = await loadCheckedConfig({ config: name }, io);
      assert.ok(config.routes.length > 0);
      assert.deepEqual(warnings, WARNINGS[name] ?? []);
      assert.ok(accepts(parse(text)), JSON.stringify(accepts.errors));
    });
  }

  it('config/portcullis.yaml, which npm start serves, does so too', async () => {
    const file = repositoryPath('config/portcullis.yaml');
    const { warnings } = await loadCheckedConfig({ config: file }, { env: {}, cwd: folder, stdout: () => {}, stderr: () => {} });
    assert.deepEqual(warnings, []);
    assert.ok(accepts(parse(readFileSync(file, 'utf8'))), JSON.stringify(accepts.errors));
  });

  it('the editor schema refuses what the loader refuses', () => {
    const good = { runtimes: { a: { kind: 'proxied', url: 'u' } }, routes: [{ path: '/a', runtime: 'a' }] };
    assert.ok(accepts(good));
    for (const bad of [
      { ...good, listener: { prot: 1 } },
      { ...good, listener: { port: 'eighty' } },
      { ...good, listener: { limits: { max_connections: 0 } } },
      { ...good, runtimes: { a: { kind: 'proxied' } } },
      { ...good, runtimes: { a: { kind: 'nope', url: 'u' } } },
      { ...good, gates: { g: { use: 'ip-allow', options: { alow: [] } } } },
      { runtimes: {} },
    ]) {
      assert.ok(!accepts(bad), JSON.stringify(bad));
    }
  });
});
