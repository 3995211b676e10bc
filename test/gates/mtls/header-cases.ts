// The header sources as a table: options, the lines of a head, what the gate must say. Certificates are made on import.
import { amzn, CLIENT_AUTH, escaped, type Issued, issue } from './certificates.js';

export const ALICE = 'CN=alice,O=Corp';

export const ca: Issued = await issue({ subject: 'CN=ca', ca: true });
export const alice: Issued = await issue({ issuer: ca, subject: 'O=Corp,CN=alice', dns: ['alice.corp.example'], eku: [CLIENT_AUTH] });
const mallory = await issue({ issuer: ca, subject: 'O=Corp,CN=mallory' });
const with_plus = await issueUntil('CN=plus', (one) => one.pem.includes('+'));
const with_padding = await issueUntil('CN=pad', (one) => b64(one).endsWith('='));

/** Base64 of the DER in one line. */
export function b64(one: Issued): string {
  return one.der.toString('base64');
}

async function issueUntil(subject: string, good: (one: Issued) => boolean): Promise<Issued> {
  for (let length = 0; ; length += 1) {
    const one = await issue({ issuer: ca, subject, dns: [`${'p'.repeat(length + 1)}.example`] });
    if (good(one)) return one;
  }
}

function pemOf(der: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
}

export interface Case {
  readonly what: string;
  readonly lines: () => readonly string[];
  readonly expect: string;
  /** Part of the message. */
  readonly because?: RegExp;
}

/** Attacks that every header source answers alike. `value` makes the header's value for a certificate; `rest` the flag that goes with it. */
function common(name: string, value: (one: Issued) => string, rest: readonly string[], limit = 24_576): readonly Case[] {
  const good = () => value(alice);
  return [
    { what: 'the certificate', lines: () => [name, good(), ...rest], expect: ALICE },
    { what: 'the name in other case', lines: () => [name.toUpperCase(), good(), ...rest], expect: ALICE },
    { what: 'nothing', lines: () => [], expect: 'REQUIRED', because: /^A client certificate is required and none was presented\.$/ },
    {
      what: 'twice, allowed first',
      lines: () => [name, good(), name, value(mallory), ...rest],
      expect: 'MALFORMED',
      because: /sent more than once/,
    },
    {
      what: 'twice, allowed last',
      lines: () => [name, value(mallory), name, good(), ...rest],
      expect: 'MALFORMED',
      because: /sent more than once/,
    },
    {
      what: 'twice the same',
      lines: () => [name, good(), name.toUpperCase(), good(), ...rest],
      expect: 'MALFORMED',
      because: /sent more than once/,
    },
    { what: 'two joined by a comma', lines: () => [name, `${good()}, ${value(mallory)}`, ...rest], expect: 'MALFORMED' },
    { what: 'two joined by a comma without space', lines: () => [name, `${good()},${value(mallory)}`, ...rest], expect: 'MALFORMED' },
    {
      what: 'only a _ spelling',
      lines: () => [name.replaceAll('-', '_'), good(), ...rest],
      expect: 'MALFORMED',
      because: /spelling .* with _/,
    },
    {
      what: 'a _ spelling beside it',
      lines: () => [name, good(), name.replace('-', '_'), value(mallory), ...rest],
      expect: 'MALFORMED',
      because: /with _/,
    },
    {
      what: 'a _ spelling before it',
      lines: () => [name.replace('-', '_'), value(mallory), name, good(), ...rest],
      expect: 'MALFORMED',
      because: /with _/,
    },
    { what: 'an empty value', lines: () => [name, '', ...rest], expect: 'MALFORMED', because: /is empty/ },
    {
      what: 'one byte over the bound',
      lines: () => [name, good().padEnd(limit + 1, 'A'), ...rest],
      expect: 'MALFORMED',
      because: new RegExp(`longer than ${limit} bytes`),
    },
    { what: 'at the bound, of junk', lines: () => [name, 'A'.repeat(limit), ...rest], expect: 'MALFORMED' },
    { what: '64 KiB', lines: () => [name, 'A'.repeat(65_536), ...rest], expect: 'MALFORMED', because: /longer than/ },
    {
      what: 'named by Connection',
      lines: () => ['connection', `close, ${name}`, name, good(), ...rest],
      expect: 'MALFORMED',
      because: /Connection/,
    },
    { what: 'beside an ordinary Connection', lines: () => ['Connection', 'close, te', name, good(), ...rest], expect: ALICE },
    { what: 'a cut certificate', lines: () => [name, good().slice(0, -40), ...rest], expect: 'MALFORMED' },
    { what: 'a space before its end', lines: () => [name, `${good().slice(0, -8)} ${good().slice(-8)}`, ...rest], expect: 'MALFORMED' },
  ];
}

const NGINX = { source: 'nginx', cert_header: 'X-SSL-Cert', verify_header: 'X-SSL-Verify' };
const ok = ['x-ssl-verify', 'SUCCESS'];
const HAPROXY = { ...NGINX, source: 'haproxy' };
const RFC9440 = { source: 'rfc9440', verified_header: { name: 'X-Client-Verified', value: '1' } };
const verified = ['x-client-verified', '1'];

