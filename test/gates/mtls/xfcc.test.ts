import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { thumbprint } from '../../../gates/mtls/certificate.js';
import { Fault } from '../../../gates/mtls/codes.js';
import { parseXfcc } from '../../../gates/mtls/xfcc.js';
import { escaped, type Issued, issue } from './certificates.js';
import { open, STRANGER, said, why } from './kit.js';

const read = (text: string) => {
  const elements = parseXfcc(text);
  return elements instanceof Fault ? elements.detail : elements.map((element) => Object.fromEntries(element));
};

describe('mtls: the XFCC parser', () => {
  const read_as: readonly (readonly [text: string, elements: readonly object[]])[] = [
    ['URI=spiffe://a/b', [{ uri: ['spiffe://a/b'] }]],
    ['By=a;Hash=b', [{ by: ['a'], hash: ['b'] }]],
    ['BY=a;hAsH=b', [{ by: ['a'], hash: ['b'] }]],
    ['By=a,By=b', [{ by: ['a'] }, { by: ['b'] }]],
    ['By=a, By=b', [{ by: ['a'] }, { by: ['b'] }]],
    ['URI=a;DNS=b;URI=c;DNS=d', [{ uri: ['a', 'c'], dns: ['b', 'd'] }]],
    ['URI=', [{ uri: [''] }]],
    ['Subject="";URI=a', [{ subject: [''], uri: ['a'] }]],
    ['Subject="a;URI=b,By=c"', [{ subject: ['a;URI=b,By=c'] }]],
    ['Subject="a\\"b"', [{ subject: ['a"b'] }]],
    ['Subject="\\"";URI=x', [{ subject: ['"'], uri: ['x'] }]],
    ['Subject="CN=a\\,b;URI=spiffe://good"', [{ subject: ['CN=a\\,b;URI=spiffe://good'] }]],
    ['Subject="a\\";URI=spiffe://evil/x;Subject=\\"b"', [{ subject: ['a";URI=spiffe://evil/x;Subject="b'] }]],
    ['Subject="a\\\\b"', [{ subject: ['a\\\\b'] }]],
    ['Subject="a\\\\\\"b"', [{ subject: ['a\\\\"b'] }]],
    ['URI=a?b=c', [{ uri: ['a?b=c'] }]],
  ];
  for (const [text, elements] of read_as) it(`reads ${text}`, () => assert.deepEqual(read(text), elements));

  const not_read: readonly (readonly [text: string, why: RegExp])[] = [
    ['', /not key=value/],
    ['x', /not key=value/],
    ['=a', /not key=value/],
    [',By=a', /not key=value/],
    ['By=a,', /not key=value/],
    ['By=a,,By=b', /not key=value/],
    ['By=a;', /not key=value/],
    ['By=a;;Hash=b', /not key=value/],
    [' By=a', /not key=value/],
    ['By =a', /not key=value/],
    ['By=a; Hash=b', /not key=value/],
    ['Subject="a', /never closed/],
    ['Subject="a\\"', /never closed/],
    ['Subject="a\\', /never closed/],
    ['Subject="a"b', /after a quoted value/],
    ['Subject="a" ;URI=b', /after a quoted value/],
    ['Subject=a"b"', /quote inside a bare value/],
    ['URI=a";Cert="x', /quote inside a bare value/],
    ['Subject="a\\\\";URI=spiffe://evil/x', /two backslashes/],
    ['Subject="a\\\\\\\\";URI=b', /two backslashes/],
    ['By=\u00e9', /printable ASCII/],
    ['By=a\tb', /printable ASCII/],
    [Array(17).fill('By=a').join(','), /more than 16 elements/],
    [Array(129).fill('URI=a').join(';'), /more than 128 pairs/],
  ];
  for (const [text, reason] of not_read) it(`refuses ${text.slice(0, 60)}`, () => assert.match(String(read(text)), reason));

  it('is linear in what it is sent', () => {
    const started = process.hrtime.bigint();
    for (const text of ['"'.repeat(65_536), `Subject="${'\\'.repeat(65_536)}`, `Subject="${'\\"'.repeat(32_768)}`, ';'.repeat(65_536)])
      read(text);
    assert.ok(process.hrtime.bigint() - started < 500_000_000n);
  });
});

const GOOD = 'spiffe://corp.example/agent';
let agent: Issued;
let other: Issued;
let ca: Issued;

before(async () => {
  ca = await issue({ subject: 'CN=ca', ca: true });
  agent = await issue({ issuer: ca, subject: 'CN=agent', uri: [GOOD] });
  other = await issue({ issuer: ca, subject: 'CN=other', uri: ['spiffe://corp.example/other'] });
});

