import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { NO_PROXY } from '../../src/contract/egress.js';
import { runHttpCheck } from '../../src/doctor/http-check.js';
import { checkIssuers } from '../../src/doctor/issuers.js';
import { checkAudiences } from '../../src/doctor/login.js';
import { type FakeIssuer, json, makeKey, startIssuer } from '../gates/oauth-bearer/support/fake-issuer.js';
import { folderWith } from '../support/config-files.js';
import { startUpstream } from '../support/upstream.js';

const { folder, remove } = folderWith({});
const PUBLIC = 'https://mcp.example.com';
const S256 = { code_challenge_methods_supported: ['plain', 'S256'] };
const CIMD = { client_id_metadata_document_supported: true };
const DCR = { registration_endpoint: 'https://id.example.com/register' };

const NO_S256 = 'its metadata does not name S256 in code_challenge_methods_supported, and MCP clients refuse to log in then';
const NO_CLIENTS = 'it takes neither client id metadata documents nor dynamic registration, so a client cannot introduce itself';
const LATE =
  'clients that register themselves may get no more scopes than their first challenge names, and that of gate g leaves out tool_scopes';
const TOOLS = { tool_scopes: { 'write_*': ['mcp.write'] } };

describe('doctor, what clients need to log in', () => {
  const issuers: FakeIssuer[] = [];
  afterEach(async () => {
    for (const issuer of issuers.splice(0)) await issuer.close();
  });
  after(remove);

  const load = (options: object, more: object = {}) =>
    resolveConfig(
      {
        listener: { public_url: PUBLIC },
        gates: { g: { use: 'oauth-bearer', options } },
        runtimes: { up: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
        routes: [{ path: '/mcp', gates: ['g'], runtime: 'up' }],
        ...more,
      },
      { folder },
    );

  async function issuer(metadata: object = {}): Promise<FakeIssuer> {
    const started = await startIssuer();
    issuers.push(started);
    const { url, jwks_uri } = started;
    started.answers.set(
      '/.well-known/oauth-authorization-server',
      json(() => ({ issuer: url, jwks_uri, ...metadata })),
    );
    return started;
  }

  /** What is to be looked at; what is in order is left out. */
  async function found(options: object): Promise<readonly string[]> {
    const findings = await Promise.all(checkIssuers(load(options)).map(({ run }) => run(new AbortController().signal)));
    for (const { verdict, remedy } of findings.flat()) assert.equal(remedy === undefined, verdict === 'ok');
    return findings.flat().flatMap(({ verdict, message }) => (verdict === 'ok' ? [] : [`${verdict} ${message}`]));
  }

  const rows: readonly (readonly [what: string, metadata: object, options: object, expected: readonly string[]])[] = [
    ['S256 and client documents', { ...S256, ...CIMD }, {}, []],
    ['S256 and registration', { ...S256, ...DCR }, {}, []],
    ['nothing', {}, {}, [NO_S256, NO_CLIENTS]],
    ['plain alone', { code_challenge_methods_supported: ['plain'], ...CIMD }, {}, [NO_S256]],
    ['S256 as text', { code_challenge_methods_supported: 'S256', ...CIMD }, {}, [NO_S256]],
    ['client documents switched off', { ...S256, client_id_metadata_document_supported: false }, {}, [NO_CLIENTS]],
    ['scopes by tool, registration', { ...S256, ...DCR }, TOOLS, [LATE]],
    ['scopes by tool, registration, all in the first challenge', { ...S256, ...DCR }, { ...TOOLS, first_challenge: 'all' }, []],
    ['scopes by tool, client documents', { ...S256, ...CIMD }, TOOLS, []],
  ];
  for (const [what, metadata, options, expected] of rows)
    it(`${what}: ${expected.length} lines`, async () => {
      const { url } = await issuer(metadata);
      assert.deepEqual(
        await found({ issuer: url, ...options }),
        expected.map((message) => `warn ${message}`),
      );
    });

  it('keys from jwks_uri, and metadata that no client can read', async () => {
    const { url, jwks_uri, answers } = await issuer();
    answers.delete('/.well-known/oauth-authorization-server');
    assert.match(
      (await found({ issuer: url, jwks_uri }))[0] ?? '',
      /^warn clients cannot read its metadata: the issuer publishes no metadata$/,
    );
  });

  it('the authorization servers that the document names are asked, not the issuer that clients never see', async () => {
    const hidden = await issuer();
    const shown = await issuer({ ...S256, ...CIMD });
    assert.deepEqual(await found({ issuer: hidden.url, authorization_servers: [shown.url] }), []);
    assert.deepEqual(await found({ issuer: shown.url, authorization_servers: [hidden.url] }), [`warn ${NO_S256}`, `warn ${NO_CLIENTS}`]);
  });

  it('a key that is skipped is named, one for encryption is not', async () => {
    const started = await issuer({ ...S256, ...CIMD });
    const encryption = { ...(await makeKey('enc-1')).jwk, use: 'enc' };
    const keys = [{ kty: 'LATTICE', kid: 'bad-1' }, encryption, ...started.keys.map(({ jwk }) => jwk)];
    started.answers.set(
      '/jwks',
      json(() => ({ keys })),
    );
    assert.deepEqual(await found({ issuer: started.url }), ['warn "bad-1" is skipped: its kty is unknown']);
  });

  const ID = { issuer: 'https://id.example.com' };
  const audiences: readonly (readonly [what: string, options: object, more: object, expected: readonly string[]])[] = [
    ['the default', ID, {}, ['ok audiences']],
    ['the resource itself', { ...ID, audience: `${PUBLIC}/mcp` }, {}, ['ok audiences']],
    ['the resource beside another', { ...ID, audience: ['api://x', `${PUBLIC}/mcp`] }, {}, ['ok audiences']],
    ['another', { ...ID, audience: 'api://x' }, {}, ['warn route /mcp audience']],
    ['the resource with a slash', { ...ID, audience: `${PUBLIC}/mcp/` }, {}, ['warn route /mcp audience']],
    [
      'one of two routes',
      { ...ID, audience: `${PUBLIC}/mcp` },
      {
        routes: [
          { path: '/mcp', gates: ['g'], runtime: 'up' },
          { path: '/i/mcp', gates: ['g'], runtime: 'up' },
        ],
      },
      ['warn route /i/mcp audience'],
    ],
    [
      'a route with its own URL',
      { ...ID, audience: 'https://files.example.com' },
      { routes: [{ path: '/mcp', public_url: 'https://files.example.com', gates: ['g'], runtime: 'up' }] },
      ['ok audiences'],
    ],
    [
      'a gate of the listener',
      { ...ID, audience: `${PUBLIC}/mcp` },
      { listener: { public_url: PUBLIC, gates: ['g'] }, routes: [{ path: '/mcp', public: true, runtime: 'up' }] },
      ['warn listener audience'],
    ],
    ['no such gate', ID, { gates: {}, routes: [{ path: '/mcp', public: true, runtime: 'up' }] }, []],
  ];
  for (const [what, options, more, expected] of audiences)
    it(`audience: ${what}`, async () => {
      const findings = await checkAudiences(load(options, more)).run(new AbortController().signal);
      assert.deepEqual(
        findings.map(({ verdict, check }) => `${verdict} ${check}`),
        expected,
      );
    });
});

describe('doctor, what it reads', () => {
  it('a byte order mark before an answer is no part of it', async () => {
    const server = await startUpstream((_request, response) => void response.end('\ufeff{"resource":"ü"}'));
    assert.equal((await runHttpCheck(server.url, { egress: NO_PROXY }, new AbortController().signal)).body, '{"resource":"ü"}');
    await server.close();
  });
});
