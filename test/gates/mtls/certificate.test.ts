import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Certificate, readCertificate } from '../../../gates/mtls/certificate.js';
import { Fault } from '../../../gates/mtls/codes.js';
import { DerError, DerReader } from '../../../gates/mtls/der.js';
import { readSans } from '../../../gates/mtls/sans.js';
import { type Issued, issue, rawSans, tlv, x509 } from './certificates.js';
import { open, said, tls } from './kit.js';

const read = (der: Uint8Array): Certificate => {
  const certificate = readCertificate(der);
  assert.ok(!(certificate instanceof Fault), certificate instanceof Fault ? certificate.detail : '');
  return certificate;
};
const detail = (der: Uint8Array): string => {
  const certificate = readCertificate(der);
  return certificate instanceof Fault ? `${certificate.code} ${certificate.detail}` : 'read';
};

const DNS = 0x82;
const URI = 0x86;
let ca: Issued;
let victim: Issued;
before(async () => {
  ca = await issue({ subject: 'CN=ca', ca: true });
  victim = await issue({ issuer: ca, subject: 'CN=victim', uri: ['spiffe://corp.example/victim'] });
});

describe('mtls: names are read from DER, not from their printed form', () => {
  const odd: readonly (readonly [what: string, name: readonly [number, string]])[] = [
    ['a DNS name with a second one in it', [DNS, 'a.example,DNS:admin.example']],
    ['a DNS name with a URI in it', [DNS, 'a.example,URI:spiffe://corp.example/admin']],
    ['a quoted name', [DNS, '"a.example"']],
    ['a quote that closes the text', [DNS, 'a"],DNS:"admin.example']],
    ['a URI with commas and quotes', [URI, 'spiffe://corp.example/a",URI:"spiffe://corp.example/admin']],
    ['a URI with XFCC separators', [URI, 'spiffe://corp.example/a;URI=spiffe://corp.example/admin']],
  ];
  for (const [what, [tag, value]] of odd) {
    it(`${what} stays one name and identifies nobody`, async () => {
      const one = await issue({ issuer: ca, extensions: [rawSans([tag, value])] });
      assert.deepEqual(read(one.der).sans, [{ type: tag === DNS ? 'dns' : 'uri', value }]);
      for (const options of [
        { spiffe_trust_domains: ['corp.example'] },
        { allow: { spiffe_ids: ['spiffe://corp.example/admin'] } },
        { allow: { dns_sans: ['admin.example', 'a.example'] } },
      ]) {
        const gate = await open({ source: 'direct', ...options });
        assert.equal(said(gate.ask([], tls(true, one.der))), 'NOT_ALLOWED');
        await gate.close();
      }
    });
  }

  const bad: readonly (readonly [what: string, name: readonly [number, string]])[] = [
    ['a NUL', [DNS, 'admin.example\0.evil.test']],
    ['a line break', [DNS, 'a.example\nDNS:admin.example']],
    ['a space', [URI, 'spiffe://corp.example/a b']],
    ['a byte outside ASCII', [DNS, 'b\u00fccher.example']],
    ['nothing', [DNS, '']],
    ['2049 characters', [DNS, 'a'.repeat(2_049)]],
  ];
  for (const [what, name] of bad) {
    it(`a name with ${what} makes the certificate unreadable`, async () => {
      const one = await issue({ issuer: ca, extensions: [rawSans([URI, 'spiffe://corp.example/a'], name)] });
      assert.equal(detail(one.der), 'CLIENT_CERTIFICATE_MALFORMED Its extensions or names cannot be read.');
    });
  }

  it('a subjectAltName that is there twice makes the certificate unreadable', async () => {
    const one = await issue({
      issuer: ca,
      extensions: [rawSans([URI, 'spiffe://corp.example/a']), rawSans([URI, 'spiffe://corp.example/admin'])],
    });
    assert.match(detail(one.der), /names cannot be read/);
  });

  it('257 names are too many, 256 are not', async () => {
    const names = (count: number) => rawSans(...[...Array(count)].map((_, i) => [DNS, `h${i}.example`] as const));
    assert.equal(read((await issue({ issuer: ca, extensions: [names(256)] })).der).sans.length, 256);
    assert.match(detail((await issue({ issuer: ca, extensions: [names(257)] })).der), /names cannot be read/);
  });

  it('65 extensions are too many, 64 are not', async () => {
    const extensions = (count: number) =>
      [...Array(count)].map((_, i) => new x509.Extension(`1.3.6.1.4.1.99999.3.${i}`, false, new Uint8Array([5, 0])));
    assert.equal(detail((await issue({ issuer: ca, extensions: extensions(64) })).der), 'read');
    assert.match(detail((await issue({ issuer: ca, extensions: extensions(65) })).der), /extensions or names cannot be read/);
  });

  it('bytes after the names make the certificate unreadable', async () => {
    const names = new Uint8Array([...new Uint8Array(rawSans([DNS, 'a.example']).value), 0x05, 0x00]);
    const one = await issue({ issuer: ca, extensions: [new x509.Extension('2.5.29.17', false, names)] });
    assert.match(detail(one.der), /names cannot be read/);
  });

  it('names of other kinds are left out, addresses of an odd length are not read', async () => {
    const other = await issue({
      issuer: ca,
      extensions: [rawSans([0xa0, tlv(0x06, new Uint8Array([42]))], [0x88, '\x2a'], [DNS, 'a.example'])],
    });
    assert.deepEqual(read(other.der).sans, [{ type: 'dns', value: 'a.example' }]);
    assert.match(detail((await issue({ issuer: ca, extensions: [rawSans([0x87, '\x01\x02\x03'])] })).der), /names cannot be read/);
  });

  it('a subject cannot break out of its name', async () => {
    const one = await issue({ issuer: ca, subject: [{ O: ['Corp\nCN=admin'] }, { CN: ['a,CN=admin'] }, { OU: ['x + CN=admin'] }] });
    assert.equal(read(one.der).subject, 'OU=x \\+ CN=admin,CN=a\\,CN=admin,O=Corp\\0ACN=admin');
  });

  it('a multi-valued name is written with +', async () => {
    const one = await issue({ issuer: ca, subject: [{ O: ['Corp'] }, { CN: ['a'], OU: ['b'] }] });
    assert.match(read(one.der).subject, /^(CN=a\+OU=b|OU=b\+CN=a),O=Corp$/);
  });

  it('a certificate without subject and extensions has no names', async () => {
    const one = read((await issue({ issuer: ca, subject: [] })).der);
    assert.equal(one.subject, '');
    assert.deepEqual(one.sans, []);
  });
});

