import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { thumbprint } from '../../../gates/mtls/certificate.js';
import { readSpiffeId } from '../../../gates/mtls/spiffe.js';
import { type Issued, issue, TO } from './certificates.js';
import { fact, NOW, open, said, tls, why } from './kit.js';

const DOMAINS = new Set(['corp.example']);
const read = (...uris: readonly string[]) => {
  const id = readSpiffeId(
    uris.map((value) => ({ type: 'uri', value })),
    DOMAINS,
  );
  return typeof id === 'string' ? id : id.code;
};

describe('mtls: SPIFFE IDs', () => {
  for (const id of [
    'spiffe://corp.example/a',
    'spiffe://corp.example/ns/prod/sa/agent-1',
    'spiffe://corp.example/a.b_c-D',
    'spiffe://corp.example/...',
    'spiffe://corp.example/.a',
  ])
    it(`takes ${id}`, () => assert.equal(read(id), id));

  const near = [
    'spiffe://corp.example',
    'spiffe://corp.example/',
    'spiffe://corp.example/a/',
    'spiffe://corp.example//a',
    'spiffe://corp.example/a//b',
    'spiffe://corp.example/./a',
    'spiffe://corp.example/../a',
    'spiffe://corp.example/a/..',
    'spiffe://corp.example/a/.',
    'spiffe://corp.example/a%2fb',
    'spiffe://corp.example/%61',
    'spiffe://corp.example/a?x=1',
    'spiffe://corp.example/a?',
    'spiffe://corp.example/a#x',
    'spiffe://corp.example/a b',
    'spiffe://corp.example/a,b',
    'spiffe://corp.example/*',
    'spiffe://corp.example:443/a',
    'spiffe://corp.example:/a',
    'spiffe://user@corp.example/a',
    'spiffe://Corp.example/a',
    'spiffe://corp.example./a',
    'spiffe://corp.example.evil.test/a',
    'spiffe://evil.test/corp.example/a',
    'spiffe://xcorp.example/a',
    'spiffe:///a',
    'spiffe:/corp.example/a',
    'spiffe:corp.example/a',
    'SPIFFE://corp.example/a',
    'Spiffe://corp.example/a',
    'https://corp.example/a',
    'spiffe://corp.example\\@evil.test/a',
    ' spiffe://corp.example/a',
    `spiffe://corp.example/${'a'.repeat(2_048)}`,
  ];
  for (const id of near) it(`refuses ${id.slice(0, 60)}`, () => assert.equal(read(id), 'CLIENT_CERTIFICATE_NOT_ALLOWED'));

  it('wants exactly one URI name', () => {
    assert.equal(read(), 'CLIENT_CERTIFICATE_NOT_ALLOWED');
    assert.equal(read('spiffe://corp.example/a', 'spiffe://corp.example/a'), 'CLIENT_CERTIFICATE_NOT_ALLOWED');
    assert.equal(read('spiffe://corp.example/a', 'https://a.example/'), 'CLIENT_CERTIFICATE_NOT_ALLOWED');
  });
});

let ca: Issued;
let agent: Issued;
before(async () => {
  ca = await issue({ subject: 'CN=ca', ca: true });
  agent = await issue({
    issuer: ca,
    subject: [{ C: ['DE'] }, { O: ['Corp, Inc'] }, { CN: ['al"ice + bob'] }],
    uri: ['spiffe://corp.example/ns/prod/agent'],
    dns: ['Agent.Corp.Example'],
    email: ['a@corp.example'],
    ip: ['10.1.2.3', '2001:db8::1'],
  });
});

const SUBJECT = 'CN=al\\"ice \\+ bob,O=Corp\\, Inc,C=DE';
const ask = async (options: object, one: Issued = agent) => {
  const gate = await open({ source: 'direct', ...options });
  const decision = gate.ask([], tls(true, one.der));
  await gate.close();
  return decision;
};