const XFCC = 'x-forwarded-client-cert';
const cert = (one: Issued) => `Cert="${escaped(one.pem)}"`;
const hash = (one: Issued) => `Hash=${thumbprint(one.der)}`;

describe('mtls: source xfcc', () => {
  const table: readonly (readonly [what: string, value: () => string, expect: string, because?: RegExp])[] = [
    ['Cert alone', () => cert(agent), GOOD],
    ['Cert in another case', () => cert(agent).replace('Cert', 'CERT'), GOOD],
    ['Cert unquoted', () => `Cert=${escaped(agent.pem)}`, GOOD],
    [
      'what Envoy sends',
      () => `By=spiffe://corp.example/gw;${hash(agent)};${cert(agent)};Subject="CN=agent";URI=${GOOD};DNS=a.example`,
      GOOD,
    ],
    ['Chain alone', () => `${hash(agent)};Chain="${escaped(agent.pem + ca.pem)}"`, GOOD],
    ['Cert and Chain', () => `${cert(agent)};Chain="${escaped(agent.pem + ca.pem)}"`, GOOD],
    [
      'Cert and a Chain of another',
      () => `${cert(agent)};Chain="${escaped(other.pem + ca.pem)}"`,
      'MALFORMED',
      /not the first certificate of Chain/,
    ],
    ['a Chain that is none', () => `Chain="${escaped(agent.pem + other.pem)}"`, 'MALFORMED', /not issued by the one that follows/],
    ['Hash in capitals', () => `${hash(agent).toUpperCase()};${cert(agent)}`, GOOD],
    ['Hash of another', () => `${hash(other)};${cert(agent)}`, 'MALFORMED', /Hash is not the thumbprint/],
    ['Hash twice', () => `${hash(agent)};${hash(agent)};${cert(agent)}`, 'MALFORMED', /hash twice/],
    ['Cert twice', () => `${cert(agent)};${cert(other)}`, 'MALFORMED', /cert twice/],
    ['Cert of two', () => `Cert="${escaped(agent.pem + other.pem)}"`, 'MALFORMED', /more than one certificate/],
    ['texts only', () => `${hash(agent)};Subject="CN=agent";URI=${GOOD}`, 'MALFORMED', /has no Cert/],
    ['two elements, allowed first', () => `${cert(agent)},${cert(other)}`, 'MALFORMED', /2 elements; exactly 1 expected/],
    ['two elements, allowed last', () => `${cert(other)},${cert(agent)}`, 'MALFORMED', /2 elements; exactly 1 expected/],
    ['text that says more than Cert', () => `${cert(agent)};URI=spiffe://corp.example/admin`, GOOD],
    [
      'a Cert smuggled through a bare URI',
      () => `${hash(other)};URI=spiffe://corp.example/x;${cert(agent)}`,
      'MALFORMED',
      /Hash is not the thumbprint/,
    ],
    ['a Cert inside Subject', () => `${hash(other)};Subject="CN=x;${cert(agent).replaceAll('"', '')}"`, 'MALFORMED', /has no Cert/],
    [
      'bytes after the DER',
      () =>
        `Cert="${escaped(`-----BEGIN CERTIFICATE-----\n${Buffer.concat([agent.der, Buffer.alloc(1)]).toString('base64')}\n-----END CERTIFICATE-----\n`)}"`,
      'MALFORMED',
      /bytes beside the DER/,
    ],
    ['an empty Cert', () => `${hash(agent)};Cert=""`, 'MALFORMED'],
    ['an empty value', () => '', 'MALFORMED', /is empty/],
  ];
  for (const [what, value, expect, because] of table) {
    it(`${what}: ${expect}`, async () => {
      const gate = await open({ source: 'xfcc', spiffe_trust_domains: ['corp.example'] });
      const decision = gate.ask([XFCC, value()]);
      assert.equal(said(decision), expect, why(decision));
      if (because !== undefined) assert.match(why(decision), because);
      await gate.close();
    });
  }

  it('hops: 2 takes the element of the outermost hop, and exactly two', async () => {
    const gate = await open({ source: 'xfcc', hops: 2, spiffe_trust_domains: ['corp.example'] });
    assert.equal(said(gate.ask([XFCC, `${cert(agent)},${cert(other)}`])), GOOD);
    assert.equal(said(gate.ask([XFCC, `${cert(other)}, ${cert(agent)}`])), 'spiffe://corp.example/other');
    assert.equal(said(gate.ask([XFCC, cert(agent)])), 'MALFORMED');
    assert.equal(said(gate.ask([XFCC, `${cert(agent)},${cert(agent)},${cert(other)}`])), 'MALFORMED');
    assert.equal(said(gate.ask([XFCC, cert(agent), XFCC, cert(other)])), 'MALFORMED');
    await gate.close();
  });
});

