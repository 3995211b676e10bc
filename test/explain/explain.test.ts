import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import { type Explanation, explain } from '../../src/explain/explain.js';
import type { Question } from '../../src/explain/question.js';
import { systemClock } from '../../src/system-clock.js';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import { folderWith } from '../support/config-files.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { running } from '../support/running.js';
import { legacy, modern, type SendOptions, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const KEY = 'the-key-of-the-probe';
const PUBLIC = 'http://127.0.0.1:8080';

let issuer: DemoIssuer;
let files: ReturnType<typeof folderWith>;
let client: Issued;
let ca: Issued;

const module = (name: string, gate: string, more = ''): string =>
  `export const gate = { name: '${name}', contract: 1, options: { type: 'object', properties: {} }, ${more} open: () => (${gate}) };\n`;

before(async () => {
  issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: `${PUBLIC}/mcp`, scopes: ['mcp.read'] });
  const lasting = { not_before: '2020-01-01T00:00:00Z', not_after: '2099-01-01T00:00:00Z' };
  ca = await issue({ subject: 'CN=ca', ca: true, ...lasting });
  client = await issue({ subject: 'CN=client', issuer: ca, ...lasting });
  files = folderWith({
    'ca.pem': ca.pem,
    'crt.pem': client.pem,
    'key.pem': client.key_pem,
    'late.mjs': module('late', '{ decide: () => new Promise(() => undefined) }'),
    'broken.mjs': module('broken', "{ decide: () => { throw new Error('no') } }"),
    'page.mjs': module('page', "{ serves: ['/page'], decide: () => ({ kind: 'serve', status: 200, body: 'hello' }) }", 'authorizes: true,'),
  });
});

after(async () => {
  await issuer.close();
  files.remove();
});

type Parts = Readonly<Record<string, unknown>>;