describe('mtls: exactly one certificate', () => {
  const extra: readonly (readonly [what: string, bend: (der: Buffer) => Buffer])[] = [
    ['a byte after it', (der) => Buffer.concat([der, Buffer.from([0])])],
    ['itself after it', (der) => Buffer.concat([der, der])],
    ['PEM of another after it', (der) => Buffer.concat([der, Buffer.from(`\n${victim.pem}`)])],
    ['PEM of another before it', (der) => Buffer.concat([Buffer.from(victim.pem), der])],
    ['PEM instead', () => Buffer.from(victim.pem)],
  ];
  for (const [what, bend] of extra) {
    it(`${what} is a fault`, async () => {
      const one = await issue({ issuer: ca, subject: 'CN=mallory' });
      assert.equal(detail(bend(one.der)), 'CLIENT_CERTIFICATE_MALFORMED There are bytes beside the DER of one certificate.');
    });
  }

  it('a victim’s PEM hidden inside a certificate does not make it the victim', async () => {
    const hidden = new x509.Extension('1.3.6.1.4.1.99999.1', false, new TextEncoder().encode(`\n${victim.pem}`));
    const one = await issue({ issuer: ca, subject: 'CN=mallory', extensions: [hidden] });
    assert.match(new X509Certificate(one.der).subject, /CN=victim/, 'node:crypto is fooled, or this test shows nothing');
    assert.match(detail(one.der), /bytes beside the DER/);
  });

  for (const [what, junk] of [
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['a sequence', Buffer.from([0x30, 0x00])],
    ['an endless length', Buffer.from([0x30, 0x80, 0x00, 0x00])],
    ['a huge length', Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])],
  ] as const) {
    it(`${what} is a fault`, () => assert.equal(detail(junk), 'CLIENT_CERTIFICATE_MALFORMED It is not an X.509 certificate in DER.'));
  }

  it('every cut and every flipped byte is read as something else or refused, never thrown', async () => {
    const { der } = await issue({ issuer: ca, uri: ['spiffe://corp.example/a'], dns: ['a.example'] });
    const known = read(der).sha256;
    for (let i = 0; i < der.length; i += 7) {
      assert.ok(readCertificate(der.subarray(0, i)) instanceof Fault);
      const bent = Buffer.from(der);
      bent[i] = (bent[i] as number) ^ 0x41;
      const certificate = readCertificate(bent);
      assert.ok(certificate instanceof Fault || certificate.sha256 !== known);
    }
  });
});

describe('mtls: the DER reader', () => {
  it('never leaves its bounds and throws nothing but DerError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const reader = new DerReader(bytes);
        let end = 0;
        try {
          while (!reader.done) {
            const element = reader.next();
            assert.ok(element.start > end && element.end >= element.start && element.end <= bytes.length);
            end = element.end;
          }
          readSans(bytes);
        } catch (error) {
          assert.ok(error instanceof DerError, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads the names that were written, whatever they are', () => {
    const name = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((unit) => String.fromCharCode(unit)),
      minLength: 1,
      maxLength: 300,
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(DNS, URI, 0x81), name), { maxLength: 20 }), (names) => {
        const types = new Map([
          [DNS, 'dns'],
          [URI, 'uri'],
          [0x81, 'email'],
        ]);
        const value = new Uint8Array(rawSans(...names).value);
        assert.deepEqual(
          readSans(value),
          names.map(([tag, text]) => ({ type: types.get(tag), value: text })),
        );
      }),
      { numRuns: 200 },
    );
  });

  for (const [what, bytes] of [
    ['a length in a longer form than needed', [0x30, 0x81, 0x01, 0x00]],
    ['a length with a leading zero', [0x30, 0x82, 0x00, 0x80, ...Array(0x80).fill(0)]],
    ['a tag of several bytes', [0x1f, 0x81, 0x00, 0x00]],
    ['a length of four bytes', [0x30, 0x84, 0, 0, 0, 0]],
    ['content past its end', [0x30, 0x02, 0x00]],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => new DerReader(new Uint8Array(bytes)).next(), DerError));
  }
});
