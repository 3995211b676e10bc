import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import { issue } from '../gates/mtls/certificates.js';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const KEY = 'key-5309';
let issuer: DemoIssuer;
let files: ReturnType<typeof folderWith>;

before(async () => {
  const audience = 'https://mcp.example.com/mcp';
  issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience, scopes: ['mcp.read'] });
  files = folderWith({
    'portcullis.yaml': `listener: { public_url: https://mcp.example.com, trusted_proxies: [10.0.0.1] }
gates:
  edge: { use: ip-allow, options: { allow: [192.0.2.0/24, 127.0.0.1] } }
  token: { use: oauth-bearer, options: { issuer: "${issuer.issuer}" } }
  key: { use: api-key, options: { keys: [{ name: probe, sha256: ${createHash('sha256').update(KEY).digest('hex')} }] } }
  cert: { use: mtls, options: { source: traefik } }
runtimes: { s: { kind: proxied, url: "http://127.0.0.1:1/mcp" } }
routes:
  - { path: /mcp, gates: [edge, token], runtime: s }
  - { path: /keyed/mcp, gates: [edge, key], runtime: s }
  - { path: /cert/mcp, gates: [cert], runtime: s }
`,
    'bad.yaml': 'runtimes: {}\nroutes: []\n',
    token: `${issuer.token}\n`,
    'cert.pem': (await issue({ subject: 'CN=client', not_before: '2020-01-01T00:00:00Z', not_after: '2099-01-01T00:00:00Z' })).pem,
  });
});

after(async () => {
  files.remove();
  await issuer.close();
});

const explain = (...args: string[]) => runCli(['explain', ...args], files.folder);
/** Without what takes its time. */
const timeless = (text: string): string => text.replaceAll(/\(\d+\.\d ms\)/g, '(ms)');

describe('portcullis explain', () => {
  it('tells step by step why a request is refused, what to do about it, and ends with 1', async () => {
    const { code, stdout, stderr } = await explain('--route', '/mcp');
    assert.deepEqual([code, stderr], [1, '']);
    assert.equal(
      timeless(stdout),
      `✓ route                ok (ms)
✓ edge                 pass (ms)
✗ token                refuse TOKEN_REQUIRED (ms)

REFUSED 401 TOKEN_REQUIRED
  An access token is required.
  Get a token from an authorization server of the resource metadata and send Authorization: Bearer TOKEN.
  www-authenticate: Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
  cache-control: no-store
`,
    );
  });

  it('tells who is admitted, and ends with 0; the token stays unsaid', async () => {
    const { code, stdout } = await explain('--route', '/mcp', '--token-file', 'token', '--address', '192.0.2.7', '--via', '10.0.0.1');
    assert.equal(code, 0);
    assert.match(
      timeless(stdout),
      new RegExp(
        `^✓ route {16}ok \\(ms\\)\n✓ edge {17}pass \\(ms\\)\n✓ token {16}identify \\(ms\\)\n\nADMITTED\n {2}Every gate of https://mcp\\.example\\.com/mcp passed; the caller is ${issuer.issuer}#demo-user\\.\n {2}issuer ${issuer.issuer}, principal demo-user, client demo-user\n {2}scopes mcp\\.read, until \\d{4}-.*Z\n`,
      ),
    );
    for (const part of issuer.token.split('.')) assert.equal(stdout.includes(part), false);
  });

  it('prints the same as JSON', async () => {
    const { code, stdout } = await explain('--route', '/keyed/mcp', '--header', `X-Api-Key: ${KEY}`, '--json');
    const { steps, outcome, identity } = JSON.parse(stdout);
    assert.equal(code, 0);
    assert.deepEqual(
      [steps.map(({ by }: { by: string }) => by), outcome, identity.principal],
      [['route', 'edge', 'key'], 'admitted', 'probe'],
    );
    assert.equal(stdout.includes(KEY), false);
  });

  it('takes a certificate as the terminator in front hands it over', async () => {
    assert.match((await explain('--route', '/cert/mcp', '--certificate', 'cert.pem', '--via', '10.0.0.1')).stdout, /principal CN=client\n/);
    const { code, stdout } = await explain('--route', '/cert/mcp', '--certificate', 'cert.pem');
    assert.deepEqual([code, /REFUSED 403 CLIENT_CERTIFICATE_REQUIRED/.test(stdout)], [1, true]);
  });

  it('a question that makes no sense is 64, a config that cannot be used 78', async () => {
    for (const [args, code, stderr] of [
      [['--token-file', 'token'], 64, /^error: required option '--route <path>' not specified/],
      [['--route', '/mcp', '--token-file', 'absent'], 64, /^error: absent cannot be read \(ENOENT\)\n$/],
      [['--route', '/mcp', '--certificate', 'token'], 64, /^error: token holds no certificate in PEM\n$/],
      [['--route', '/mcp', '--address', '10.0.0.0/8'], 64, /write one IPv4 or IPv6 address/],
      [['--route', '/mcp', '--via', 'proxy'], 64, /write one IPv4 or IPv6 address/],
      [['--route', '/mcp', '--header', 'x'], 64, /write a field as name:value/],
      [['--route', '/mcp', '-c', 'bad.yaml'], 78, /^bad\.yaml:/],
    ] as const) {
      const result = await explain(...args);
      assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
      assert.match(result.stderr, stderr);
      assert.equal(result.stderr.includes(issuer.token), false);
    }
  });
});