describe('mtls: names', () => {
  it('writes what the certificate says as the fact, and ends the identity with it', async () => {
    const decision = await ask({ spiffe_trust_domains: ['corp.example'] });
    assert.deepEqual(decision, {
      kind: 'identify',
      identity: {
        principal: 'spiffe://corp.example/ns/prod/agent',
        issuer: 'mtls',
        scopes: new Set(),
        client: 'spiffe://corp.example/ns/prod/agent',
        expires_at_ms: Date.parse(TO),
      },
      facts: {
        certificate: {
          sha256: thumbprint(agent.der),
          subject: SUBJECT,
          sans: [
            { type: 'uri', value: 'spiffe://corp.example/ns/prod/agent' },
            { type: 'dns', value: 'Agent.Corp.Example' },
            { type: 'email', value: 'a@corp.example' },
            { type: 'ip', value: '10.1.2.3' },
            { type: 'ip', value: '2001:db8::1' },
          ],
          spiffe_id: 'spiffe://corp.example/ns/prod/agent',
          not_after: TO,
        },
      },
    });
    assert.ok(Object.isFrozen(fact(decision)) && Object.isFrozen(fact(decision).sans));
  });

  const principals: readonly (readonly [options: object, expect: string])[] = [
    [{}, SUBJECT],
    [{ principal: 'subject' }, SUBJECT],
    [{ principal: 'dns_san' }, 'agent.corp.example'],
    [{ spiffe_trust_domains: ['corp.example'] }, 'spiffe://corp.example/ns/prod/agent'],
    [{ spiffe_trust_domains: ['corp.example'], principal: 'subject' }, SUBJECT],
  ];
  for (const [options, expect] of principals)
    it(`principal of ${JSON.stringify(options)}`, async () => assert.equal(said(await ask(options)), expect));

  it('the thumbprint can be the principal', async () => {
    assert.equal(said(await ask({ principal: 'sha256' })), thumbprint(agent.der));
  });

  it('a name that is missing, double or too long is no principal', async () => {
    const bare = await issue({ issuer: ca, subject: [], dns: ['a.example', 'b.example'] });
    const long = await issue({ issuer: ca, subject: [...Array(20)].map(() => ({ OU: ['x'.repeat(60)] })) });
    assert.equal(said(await ask({ principal: 'subject' }, bare)), 'NOT_ALLOWED');
    assert.equal(said(await ask({ principal: 'dns_san' }, bare)), 'NOT_ALLOWED');
    assert.equal(said(await ask({ principal: 'subject' }, long)), 'NOT_ALLOWED');
    assert.match(why(await ask({ principal: 'subject' }, long)), /longer than 1024 characters/);
    assert.equal(said(await ask({ principal: 'sha256' }, bare)), thumbprint(bare.der));
  });

  it('without trust domains there is no spiffe_id', async () => {
    const decision = await ask({});
    assert.deepEqual(Object.keys(fact(decision)), ['sha256', 'subject', 'sans', 'not_after']);
  });

  it('a CA certificate that another CA issued is no workload', async () => {
    const middle = await issue({ issuer: ca, subject: 'CN=middle', uri: ['spiffe://corp.example/middle'], ca: true });
    const leaf = await issue({ issuer: ca, subject: 'CN=leaf', uri: ['spiffe://corp.example/leaf'], ca: false });
    assert.match(why(await ask({ spiffe_trust_domains: ['corp.example'] }, middle)), /It is a CA certificate; a workload is expected\.$/);
    assert.equal(said(await ask({ spiffe_trust_domains: ['corp.example'] }, leaf)), 'spiffe://corp.example/leaf');
    assert.equal(said(await ask({}, middle)), 'CN=middle');
  });

  it('trust domains ask for a SPIFFE ID whatever the principal is', async () => {
    const plain = await issue({ issuer: ca, subject: 'CN=plain' });
    assert.equal(said(await ask({ spiffe_trust_domains: ['corp.example'], principal: 'subject' }, plain)), 'NOT_ALLOWED');
    assert.equal(said(await ask({ spiffe_trust_domains: ['other.example'] })), 'NOT_ALLOWED');
  });
});

describe('mtls: allow', () => {
  const yes: readonly object[] = [
    {},
    { spiffe_ids: ['spiffe://corp.example/ns/prod/agent'] },
    { spiffe_ids: ['spiffe://corp.example/x', 'spiffe://corp.example/ns/prod/*'] },
    { spiffe_ids: ['spiffe://corp.example/*'] },
    { dns_sans: ['agent.corp.example'] },
    { dns_sans: ['x.example', 'AGENT.corp.example'] },
    { subjects: [SUBJECT] },
    { spiffe_ids: ['spiffe://corp.example/ns/prod/agent'], dns_sans: ['agent.corp.example'], subjects: [SUBJECT] },
  ];
  const no: readonly object[] = [
    { spiffe_ids: ['spiffe://corp.example/ns/prod'] },
    { spiffe_ids: ['spiffe://corp.example/ns/prod/agent/*'] },
    { spiffe_ids: ['spiffe://corp.example/ns/pro/*'] },
    { spiffe_ids: ['spiffe://other.example/*'] },
    { dns_sans: ['*.corp.example'] },
    { dns_sans: ['corp.example'] },
    { subjects: ['CN=al\\"ice \\+ bob'] },
    { subjects: [SUBJECT.toUpperCase()] },
    { subjects: ['C=DE,O=Corp\\, Inc,CN=al\\"ice \\+ bob'] },
    { sha256: ['0'.repeat(64)] },
    { spiffe_ids: ['spiffe://corp.example/ns/prod/agent'], dns_sans: ['x.example'] },
  ];
  for (const allow of yes) it(`passes ${JSON.stringify(allow)}`, async () => assert.equal((await ask({ allow })).kind, 'identify'));
  for (const allow of no) it(`refuses ${JSON.stringify(allow)}`, async () => assert.equal(said(await ask({ allow })), 'NOT_ALLOWED'));

  it('compares thumbprints in either case, with colons or not', async () => {
    const hex = thumbprint(agent.der);
    for (const sha256 of [hex, hex.toUpperCase(), (hex.toUpperCase().match(/../g) ?? []).join(':')]) {
      assert.equal((await ask({ allow: { sha256: [sha256] } })).kind, 'identify', sha256);
    }
  });
});

describe('mtls: validity', () => {
  it('is judged at each request by the gateway’s clock, though the terminator verified and the certificate is remembered', async () => {
    const gate = await open({ source: 'direct' });
    const soon = await issue({ issuer: ca, not_before: '2026-06-01T00:01:00Z', not_after: '2026-06-01T00:03:00Z' });
    const at = (ms: number) => {
      gate.host.clock.advance(NOW + ms - gate.host.clock.now_ms());
      return said(gate.ask([], tls(true, soon.der)));
    };
    assert.equal(at(0), 'EXPIRED');
    assert.match(why(gate.ask([], tls(true, soon.der))), /outside its validity period\. It is not valid yet\.$/);
    assert.equal(at(59_999), 'EXPIRED');
    assert.equal(at(60_000), 'CN=client');
    assert.equal(at(180_000), 'CN=client');
    assert.equal(at(180_001), 'EXPIRED');
    assert.match(why(gate.ask([], tls(true, soon.der))), /It is not valid any more\.$/);
    await gate.close();
  });
});
