import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import type { Finding } from '../../src/doctor/check.js';
import { examineOutside } from '../../src/doctor/remote-checks.js';
import { type Credentials, checkRoutes } from '../../src/doctor/routes.js';
import { systemClock } from '../../src/system-clock.js';
import { issue } from '../gates/mtls/certificates.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { repositoryPath } from '../support/repository.js';
import { type Running, running } from '../support/running.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const NOBODY = { token: undefined, headers: {}, certificate: undefined };
const PUBLIC = 'https://mcp.example.com';
const KEY_SHA256 = '2ba7bab3b46a2d8d8a4bfe8bb12eaa1ba0a9b93e1d8e6e0ab5fbd5b5c8d0d2a1';

const lines = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ check, verdict, message }) => `${verdict} ${check}: ${message.replace(/ \d+ s ago/, '')}`);
const MODERN = 'ok runtime up era: the server speaks 2026-07-28 (its answer to server/discover,)';

describe('doctor at the routes', () => {
  let upstream: Upstream;
  let issuer: DemoIssuer;
  let legacy: Upstream;
  let mute: Upstream;
  before(async () => {
    upstream = await startMcpUpstream();
    issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: `${PUBLIC}/mcp`, scopes: ['mcp.read'] });
    legacy = await startUpstream(({ body }, response) => {
      const { id, method, params } = JSON.parse(body.toString() || '{}');
      const result = { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo: { name: 'old', version: '1\u001b[2J' } };
      const answer = method === 'initialize' ? { result } : { error: { code: -32601, message: 'Method not found' } };
      if (id === undefined) response.writeHead(202).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
    mute = await startUpstream(() => undefined);
  });
  after(async () => {
    for (const one of [upstream, legacy, issuer, mute]) await one.close();
  });

  const check = async (config: object, credentials: Credentials = NOBODY, timeout_ms = 5000) => {
    const loaded = resolveConfig(
      { listener: { public_url: PUBLIC, port: 2, allowed_hosts: ['mcp.example.com'] }, ...config },
      { folder: '/' },
    );
    return lines(await checkRoutes(loaded, credentials, systemClock, timeout_ms, new AbortController().signal));
  };
  const up = () => ({ up: { kind: 'proxied', url: `${upstream.url}/mcp` } });
  const guarded = (use: string, options: object) => ({
    gates: { g: { use, options } },
    runtimes: up(),
    routes: [{ path: '/mcp', gates: ['g'], runtime: 'up' }],
  });
  const token = () => guarded('oauth-bearer', { issuer: issuer.issuer, required_scopes: ['mcp.read'] });

  it('shakes hands in both eras with a public one', async () => {
    assert.deepEqual(await check({ runtimes: up(), routes: [{ path: '/mcp', public: true, runtime: 'up' }] }), [
      'ok gateway: gates and runtimes open',
      'ok route /mcp challenge: asks this machine for no credentials',
      'ok route /mcp modern: a server speaks 2026-07-28',
      'ok route /mcp legacy: test 0 speaks 2025-11-25',
      MODERN,
    ]);
  });

  it('names a command that cannot be started, and how a child ended, without what it wrote', async () => {
    const child = (command: string, ...args: string[]) => ({ kind: 'stdio', command, args, env: { PW: 'kept-secret' } });
    const runtimes = {
      none: child('not-there-at-all'),
      closed: child('/dev/null'),
      bad: child(process.execPath, '-e', 'console.error(process.env.PW); process.exit(3)'),
    };
    const routes = Object.keys(runtimes).map((name) => ({ path: `/${name}/mcp`, public: true, runtime: name }));
    const found = await check({ runtimes, routes });
    for (const line of [
      'fail runtime none: not-there-at-all could not be started (ENOENT)',
      'fail runtime closed: /dev/null could not be started (EACCES)',
      `fail runtime bad: ${process.execPath} ended by itself (exit code 3) before it answered anything`,
    ])
      assert.ok(found.includes(line), `${line}\nin\n${found.join('\n')}`);
    assert.doesNotMatch(found.join(''), /kept-secret/);
  });

  it('reads the discovery document of a guarded one, and tries no more without a token', async () => {
    assert.deepEqual(await check(token()), [
      'ok gateway: gates and runtimes open',
      'ok route /mcp challenge: asks for a token, and names its discovery document',
      `ok route /mcp discovery: resource ${PUBLIC}/mcp, authorization server ${issuer.issuer}`,
      'ok route /mcp modern: not tried: the gates ask for credentials; give --token-file, --certificate or --header',
      'ok route /mcp legacy: not tried: the gates ask for credentials; give --token-file, --certificate or --header',
      MODERN,
    ]);
  });

  it('shakes hands with the token, and a wrong one fails without being shown', async () => {
    assert.deepEqual((await check(token(), { ...NOBODY, token: issuer.token })).slice(3), [
      'ok route /mcp modern: a server speaks 2026-07-28',
      'ok route /mcp legacy: test 0 speaks 2025-11-25',
      MODERN,
    ]);
    const wrong = await check(token(), { ...NOBODY, token: 'eyJhbGciOiJIUzI1NiJ9.hunter2.hunter2' });
    assert.match(wrong[3] ?? '', /^fail route \/mcp modern: refused with 401: /);
    assert.match(wrong[4] ?? '', /^fail route \/mcp legacy: refused with 401: /);
    assert.doesNotMatch(wrong.join('\n'), /hunter2/);
  });

  it('sends the header fields that it was given', async () => {
    const config = guarded('api-key', { keys: [{ name: 'script', sha256: KEY_SHA256 }] });
    const found = await check(config, { ...NOBODY, headers: { 'x-api-key': 'wrong-hunter2' } });
    assert.match(found[1] ?? '', /^ok route \/mcp challenge: asks for credentials: ApiKey header="x-api-key"$/);
    assert.match(found[2] ?? '', /^fail route \/mcp modern: refused with 401/);
    assert.doesNotMatch(found.join('\n'), /hunter2/);
  });

  it('hands a certificate over as the terminator of the config would, with the token behind it', async () => {
    const { pem } = await issue({ subject: 'CN=me' });
    for (const source of ['nginx', 'xfcc'] as const) {
      const headers = source === 'nginx' ? { cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify' } : {};
      const gates = {
        cert: { use: 'mtls', options: { source, ...headers, shared_secret: { header: 'x-proxy', value: 'hunter2' } } },
        g: { use: 'oauth-bearer', options: { issuer: issuer.issuer } },
      };
      const config = { gates, runtimes: up(), routes: [{ path: '/mcp', gates: ['cert', 'g'], runtime: 'up' }] };
      const without = await check(config);
      assert.match(without[1] ?? '', /refuses who has no credentials: 403 CLIENT_CERTIFICATE_REQUIRED$/);
      const found = await check(config, { ...NOBODY, token: issuer.token, certificate: pem });
      assert.deepEqual(
        found.map((line) => line.split(' ', 1)[0]),
        ['ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
        found.join('\n'),
      );
      assert.match(found[3] ?? '', /speaks 2026-07-28$/);
      assert.doesNotMatch(found.join('\n'), /hunter2/);
    }
  });

  it('ends its gateway at once when it is told to stop', async () => {
    const stop = new AbortController();
    const loaded = resolveConfig(
      {
        listener: { port: 2 },
        runtimes: { mute: { kind: 'proxied', url: `${mute.url}/mcp` } },
        routes: [{ path: '/mcp', public: true, runtime: 'mute' }],
      },
      { folder: '/' },
    );
    const began = performance.now();
    const asked = mute.seen.length;
    const checking = checkRoutes(loaded, NOBODY, systemClock, 60_000, stop.signal);
    await until('the upstream is asked', () => mute.seen.length > asked);
    stop.abort();
    await checking;
    assert.ok(performance.now() - began < 20_000);
  });

  it('knows a gate that lets this machine not in', async () => {
    const found = await check(guarded('ip-allow', { allow: ['10.0.0.0/8'] }));
    assert.match(found[1] ?? '', /^ok route \/mcp challenge: refuses who has no credentials: 403 [A-Z_]+$/);
  });

  it('tells eras that the server behind does not speak, and fails when it speaks none', async () => {
    const routes = [{ path: '/mcp', public: true, runtime: 'old' }];
    const old = await check({ runtimes: { old: { kind: 'proxied', url: `${legacy.url}/mcp`, protocol: 'as_is' } }, routes });
    assert.deepEqual(old.slice(2), [
      'ok route /mcp modern: the server behind does not speak this era',
      'ok route /mcp legacy: old 1\u001b[2J speaks 2025-11-25',
      'ok runtime old era: the server is not asked (protocol: as_is): each client must speak its era',
    ]);
    const gone = await check({ runtimes: { old: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } }, routes });
    assert.match(gone[2] ?? '', /^fail route \/mcp modern: /);
    assert.match(gone[3] ?? '', /^fail route \/mcp legacy: /);
    assert.equal(gone[4], 'warn runtime old era: not known: the server has not said which revisions it serves');
  });

  it('tells which era a server speaks, and why; both handshakes then work', async () => {
    const child = { kind: 'stdio', command: process.execPath, args: [repositoryPath('dist/test/support/stdio/server.js'), 'legacy'] };
    const runtimes = {
      old: { kind: 'proxied', url: `${legacy.url}/mcp` },
      pinned: { kind: 'proxied', url: `${legacy.url}/mcp`, protocol: 'legacy' },
      child,
    };
    const found = await check({
      runtimes,
      routes: Object.keys(runtimes).map((runtime) => ({ path: `/${runtime}`, public: true, runtime })),
    });
    const old = 'the server speaks revisions before 2026-07-28';
    assert.deepEqual(found.slice(-3), [
      `ok runtime old era: ${old} (its answer to server/discover,)`,
      `ok runtime pinned era: ${old} (protocol: legacy)`,
      `ok runtime child era: ${old} (its answer to server/discover or initialize when it was started)`,
    ]);
    for (const { path } of [{ path: '/old' }, { path: '/child' }])
      for (const line of [`ok route ${path} modern: `, `ok route ${path} legacy: `])
        assert.ok(
          found.some((one) => one.startsWith(line) && one.includes(' speaks 20')),
          `${line}\nin\n${found.join('\n')}`,
        );
  });

  it('waits no longer than it was told to', async () => {
    const began = performance.now();
    const found = await check(
      { runtimes: { mute: { kind: 'proxied', url: `${mute.url}/mcp` } }, routes: [{ path: '/mcp', public: true, runtime: 'mute' }] },
      NOBODY,
      200,
    );
    assert.ok(performance.now() - began < 5000);
    assert.ok(
      found.some((line) => line.startsWith('fail route /mcp')),
      found.join('\n'),
    );
  });

  it('of children and hosted servers are started, and a broken one is told at its place', async () => {
    const hosted = { kind: 'hosted', module: repositoryPath('dist/src/demo/server.js') };
    const found = await check({ runtimes: { demo: hosted }, routes: [{ path: '/mcp', public: true, runtime: 'demo' }] });
    assert.match(found[2] ?? '', /^ok route \/mcp modern: portcullis-demo /);
    const broken = await check({
      runtimes: { demo: { ...hosted, module: repositoryPath('package.json') } },
      routes: [{ path: '/mcp', public: true, runtime: 'demo' }],
    });
    assert.match(broken[0] ?? '', /^fail gateway: runtimes\.demo\.module: /);
    assert.equal(broken.length, 1);
    const none = await check({
      runtimes: { child: { kind: 'stdio', command: 'not-there-at-all' } },
      routes: [{ path: '/mcp', public: true, runtime: 'child' }],
    });
    assert.ok(
      none.some((line) => line.startsWith('fail route /mcp')),
      none.join('\n'),
    );
  });

  it('of plain HTTP are asked once', async () => {
    const found = await check({
      runtimes: { web: { kind: 'http', url: mute.url.replace(/:\d+$/, ':1') }, good: { kind: 'http', url: upstream.url } },
      routes: [
        { path: '/web', public: true, runtime: 'web' },
        { path: '/good', public: true, runtime: 'good' },
      ],
    });
    assert.deepEqual(found.slice(1), ['fail route /web: plain HTTP answers 502', 'ok route /good: plain HTTP answers 404']);
  });

  describe('of a gateway that runs', () => {
    let gate: Running;
    before(async () => {
      gate = await running({ ...token(), listener: { public_url: PUBLIC } });
    });
    after(() => gate.close());

    it('are asked from outside', async () => {
      const outside = { url: `${gate.url}/mcp`, ops_url: `${gate.ops_url}/`, ca: undefined, ...NOBODY };
      const found = lines(await examineOutside(outside, systemClock, 5000));
      assert.equal(found[0], 'ok ready: takes requests');
      assert.match(found[1] ?? '', /^ok clock: within 1 s of 1 server$/);
      assert.match(found[2] ?? '', /^ok route \/mcp challenge/);
      assert.match(found[3] ?? '', /^fail route \/mcp discovery: https:\/\/mcp\.example\.com\/\.well-known\/\S+: /);
      assert.equal(found.length, 4);
    });

    it('are told when there is none, or it is not ready', async () => {
      const found = lines(
        await examineOutside({ url: `${gate.url}/other`, ops_url: 'http://127.0.0.1:1', ca: undefined, ...NOBODY }, systemClock, 5000),
      );
      assert.deepEqual(
        [found[0], found[2]],
        ['fail ready: nothing listens there (ECONNREFUSED)', 'fail route /other challenge: 404: no route has this path'],
      );
      const draining = await startUpstream((_request, response) => void response.writeHead(503).end('{"ready":false,"reason":"draining"}'));
      const late = lines(
        await examineOutside({ url: `${gate.url}/other`, ops_url: draining.url, ca: undefined, ...NOBODY }, systemClock, 5000),
      );
      assert.equal(late[0], 'fail ready: takes no requests: draining');
      await draining.close();
    });
  });
});