function config(parts: Parts = {}): Parts {
  return {
    listener: { public_url: PUBLIC, gates: ['edge'], trusted_proxies: ['10.0.0.1'] },
    ops: { enabled: false },
    gates: {
      edge: { use: 'ip-allow', options: { allow: ['127.0.0.0/8', '192.0.2.0/24'] } },
      token: { use: 'oauth-bearer', options: { issuer: issuer.issuer, required_scopes: ['mcp.read'] } },
      key: { use: 'api-key', options: { keys: [{ name: 'probe', sha256: createHash('sha256').update(KEY).digest('hex') }] } },
      reads: { use: 'method-allow', options: { tools: ['read_*'] } },
      late: { use: 'file:./late.mjs', timeout_ms: 100 },
      broken: { use: 'file:./broken.mjs' },
      page: { use: 'file:./page.mjs' },
    },
    runtimes: { server: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' }, ui: { kind: 'http', url: 'http://127.0.0.1:1' } },
    routes: [
      { path: '/mcp', gates: ['token', 'reads'], runtime: 'server' },
      { path: '/keyed/mcp', gates: ['key', 'reads'], runtime: 'server' },
      { path: '/late/mcp', gates: ['key', 'late'], runtime: 'server' },
      { path: '/broken/mcp', gates: ['key', 'broken'], runtime: 'server' },
      { path: '/paged/mcp', gates: ['page'], runtime: 'server' },
      { path: '/', gates: ['key'], runtime: 'ui' },
      { path: '/ui', public: true, runtime: 'ui' },
    ],
    ...parts,
  };
}

function ask(question: Question, parts: Parts = {}): Promise<Explanation> {
  return explain(resolveConfig(config(parts), { folder: files.folder }), question, systemClock);
}

/** The steps as `by verdict code`, and the end. */
const told = ({ steps, outcome, status, code }: Explanation): readonly string[] => [
  ...steps.map(({ by, verdict, code: said }) => `${by} ${verdict}${said === '' ? '' : ` ${said}`}`),
  `${outcome} ${status}${code === '' ? '' : ` ${code}`}`,
];
const keyed = (question: Question): Question => ({ ...question, headers: [['x-api-key', KEY], ...(question.headers ?? [])] });

describe('explain', () => {
  it('a path that leads nowhere is told with the routes there are', async () => {
    const { routes } = config() as { routes: { path: string }[] };
    const some = { routes: routes.filter(({ path }) => path !== '/'), gates: { ...(config().gates as object) } };
    const explanation = await ask({ path: '/mcp/' }, some);
    assert.deepEqual(told(explanation), ['route refuse NO_ROUTE', 'refused 404 NO_ROUTE']);
    assert.match(explanation.remedy, /^The routes are \/mcp, \/keyed\/mcp, .*\/ui\.$/);
  });

  it('each kind of answer of a gate is a step, the first that does not pass is the last', async () => {
    assert.deepEqual(told(await ask({ path: '/mcp', token: issuer.token, tool: 'read_file' })), [
      'route ok',
      'edge pass',
      'token identify',
      'reads pass',
      'admitted 0',
    ]);
    assert.deepEqual(told(await ask({ path: '/mcp', address: '203.0.113.9' })), [
      'route ok',
      'edge refuse IP_NOT_ALLOWED',
      'refused 403 IP_NOT_ALLOWED',
    ]);
    assert.deepEqual(told(await ask(keyed({ path: '/late/mcp' }))).slice(-2), ['late timeout GATE_TIMEOUT', 'refused 504 GATE_TIMEOUT']);
    assert.deepEqual(told(await ask(keyed({ path: '/broken/mcp' }))).slice(-2), ['broken failed GATE_FAILED', 'refused 500 GATE_FAILED']);
    assert.deepEqual(told(await ask({ path: '/page', http_method: 'GET' })), ['route ok', 'edge pass', 'page serve', 'served 200']);
  });

  it('who was identified is told, with scopes, expiry and the names of facts', async () => {
    const { identity, facts, why } = await ask({ path: '/mcp', token: issuer.token, tool: 'read_file' });
    assert.deepEqual([identity?.issuer, identity?.scopes, facts.includes('certificate')], [issuer.issuer, ['mcp.read'], false]);
    assert.ok((identity?.expires_at_ms ?? 0) > Date.now());
    assert.equal(why, `Every gate of ${PUBLIC}/mcp passed; the caller is ${issuer.issuer}#${identity?.principal}.`);
  });

  it('a refusal is told with its challenge and what to do', async () => {
    const explanation = await ask({ path: '/mcp' });
    assert.deepEqual(told(explanation).at(-1), 'refused 401 TOKEN_REQUIRED');
    assert.equal(
      explanation.headers['www-authenticate'],
      `Bearer resource_metadata="${PUBLIC}/.well-known/oauth-protected-resource/mcp", scope="mcp.read"`,
    );
    assert.ok(explanation.remedy.length > 20);
  });

  it('the second look at legacy messages is a step of its own; GET and DELETE have none', async () => {
    const legacyCall: Question = { path: '/keyed/mcp', revision: '2025-11-25', tool: 'write_file' };
    assert.deepEqual(told(await ask(keyed(legacyCall))), [
      'route ok',
      'edge pass',
      'key identify',
      'reads pass',
      'reads (call) refuse TOOL_NOT_ALLOWED',
      'refused 403 TOOL_NOT_ALLOWED',
    ]);
    assert.deepEqual(told(await ask(keyed({ ...legacyCall, tool: 'read_file' }))).slice(-2), ['reads (call) pass', 'admitted 0']);
    assert.deepEqual(told(await ask(keyed({ ...legacyCall, revision: '2026-07-28' }))).slice(-2), [
      'reads refuse TOOL_NOT_ALLOWED',
      'refused 403 TOOL_NOT_ALLOWED',
    ]);
    for (const http_method of ['GET', 'DELETE'])
      assert.deepEqual(told(await ask(keyed({ ...legacyCall, http_method }))).slice(-2), ['reads pass', 'admitted 0'], http_method);
  });

  it('a plain HTTP prefix has what lies below it, without MCP rules; the longest one wins', async () => {
    assert.deepEqual(told(await ask({ path: '/ui/page', http_method: 'PUT' })), ['route ok', 'edge pass', 'admitted 0']);
    assert.deepEqual(told(await ask({ path: '/uix', http_method: 'GET', revision: 'nonsense' })).slice(-2), [
      'key refuse API_KEY_MISSING',
      'refused 401 API_KEY_MISSING',
    ]);
    assert.deepEqual(told(await ask({ path: '/ui/../mcp' })).at(-1), 'refused 404 NO_ROUTE');
  });

  it('a path that a gate serves needs no credential, whatever prefix lies over it; the open listener gates still decide', async () => {
    const path = '/.well-known/oauth-protected-resource/mcp';
    assert.deepEqual(told(await ask({ path, http_method: 'GET' })), ['route ok', 'edge pass', 'token serve', 'served 200']);
    assert.deepEqual(told(await ask({ path, http_method: 'GET', address: '203.0.113.9' })).at(-1), 'refused 403 IP_NOT_ALLOWED');
    assert.deepEqual(told(await ask({ path, http_method: 'POST' })).at(-1), 'refused 405 METHOD_NOT_ALLOWED');
  });

  it('the address is the one that a trusted proxy tells, and its own from anybody else', async () => {
    const of = async (address: string, via: string) => told(await ask({ path: '/ui', address, via })).at(-1);
    assert.equal(await of('192.0.2.7', '10.0.0.1'), 'admitted 0');
    assert.equal(await of('::ffff:192.0.2.7', '::ffff:10.0.0.1'), 'admitted 0');
    assert.equal(await of('203.0.113.9', '10.0.0.1'), 'refused 403 IP_NOT_ALLOWED');
    assert.equal(await of('192.0.2.7', '10.0.0.2'), 'refused 403 IP_NOT_ALLOWED');
  });

  it('holds no token, key or secret, admitted or refused', async () => {
    const [head = '', payload = '', signature = ''] = issuer.token.split('.');
    for (const token of [issuer.token, `${issuer.token}x`, `${head}.${payload}`, `${issuer.token} ${issuer.token}`]) {
      const headers = [
        ['x-api-key', KEY],
        ['cookie', 'sid=cookie-5309'],
      ] as const;
      for (const path of ['/mcp', '/keyed/mcp', '/nowhere', '/late/mcp', '/broken/mcp']) {
        const text = JSON.stringify(await ask({ path, token, headers }));
        for (const secret of [head, payload, signature, KEY, 'cookie-5309'])
          assert.equal(text.includes(secret), false, `${path} ${secret}`);
      }
    }
  });
});

describe('explain, asked about a certificate', () => {
  const SOURCES: readonly (readonly [string, object])[] = [
    ['xfcc', {}],
    ['rfc9440', { verified_header: { name: 'x-client-verified', value: '1' } }],
    ['nginx', { cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify' }],
    ['ingress-nginx', {}],
    ['traefik', {}],
    ['haproxy', { cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify' }],
    ['alb', {}],
    ['alb', { mode: 'passthrough', ca_file: 'ca.pem' }],
  ];
  const behind = (options: object): Parts => ({
    listener: { trusted_proxies: ['10.0.0.1'] },
    gates: { cert: { use: 'mtls', options } },
    runtimes: { server: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
    routes: [{ path: '/mcp', gates: ['cert'], runtime: 'server' }],
  });

  for (const [source, options] of SOURCES)
    it(`hands it over as ${source} ${JSON.stringify(options)} does, to the real gate`, async () => {
      const parts = behind({ source, ...options, shared_secret: { header: 'x-proxy-secret', value: 'secret-5309' } });
      const question: Question = { path: '/mcp', certificate: client.pem, address: '192.0.2.7', via: '10.0.0.1' };
      const explanation = await ask(question, parts);
      assert.deepEqual(told(explanation), ['route ok', 'cert identify', 'admitted 0']);
      assert.deepEqual(
        [explanation.identity?.issuer, explanation.identity?.principal, explanation.facts],
        ['mtls', 'CN=client', ['certificate']],
      );
      assert.equal(JSON.stringify(explanation).includes('secret-5309'), false);
      assert.deepEqual(told(await ask({ ...question, certificate: undefined }, parts)).at(-1), 'refused 403 CLIENT_CERTIFICATE_REQUIRED');
      assert.deepEqual(told(await ask({ ...question, via: '10.0.0.2' }, parts)).at(-1), 'refused 403 CLIENT_CERTIFICATE_REQUIRED');
    });

  it('direct: it is authorized if it chains to the client CA', async () => {
    const tls = { cert_file: 'crt.pem', key_file: 'key.pem', client_ca_file: 'ca.pem' };
    const parts = { ...behind({ source: 'direct' }), listener: { tls } };
    const of = async (certificate: string | undefined) => told(await ask({ path: '/mcp', certificate }, parts)).at(-1);
    assert.equal(await of(client.pem), 'admitted 0');
    assert.equal(await of(undefined), 'refused 403 CLIENT_CERTIFICATE_REQUIRED');
    const valid = { not_before: '2020-01-01T00:00:00Z', not_after: '2099-01-01T00:00:00Z' };
    const [stranger, namesake, expired, middle] = await Promise.all([
      issue({ subject: 'CN=client', ...valid }),
      issue({ subject: 'CN=ca', ca: true, ...valid }),
      issue({ subject: 'CN=client', issuer: ca, not_before: '2020-01-01T00:00:00Z', not_after: '2021-01-01T00:00:00Z' }),
      issue({ subject: 'CN=middle', issuer: ca, ca: true, ...valid }),
    ]);
    const forged = await issue({ subject: 'CN=client', issuer: namesake, ...valid });
    const below = await issue({ subject: 'CN=client', issuer: middle, ...valid });
    for (const { pem } of [stranger, forged, expired, below]) assert.equal(await of(pem), 'refused 403 CLIENT_CERTIFICATE_UNVERIFIED');
    assert.equal(await of(below.pem + middle.pem), 'admitted 0');
  });
});

describe('explain and the listener', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startMcpUpstream();
  });
  after(() => upstream.close());

  it('say the same about the same request', async () => {
    const parts = { runtimes: { server: { kind: 'proxied', url: `${upstream.url}/mcp` }, ui: { kind: 'http', url: upstream.url } } };
    const { listener, ...rest } = config(parts);
    const up = await running({ ...rest, listener: { ...(listener as object), trusted_proxies: [] } }, { folder: files.folder });
    const field = (name: string, value: string) => ({ headers: [[name, value]] as const });
    const get: SendOptions = { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25' } };
    const cases: readonly (readonly [Question, SendOptions])[] = [
      [{ path: '/mcp' }, modern('tools/list')],
      [{ path: '/mcp', token: issuer.token }, modern('tools/list')],
      [{ path: '/mcp', token: issuer.token, tool: 'read_x' }, tool('read_x')],
      [{ path: '/mcp', token: issuer.token, tool: 'x' }, tool('x')],
      [
        { path: '/mcp', token: issuer.token, tool: 'x', revision: '2025-06-18' },
        withHeaders(legacy('tools/call', { name: 'x' }), { 'mcp-protocol-version': '2025-06-18' }),
      ],
      [{ path: '/mcp', token: 'nonsense' }, modern('tools/list')],
      [{ path: '/mcp', revision: '2099-01-01' }, withHeaders(legacy('tools/list'), { 'mcp-protocol-version': '2099-01-01' })],
      [
        { path: '/mcp', token: issuer.token, revision: '2099-01-01' },
        withHeaders(legacy('tools/list'), { 'mcp-protocol-version': '2099-01-01' }),
      ],
      [{ path: '/mcp', token: issuer.token, revision: 'a, b' }, withHeaders(legacy('tools/list'), { 'mcp-protocol-version': 'a, b' })],
      [{ path: '/mcp', http_method: 'GET', revision: '2025-11-25' }, get],
      [
        { path: '/mcp', http_method: 'GET' },
        { ...get, headers: { ...get.headers, 'mcp-protocol-version': '2026-07-28' } },
      ],
      [{ path: '/mcp', http_method: 'PUT' }, { method: 'PUT' }],
      [{ path: '/mcp', http_method: 'OPTIONS' }, { method: 'OPTIONS' }],
      [{ path: '/mcp', ...field('origin', 'https://evil.test') }, modern('tools/list')],
      [{ path: '/mcp', ...field('content-encoding', 'gzip') }, modern('tools/list')],
      [{ path: '/keyed/mcp', ...field('x-api-key', KEY) }, modern('tools/list')],
      [{ path: '/keyed/mcp', ...field('x-api-key', 'wrong') }, modern('tools/list')],
      [{ path: '/broken/mcp', ...field('x-api-key', KEY) }, modern('tools/list')],
      [{ path: '/late/mcp', ...field('x-api-key', KEY) }, modern('tools/list')],
      [{ path: '/paged/mcp' }, modern('tools/list')],
      [{ path: '/page', http_method: 'GET' }, {}],
      [{ path: '/page', http_method: 'POST' }, modern('tools/list')],
      [{ path: '/ui/..//mcp' }, modern('tools/list')],
      [{ path: '/other', http_method: 'GET' }, {}],
      [{ path: '/.well-known/oauth-protected-resource/mcp', http_method: 'GET' }, {}],
    ];
    try {
      for (const [question, options] of cases) {
        const { outcome, status, code } = await ask(question, parts);
        const extra = Object.fromEntries(question.headers ?? []);
        const authorization = question.token === undefined ? {} : { authorization: `Bearer ${question.token}` };
        const answer = await whole(up.url + question.path, withHeaders(options, { ...extra, ...authorization }));
        const refusal =
          answer.headers['content-type'] === 'application/json' && answer.status >= 400 ? JSON.parse(answer.text).error.data.code : '';
        const seen = answer.status < 400 ? 'passed' : `${answer.status} ${refusal}`;
        assert.equal(outcome === 'refused' ? `${status} ${code}` : 'passed', seen, JSON.stringify(question));
      }
    } finally {
      await up.close();
    }
  });
});