describe('mtls: source xfcc with text_identity', () => {
  const text = { source: 'xfcc', text_identity: true, spiffe_trust_domains: ['corp.example'] };
  const table: readonly (readonly [what: string, value: () => string, expect: string])[] = [
    ['what Istio sends', () => `By=spiffe://corp.example/gw;${hash(agent)};Subject="";URI=${GOOD}`, GOOD],
    ['no Hash', () => `URI=${GOOD}`, 'MALFORMED'],
    ['a Hash that is none', () => `Hash=abc;URI=${GOOD}`, 'MALFORMED'],
    ['two URIs', () => `${hash(agent)};URI=${GOOD};URI=spiffe://corp.example/b`, 'NOT_ALLOWED'],
    ['no URI', () => `${hash(agent)};URI=;Subject="CN=a"`, 'NOT_ALLOWED'],
    ['a URI inside Subject only', () => `${hash(agent)};Subject="CN=a\\,b;URI=${GOOD}"`, 'NOT_ALLOWED'],
    ['a Cert, which counts alone', () => `${hash(other)};${cert(other)};URI=${GOOD}`, 'spiffe://corp.example/other'],
  ];
  for (const [what, value, expect] of table) {
    it(`${what}: ${expect}`, async () => {
      const gate = await open(text);
      const decision = gate.ask([XFCC, value()]);
      assert.equal(said(decision), expect, why(decision));
      await gate.close();
    });
  }

  it('writes the texts as the fact, without a date it does not know', async () => {
    const gate = await open(text);
    const decision = gate.ask([XFCC, `${hash(agent)};Subject="CN=agent,O=Corp";URI=${GOOD};DNS=a.example;DNS=b.example`]);
    assert.deepEqual(decision, {
      kind: 'identify',
      identity: { principal: GOOD, issuer: 'mtls', scopes: new Set(), client: GOOD },
      facts: {
        certificate: {
          sha256: thumbprint(agent.der),
          subject: 'CN=agent,O=Corp',
          sans: [
            { type: 'uri', value: GOOD },
            { type: 'dns', value: 'a.example' },
            { type: 'dns', value: 'b.example' },
          ],
          spiffe_id: GOOD,
        },
      },
    });
    await gate.close();
  });
});

describe('the identity header from anyone, twice, or in a spelling variant', () => {
  it('from an untrusted peer it is ignored, counted, and the request denied', async () => {
    const gate = await open({ source: 'xfcc', spiffe_trust_domains: ['corp.example'] });
    assert.equal(said(gate.ask([XFCC, cert(agent)], STRANGER)), 'REQUIRED');
    assert.equal(gate.ignored, 1);
    assert.equal(said(gate.ask(['x_forwarded_client_cert', cert(agent), XFCC, cert(agent)], STRANGER)), 'REQUIRED');
    assert.equal(gate.ignored, 3);
    await gate.close();
  });

  it('duplicates, lists, _ spellings, empty, over-long and expired ones are denied', async () => {
    const late = await issue({
      issuer: ca,
      subject: 'CN=late',
      uri: [GOOD],
      not_before: '2025-01-01T00:00:00Z',
      not_after: '2026-05-31T23:59:59Z',
    });
    const gate = await open({ source: 'xfcc', spiffe_trust_domains: ['corp.example'], allow: { spiffe_ids: [GOOD] } });
    const denied: readonly (readonly [string, readonly string[]])[] = [
      ['MALFORMED', [XFCC, cert(agent), XFCC, cert(other)]],
      ['MALFORMED', [XFCC, cert(other), XFCC, cert(agent)]],
      ['MALFORMED', [XFCC, `${cert(agent)},${cert(other)}`]],
      ['MALFORMED', ['x_forwarded_client_cert', cert(agent)]],
      ['MALFORMED', ['X-Forwarded_Client-Cert', cert(agent)]],
      ['MALFORMED', [XFCC, '']],
      ['MALFORMED', [XFCC, `${hash(agent)};Subject="CN=a\\,b;URI=${GOOD}"`]],
      ['MALFORMED', [XFCC, `Cert="${'A'.repeat(65_536)}"`]],
      ['EXPIRED', [XFCC, cert(late)]],
      ['NOT_ALLOWED', [XFCC, cert(other)]],
    ];
    for (const [expect, lines] of denied) assert.equal(said(gate.ask(lines)), expect, lines.join(' ').slice(0, 80));
    assert.equal(said(gate.ask([XFCC, cert(agent)])), GOOD);
    assert.equal(gate.ignored, 0);
    await gate.close();
  });
});
