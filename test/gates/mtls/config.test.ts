import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gate } from '../../../gates/mtls/gate.js';
import { open } from './kit.js';

const XFCC = { source: 'xfcc' };
const NGINX = { source: 'nginx', cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify' };
const RFC9440 = { source: 'rfc9440', verified_header: { name: 'x-client-verified', value: '1' } };

const accepted: readonly (readonly [what: string, options: object])[] = [
  ['direct', { source: 'direct' }],
  ['xfcc', XFCC],
  [
    'the pinned form of xfcc',
    {
      source: 'xfcc',
      required: true,
      spiffe_trust_domains: ['corp.example'],
      allow: { spiffe_ids: [], dns_sans: [], subjects: [], sha256: [] },
      principal: 'spiffe_id',
      shared_secret: { header: 'x-proxy-secret', value: 's3cret' },
      hops: 1,
      text_identity: false,
    },
  ],
  ['rfc9440', RFC9440],
  ['nginx', NGINX],
  ['haproxy', { ...NGINX, source: 'haproxy' }],
  ['ingress-nginx', { source: 'ingress-nginx' }],
  ['traefik', { source: 'traefik' }],
  ['alb', { source: 'alb' }],
  ['alb, verify said', { source: 'alb', mode: 'verify' }],
  ['a thumbprint with colons', { ...XFCC, allow: { sha256: [Array(32).fill('AB').join(':')] } }],
  ['a subtree of SPIFFE IDs', { ...XFCC, principal: 'spiffe_id', allow: { spiffe_ids: ['spiffe://corp.example/ns/prod/*'] } }],
  ['a subject with an escaped comma', { ...XFCC, allow: { subjects: ['CN=a\\, b,O=Corp'] } }],
];

const refused: readonly (readonly [what: string, options: object, message: RegExp])[] = [
  ['no source', {}, /options\.source.*required/],
  [
    'a guessed source',
    { source: 'auto' },
    /options\.source.*must be one of direct, xfcc, rfc9440, nginx, ingress-nginx, traefik, haproxy, alb/,
  ],
  ['an unknown key', { ...XFCC, text_identiy: true }, /options\.text_identiy: unknown key; did you mean text_identity\?/],
  ['an unknown allow list', { ...XFCC, allow: { spiffe_id: [] } }, /options\.allow\.spiffe_id: unknown key/],
  ['nginx without its headers', { source: 'nginx' }, /^cert_header: source nginx needs.*; also verify_header: source nginx needs/],
  ['haproxy without the flag', { source: 'haproxy', cert_header: 'x-c' }, /^verify_header: source haproxy needs/],
  ['rfc9440 without the flag', { source: 'rfc9440' }, /^verified_header: source rfc9440 needs it/],
  ['passthrough without ca_file', { source: 'alb', mode: 'passthrough' }, /^ca_file: mode passthrough needs it/],
  ['ca_file in verify mode', { source: 'alb', ca_file: 'ca.pem' }, /^ca_file: is read for source alb with mode passthrough only/],
  ['mode of another source', { source: 'traefik', mode: 'passthrough' }, /^mode: is read for source alb only, and source is traefik/],
  ['cert_header of another source', { ...NGINX, source: 'ingress-nginx' }, /^cert_header: is read for source nginx or haproxy only/],
  ['verified_header of another source', { ...RFC9440, source: 'traefik' }, /^verified_header: is read for source rfc9440 only/],
  ['hops of another source', { source: 'traefik', hops: 2 }, /^hops: is read for source xfcc only/],
  ['text_identity of another source', { ...NGINX, text_identity: true }, /^text_identity: is read for source xfcc only/],
  [
    'a secret for direct TLS',
    { source: 'direct', shared_secret: { header: 'x-s', value: 'v' } },
    /^shared_secret: is read for a header source only/,
  ],
  ['hops 0', { ...XFCC, hops: 0 }, /options\.hops.*>= 1/],
  ['spiffe_id without a domain', { ...XFCC, principal: 'spiffe_id' }, /^principal: spiffe_id needs spiffe_trust_domains/],
  ['a trust domain as a URL', { ...XFCC, spiffe_trust_domains: ['spiffe://corp.example'] }, /options\.spiffe_trust_domains\[0\].*pattern/],
  ['a trust domain in capitals', { ...XFCC, spiffe_trust_domains: ['Corp.example'] }, /options\.spiffe_trust_domains\[0\].*pattern/],
  [
    'a SPIFFE ID with a star inside',
    { ...XFCC, allow: { spiffe_ids: ['spiffe://corp.example/*/a'] } },
    /^allow\.spiffe_ids: "spiffe:\/\/corp\.example\/\*\/a" is not/,
  ],
  ['a SPIFFE ID of any domain', { ...XFCC, allow: { spiffe_ids: ['spiffe://*/a'] } }, /^allow\.spiffe_ids/],
  ['a subject as OpenSSL prints it', { ...XFCC, allow: { subjects: ['/O=Corp/CN=a'] } }, /^allow\.subjects: .* write CN=alice,O=Example/],
  ['a subject with a space', { ...XFCC, allow: { subjects: ['CN=a, O=Corp'] } }, /^allow\.subjects: /],
  ['a short thumbprint', { ...XFCC, allow: { sha256: ['abcd'] } }, /options\.allow\.sha256\[0\].*pattern/],
  ['a header name with _', { ...NGINX, cert_header: 'x_ssl_cert' }, /options\.cert_header.*pattern/],
  ['one header for two things', { ...NGINX, verify_header: 'X-SSL-Cert' }, /^verify_header: X-SSL-Cert is named twice/],
  ['a header that HTTP uses', { ...NGINX, cert_header: 'Authorization' }, /^cert_header: Authorization already has a meaning/],
  ['an empty secret', { ...XFCC, shared_secret: { header: 'x-s', value: '' } }, /options\.shared_secret\.value.*pattern/],
];

describe('mtls: options', () => {
  for (const [what, options] of accepted) {
    it(`accepts ${what}`, async () => {
      const opened = await open(options);
      assert.equal(typeof opened.ask, 'function');
      await opened.close();
    });
  }

  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(open(options), { message });
    });
  }

  it('shows contradicting options before the gate is opened', () => {
    assert.ok(typeof gate.requires === 'function');
    const options = { source: 'rfc9440', allow: { spiffe_ids: [], dns_sans: [], subjects: [], sha256: [] }, spiffe_trust_domains: [] };
    assert.throws(() => (gate.requires as (options: object) => unknown)(options), { message: /^verified_header: / });
  });

  it('never tells a secret in a message', async () => {
    const secret = 'not for the log';
    await assert.rejects(
      open({ ...XFCC, shared_secret: { header: 'x-s', value: secret } }),
      (error: Error) => !error.message.includes(secret),
    );
  });
});
