import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.js';
import { RUNTIME_KINDS } from '../../src/config/schema/runtimes.js';
import { ConfigError } from '../../src/errors/error.js';
import { folderWith } from '../support/config-files.js';
import { upstream } from '../support/upstream-config.js';

/** The example of the configuration contract: a config written to it must load for ever. `@` stands for the folder of the secrets. */
const TEXT = `# yaml-language-server: $schema=./portcullis.schema.json
listener:
  host: 127.0.0.1                 # outside loopback without TLS: a warning at start, gates or not
  port: 8080                      # 0 picks one; the bound URL is logged and returned by the API
  public_url: https://mcp.example.com     # how clients see us
  trusted_proxies: []
  allowed_origins: []
  allowed_hosts: []
  cors: false
  chunked_requests: accept
  keep_alive: true
  sessions: { keys: ["\${file:@/session_key}"], ttl_s: 86400 }
  tls: { cert_file: cert.pem, key_file: key.pem, client_ca_file: ca.pem }
  gates: [edge]
  limits: {}
ops:
  host: 127.0.0.1
  port: 9090
gates:
  edge:  { use: ip-allow,        options: { allow: [10.0.0.0/8, 127.0.0.0/8] } }
  cert:  { use: mtls,            options: { source: xfcc, spiffe_trust_domains: [corp.example] } }
  token: { use: oauth-bearer,    options: { issuer: https://id.example.com, required_scopes: [mcp.read] } }
  team:  { use: principal-allow, options: { principals: ["https://id.example.com#alice"], groups: { claim: groups, any: [platform] } } }
  quota: { use: "npm:@acme/quota", timeout_ms: 250, options: {} }
runtimes:
  files:   { kind: proxied, url: http://127.0.0.1:3001/mcp, headers: { x-api-key: "\${file:@/files_key}" } }
  notes:   { kind: stdio,   command: node, args: [server.js], cwd: ., env: { NOTES_DIR: /data } }
  clock:   { kind: hosted,  module: ./clock-server.js }
  console: { kind: http,    url: http://127.0.0.1:3002 }
routes:
  - { path: /files/mcp, gates: [cert, token], runtime: files, forward_identity: { header: x-portcullis-identity } }
  - { path: /notes/mcp, gates: [token, team], runtime: notes }
  - { path: /clock/mcp, public: true, runtime: clock }
telemetry:
  log: { level: info, access: false }
  audit: { file: "-" }
`;
const { folder, remove } = folderWith({
  session_key: `${'k'.repeat(44)}\n`,
  files_key: 'f\n',
  'cert.pem': '',
  'key.pem': '',
  'ca.pem': '',
});
const whole = TEXT.replaceAll('@/', `${folder}/`);
const proxied = whole
  .split('\n')
  .filter((line) => !/kind: (stdio|hosted)|runtime: (notes|clock)/.test(line))
  .join('\n');

describe('the normative example', () => {
  after(remove);

  it('loads as far as runtimes over HTTP go', () => {
    const { folder: place, remove: end } = folderWith({ 'portcullis.yaml': proxied, 'cert.pem': '', 'key.pem': '', 'ca.pem': '' });
    try {
      const { config, warnings } = loadConfig('portcullis.yaml', { env: {}, cwd: place });
      assert.deepEqual(warnings, [
        'portcullis.yaml:21:3 gates.cert: takes certificates from a header, but listener.trusted_proxies is empty: name the TLS terminator there',
        'portcullis.yaml:23:3 gates.team: no route and no listener uses this gate',
        'portcullis.yaml:24:3 gates.quota: no route and no listener uses this gate',
        'portcullis.yaml:27:3 runtimes.console: no route ends at this runtime',
      ]);
      assert.deepEqual(config.listener.sessions, { keys: ['k'.repeat(44)], ttl_s: 86_400 });
      assert.deepEqual(config.gates.quota, { use: 'npm:@acme/quota', timeout_ms: 250, options: {} });
      assert.equal(upstream(config.runtimes.files).headers['x-api-key'], 'f');
      assert.deepEqual(config.routes, [
        {
          path: '/files/mcp',
          gates: ['cert', 'token'],
          public: false,
          runtime: 'files',
          sse: false,
          forward_identity: { header: 'x-portcullis-identity' },
        },
      ]);
    } finally {
      end();
    }
  });

  it('loads whole, but for the kinds of runtime that this build does not have', () => {
    const { folder: place, remove: end } = folderWith({
      'portcullis.yaml': whole,
      'clock-server.js': '',
      'cert.pem': '',
      'key.pem': '',
      'ca.pem': '',
    });
    const unknown = (kind: string, where: string) => (Object.hasOwn(RUNTIME_KINDS, kind) ? [] : [where]);
    let problems: readonly string[] = [];
    try {
      loadConfig('portcullis.yaml', { env: {}, cwd: place });
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      problems = error.problems.map(({ where }) => where);
    } finally {
      end();
    }
    assert.deepEqual(problems, [...unknown('stdio', 'runtimes.notes.kind'), ...unknown('hosted', 'runtimes.clock.kind')]);
  });
});
