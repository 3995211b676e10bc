import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Question } from '../../src/explain/question.js';
import { issue } from '../gates/mtls/certificates.js';
import { openExplainBench, type Parts, told } from '../support/explain-bench.js';

const lasting = { not_before: '2020-01-01T00:00:00Z', not_after: '2099-01-01T00:00:00Z' };
const ca = await issue({ subject: 'CN=ca', ca: true, ...lasting });
const client = await issue({ subject: 'CN=client', issuer: ca, ...lasting });
const { ask, close } = await openExplainBench({ 'ca.pem': ca.pem, 'crt.pem': client.pem, 'key.pem': client.key_pem });

describe('explain, asked about a certificate', () => {
  after(close);

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