/** Every header source with its options and cases; the first case is the certificate alone, the fourth sends it twice. */
export const tables: readonly (readonly [source: string, options: object, cases: readonly Case[]])[] = [
  [
    'nginx',
    NGINX,
    [
      ...common('x-ssl-cert', (one) => escaped(one.pem), ok),
      { what: 'no flag', lines: () => ['x-ssl-cert', escaped(alice.pem)], expect: 'UNVERIFIED' },
      { what: 'flag NONE', lines: () => ['x-ssl-cert', escaped(alice.pem), 'x-ssl-verify', 'NONE'], expect: 'UNVERIFIED' },
      {
        what: 'flag FAILED',
        lines: () => ['x-ssl-cert', escaped(alice.pem), 'x-ssl-verify', 'FAILED:unable to verify'],
        expect: 'UNVERIFIED',
      },
      { what: 'flag in small letters', lines: () => ['x-ssl-cert', escaped(alice.pem), 'x-ssl-verify', 'success'], expect: 'UNVERIFIED' },
      {
        what: 'flag SUCCESS and more',
        lines: () => ['x-ssl-cert', escaped(alice.pem), 'x-ssl-verify', 'SUCCESS, FAILED'],
        expect: 'UNVERIFIED',
      },
      { what: 'flag twice', lines: () => ['x-ssl-cert', escaped(alice.pem), ...ok, 'x-ssl-verify', 'FAILED'], expect: 'MALFORMED' },
      {
        what: 'flag with a _ spelling',
        lines: () => ['x-ssl-cert', escaped(alice.pem), ...ok, 'x_ssl_verify', 'SUCCESS'],
        expect: 'MALFORMED',
      },
      { what: 'flag NONE alone', lines: () => ['x-ssl-verify', 'NONE'], expect: 'REQUIRED' },
      { what: 'flag SUCCESS alone', lines: () => ok, expect: 'MALFORMED', because: /without the certificate header/ },
      { what: 'PEM that is not escaped', lines: () => ['x-ssl-cert', alice.pem.replaceAll('\n', ' '), ...ok], expect: 'MALFORMED' },
      {
        what: 'two PEM blocks',
        lines: () => ['x-ssl-cert', escaped(alice.pem + mallory.pem), ...ok],
        expect: 'MALFORMED',
        because: /more than one certificate/,
      },
      {
        what: 'text before the block',
        lines: () => ['x-ssl-cert', escaped(`x\n${alice.pem}`), ...ok],
        expect: 'MALFORMED',
        because: /text beside/,
      },
      {
        what: 'text after the block',
        lines: () => ['x-ssl-cert', escaped(`${alice.pem}x`), ...ok],
        expect: 'MALFORMED',
        because: /text beside/,
      },
      {
        what: 'another label',
        lines: () => ['x-ssl-cert', escaped(alice.pem.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE')), ...ok],
        expect: 'MALFORMED',
      },
      {
        what: 'a broken escape',
        lines: () => ['x-ssl-cert', `${escaped(alice.pem)}%`, ...ok],
        expect: 'MALFORMED',
        because: /escapes are broken/,
      },
      {
        what: 'escapes in small letters',
        lines: () => ['x-ssl-cert', escaped(alice.pem).replace(/%../g, (hex) => hex.toLowerCase()), ...ok],
        expect: ALICE,
      },
      { what: 'CRLF line ends', lines: () => ['x-ssl-cert', escaped(alice.pem.replaceAll('\n', '\r\n')), ...ok], expect: ALICE },
      {
        what: 'bytes after the DER',
        lines: () => ['x-ssl-cert', escaped(pemOf(Buffer.concat([alice.der, Buffer.from([0])]))), ...ok],
        expect: 'MALFORMED',
        because: /bytes beside the DER/,
      },
    ],
  ],
  [
    'ingress-nginx',
    { source: 'ingress-nginx' },
    [
      ...common('ssl-client-cert', (one) => escaped(one.pem), ['ssl-client-verify', 'SUCCESS']),
      { what: 'flag NONE alone', lines: () => ['ssl-client-verify', 'NONE'], expect: 'REQUIRED' },
      {
        what: 'flag FAILED',
        lines: () => ['ssl-client-cert', escaped(alice.pem), 'ssl-client-verify', 'FAILED:certificate has expired'],
        expect: 'UNVERIFIED',
      },
    ],
  ],
  [
    'haproxy',
    HAPROXY,
    [
      ...common('x-ssl-cert', b64, ['x-ssl-verify', '0']),
      { what: 'no flag', lines: () => ['x-ssl-cert', b64(alice)], expect: 'UNVERIFIED' },
      { what: 'an error number', lines: () => ['x-ssl-cert', b64(alice), 'x-ssl-verify', '10'], expect: 'UNVERIFIED' },
      { what: '00', lines: () => ['x-ssl-cert', b64(alice), 'x-ssl-verify', '00'], expect: 'UNVERIFIED' },
      { what: 'flag 0 alone', lines: () => ['x-ssl-verify', '0'], expect: 'REQUIRED' },
      { what: 'flag 20 alone', lines: () => ['x-ssl-verify', '20'], expect: 'MALFORMED' },
      {
        what: 'base64 without padding',
        lines: () => ['x-ssl-cert', b64(with_padding).slice(0, -1), 'x-ssl-verify', '0'],
        expect: 'MALFORMED',
        because: /canonical base64/,
      },
      {
        what: 'bytes after the DER',
        lines: () => ['x-ssl-cert', Buffer.concat([alice.der, alice.der]).toString('base64'), 'x-ssl-verify', '0'],
        expect: 'MALFORMED',
        because: /bytes beside/,
      },
    ],
  ],
  [
    'rfc9440',
    RFC9440,
    [
      ...common('client-cert', (one) => `:${b64(one)}:`, verified),
      { what: 'no flag', lines: () => ['client-cert', `:${b64(alice)}:`], expect: 'UNVERIFIED' },
      { what: 'another flag', lines: () => ['client-cert', `:${b64(alice)}:`, 'x-client-verified', '0'], expect: 'UNVERIFIED' },
      { what: 'the flag listed', lines: () => ['client-cert', `:${b64(alice)}:`, 'x-client-verified', '1, 1'], expect: 'UNVERIFIED' },
      { what: 'the flag twice', lines: () => ['client-cert', `:${b64(alice)}:`, ...verified, ...verified], expect: 'MALFORMED' },
      { what: 'the flag alone', lines: () => verified, expect: 'REQUIRED' },
      {
        what: 'no colons',
        lines: () => ['client-cert', b64(alice), ...verified],
        expect: 'MALFORMED',
        because: /byte sequence between colons/,
      },
      { what: 'parameters', lines: () => ['client-cert', `:${b64(alice)}:;a=1`, ...verified], expect: 'MALFORMED' },
      { what: 'colons only', lines: () => ['client-cert', '::', ...verified], expect: 'MALFORMED' },
      {
        what: 'a chain beside it, which is not read',
        lines: () => ['client-cert', `:${b64(alice)}:`, 'client-cert-chain', `:${b64(ca)}:`, ...verified],
        expect: ALICE,
      },
      {
        what: 'bytes after the DER',
        lines: () => ['client-cert', `:${Buffer.concat([alice.der, Buffer.from('x')]).toString('base64')}:`, ...verified],
        expect: 'MALFORMED',
      },
    ],
  ],
  [
    'traefik',
    { source: 'traefik' },
    [
      ...common('x-forwarded-tls-client-cert', b64, []),
      { what: 'the leaf and its issuer', lines: () => ['x-forwarded-tls-client-cert', `${b64(alice)},${b64(ca)}`], expect: ALICE },
      {
        what: 'the issuer and the leaf',
        lines: () => ['x-forwarded-tls-client-cert', `${b64(ca)},${b64(alice)}`],
        expect: 'MALFORMED',
        because: /not issued by the one that follows/,
      },
      {
        what: 'a forged leaf joined before the real one',
        lines: () => ['x-forwarded-tls-client-cert', `${b64(mallory)},${b64(alice)},${b64(ca)}`],
        expect: 'MALFORMED',
      },
      { what: 'a trailing comma', lines: () => ['x-forwarded-tls-client-cert', `${b64(alice)},`], expect: 'MALFORMED' },
      {
        what: 'nine certificates',
        lines: () => ['x-forwarded-tls-client-cert', Array(9).fill(b64(ca)).join(',')],
        expect: 'MALFORMED',
        because: /more than 8/,
      },
      { what: 'armour', lines: () => ['x-forwarded-tls-client-cert', alice.pem.replaceAll('\n', '')], expect: 'MALFORMED' },
      { what: 'escapes', lines: () => ['x-forwarded-tls-client-cert', encodeURIComponent(b64(alice))], expect: 'MALFORMED' },
    ],
  ],
  [
    'alb, verify mode',
    { source: 'alb' },
    [
      ...common('x-amzn-mtls-clientcert-leaf', (one) => amzn(one.pem), []),
      { what: 'the other mode’s header', lines: () => ['x-amzn-mtls-clientcert', amzn(alice.pem)], expect: 'REQUIRED' },
      {
        what: 'a chain',
        lines: () => ['x-amzn-mtls-clientcert-leaf', amzn(alice.pem + ca.pem)],
        expect: 'MALFORMED',
        because: /more than one/,
      },
      {
        what: 'plus signs made spaces',
        lines: () => ['x-amzn-mtls-clientcert-leaf', amzn(with_plus.pem).replaceAll('+', '%20')],
        expect: 'MALFORMED',
      },
      {
        what: 'plus signs as they are',
        lines: () => ['x-amzn-mtls-clientcert-leaf', amzn(with_plus.pem)],
        expect: 'CN=plus',
      },
    ],
  ],
];
