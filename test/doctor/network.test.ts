import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import type { Check } from '../../src/doctor/check.js';
import { checkClock } from '../../src/doctor/clock-difference.js';
import { checkIssuers, issuersOf } from '../../src/doctor/issuers.js';
import { checkUpstreams, upstreamsOf } from '../../src/doctor/upstreams.js';
import { makeClock } from '../../src/testing.js';
import { issue } from '../gates/mtls/certificates.js';
import { type FakeIssuer, startIssuer } from '../gates/oauth-bearer/support/fake-issuer.js';
import { folderWith } from '../support/config-files.js';
import { until } from '../support/e2e/until.js';
import { startSseUpstream } from '../support/sse-upstream.js';
import { closeServer, listen, startUpstream, type Upstream } from '../support/upstream.js';

const { folder, remove } = folderWith({});
const open: { close(): Promise<void> }[] = [];

function load(input: object) {
  return resolveConfig(
    {
      runtimes: { up: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
      routes: [{ path: '/mcp', public: true, runtime: 'up' }],
      ...input,
    },
    { folder },
  );
}

async function told(checks: readonly Check[]): Promise<readonly string[]> {
  const findings = await Promise.all(checks.map(({ run }) => run(new AbortController().signal)));
  return findings.flat().map(({ check, verdict, message, remedy }) => {
    assert.equal(remedy === undefined, verdict === 'ok', `${check}: what is wrong has a remedy`);
    return `${verdict} ${check}: ${message}`;
  });
}

async function upstream(tls?: { readonly key: string; readonly cert: string }, date?: string): Promise<Upstream> {
  const server = await startUpstream((_request, response) => void response.writeHead(405, date === undefined ? {} : { date }).end(), tls);
  open.push(server);
  return server;
}

describe('doctor, over the network', () => {
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });
  after(remove);

  it('an upstream that answers is told with its status, one that does not with what to do', async () => {
    const { url } = await upstream();
    const silent = createServer((socket) => socket.destroy());
    const port = await listen(silent);
    const runtimes = {
      good: { kind: 'proxied', url: `${url}/mcp`, headers: { authorization: 'Bearer hunter2' } },
      gone: { kind: 'http', url: 'http://127.0.0.1:1' },
      mute: { kind: 'proxied', url: `http://127.0.0.1:${port}/mcp` },
      tls: { kind: 'proxied', url: `${url.replace('http:', 'https:')}/mcp` },
      child: { kind: 'stdio', command: 'x' },
    };
    const routes = Object.keys(runtimes).map((runtime) => ({ path: `/${runtime}`, public: true, runtime }));
    assert.deepEqual(await told(checkUpstreams(load({ runtimes, routes }).config)), [
      `ok upstream good: answers at ${url}/mcp (405)`,
      'fail upstream gone: http://127.0.0.1:1: nothing listens there (ECONNREFUSED)',
      `fail upstream mute: http://127.0.0.1:${port}/mcp: the connection was closed without an answer (UND_ERR_SOCKET)`,
      `fail upstream tls: ${url.replace('http:', 'https:')}/mcp: that port does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)`,
    ]);
    await closeServer(silent, []);
  });

  it('a server of HTTP+SSE behind a runtime of Streamable HTTP is told as such, and its stream is ended', async () => {
    const old = await startSseUpstream();
    open.push(old);
    const [url, more] = [`${old.url}/sse`, { kind: 'proxied' }];
    const { config } = load({ runtimes: { up: { ...more, url }, told: { ...more, url, transport: 'sse' } } });
    assert.deepEqual(await told(checkUpstreams(config)), [
      `fail upstream up: ${url} looks like HTTP+SSE, the transport of revision 2024-11-05`,
      `ok upstream told: answers at ${url} (404)`,
    ]);
    assert.equal(old.sessions.length, 1);
    await until('the stream is ended', () => old.open.size === 0);
  });

  it('TLS of an upstream is verified, by its own CA where it has one', async () => {
    const ca = await issue({ ca: true, subject: 'CN=ca' });
    const leaf = await issue({ issuer: ca, ip: ['127.0.0.1'] });
    const other = await issue({ issuer: ca, dns: ['other.example.com'] });
    const old = await issue({ issuer: ca, ip: ['127.0.0.1'], not_before: '2020-01-01T00:00:00Z', not_after: '2021-01-01T00:00:00Z' });
    writeFileSync(join(folder, 'ca.crt'), ca.pem);
    const place = async (cert: { pem: string; key_pem: string }, ca_file?: string) => {
      const { url } = await upstream({ cert: cert.pem, key: cert.key_pem });
      const runtimes = {
        up: { kind: 'proxied', url: `${url.replace('http:', 'https:')}/mcp`, ...(ca_file === undefined ? {} : { ca_file }) },
      };
      return (await told(checkUpstreams(load({ runtimes }).config)))[0]?.replace(/https:\/\/127\.0\.0\.1:\d+/, 'U');
    };
    assert.equal(await place(leaf, 'ca.crt'), 'ok upstream up: answers at U/mcp (405, TLS verified)');
    assert.match(
      (await place(leaf)) ?? '',
      /^fail upstream up: U\/mcp: its certificate chains to an unknown CA \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/,
    );
    assert.match((await place(other, 'ca.crt')) ?? '', /its certificate is for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
    assert.match((await place(old, 'ca.crt')) ?? '', /its certificate has expired \(CERT_HAS_EXPIRED\)/);
  });

  it('an issuer is asked as the gate asks it', async () => {
    const issuer: FakeIssuer = await startIssuer();
    open.push(issuer);
    const gate = (options: object) =>
      load({ gates: { g: { use: 'oauth-bearer', options } }, routes: [{ path: '/mcp', gates: ['g'], runtime: 'up' }] });
    const { url: name } = issuer;
    assert.match((await told(checkIssuers(gate({ issuer: name }))))[0] ?? '', /^ok issuer \S+: metadata and keys are there: \d+ keys?$/);
    assert.match((await told(checkIssuers(gate({ issuer: name, jwks_uri: issuer.jwks_uri }))))[0] ?? '', /its keys are there: \d/);
    assert.deepEqual(await told(checkIssuers(gate({ issuer: 'http://127.0.0.1:1' }))), [
      'fail issuer http://127.0.0.1:1: nothing listens there (ECONNREFUSED)',
    ]);
    assert.match(
      (await told(checkIssuers(gate({ issuer: `${name}/` }))))[0] ?? '',
      /^fail .* names another issuer than the configured one/,
    );
    assert.match(
      (await told(checkIssuers(gate({ issuer: name, jwks_uri: `${name}/nothing` }))))[0] ?? '',
      /^fail issuer \S+: the answer has status 404/,
    );
    writeFileSync(join(folder, 'keys.json'), '{"keys":[]}');
    assert.match((await told(checkIssuers(gate({ issuer: name, jwks_file: 'keys.json' }))))[0] ?? '', /^fail issuer/);
    assert.deepEqual(issuersOf(gate({ issuer: name, jwks_file: 'keys.json' })), []);
    const introspection = { url: 'http://127.0.0.1:1/introspect', client_id: 'me', client_secret: 'hunter2' };
    assert.deepEqual(
      (await told(checkIssuers(gate({ issuer: name, introspection })))).at(-1),
      'fail introspection of gate g: nothing listens there (ECONNREFUSED)',
    );
  });

  it('a service of forward-auth is asked without credentials', async () => {
    const service = await upstream();
    const gates = { g: { use: 'forward-auth', options: { url: `${service.url}/auth`, headers: { 'x-key': 'hunter2' } } } };
    const loaded = load({ gates, routes: [{ path: '/mcp', gates: ['g'], runtime: 'up' }] });
    assert.deepEqual(await told(checkIssuers(loaded)), ['ok service of gate g: answers (405)']);
    assert.doesNotMatch(JSON.stringify(service.seen[0]?.headers), /hunter2/);
  });

  it('the clock is compared with the Date of others: more than a minute is told', async () => {
    const now = Date.UTC(2030, 0, 1, 12);
    const clock = makeClock(now);
    const at = async (off_s: number) => ({
      url: (await upstream(undefined, new Date(now + off_s * 1000).toUTCString())).url,
      ca: undefined,
    });
    const [same, near, ahead, behind] = [await at(0), await at(-58), await at(90), await at(-3600)];
    assert.deepEqual(await told([checkClock([same, near, { url: 'http://127.0.0.1:1', ca: undefined }], clock)]), [
      'ok clock: within 58 s of 2 servers',
    ]);
    const wrong = await told([checkClock([same, ahead, behind], clock)]);
    assert.match(wrong[0] ?? '', /^warn clock: 9[01] s behind 127\.0\.0\.1:\d+$/);
    assert.match(wrong[1] ?? '', /^warn clock: 3600 s ahead of 127\.0\.0\.1:\d+$/);
    assert.deepEqual(await told([checkClock([], clock)]), ['ok clock: no server told its time']);
    assert.deepEqual(upstreamsOf(load({}).config), [{ name: 'up', url: 'http://127.0.0.1:1/mcp', ca: undefined }]);
  });
});
