import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAnchors } from '../../../gates/mtls/anchors.js';
import { amzn, CLIENT_AUTH, type Issued, issue, tlv, x509 } from './certificates.js';
import { fact, NOW, type Opened, open, said, why } from './kit.js';

const HEADER = 'x-amzn-mtls-clientcert';
const RSA = (modulusLength: number, hash = 'SHA-256') => ({
  name: 'RSASSA-PKCS1-v1_5',
  hash,
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength,
});
const NAME_CONSTRAINTS = (critical: boolean) =>
  new x509.Extension('2.5.29.30', critical, tlv(0x30, tlv(0xa0, tlv(0x30, tlv(0x82, new TextEncoder().encode('corp.example'))))));

let folder: string;
let root: Issued;
let middle: Issued;
let alice: Issued;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-mtls-'));
  root = await issue({ subject: 'CN=root', ca: true });
  middle = await issue({ issuer: root, subject: 'CN=middle', ca: true, path_length: 0, not_after: '2026-07-01T00:00:00Z' });
  alice = await issue({ issuer: middle, subject: 'CN=alice', eku: [CLIENT_AUTH], not_after: '2026-12-01T00:00:00Z' });
  await writeFile(join(folder, 'root.pem'), `the client CA\n${root.pem}`);
});
after(() => rm(folder, { recursive: true }));

const options = { source: 'alb', mode: 'passthrough', ca_file: 'root.pem' };

/** What the gate says of a chain when `anchors` are the client CAs. */
async function judge(chain: readonly Issued[], anchors: readonly Issued[] = [root]): Promise<string> {
  const file = `${chain[0]?.der.toString('hex').slice(40, 72)}.pem`;
  await writeFile(join(folder, file), anchors.map((one) => one.pem).join(''));
  const gate = await open({ ...options, ca_file: file }, folder);
  const decision = gate.ask([HEADER, amzn(chain.map((one) => one.pem).join(''))]);
  await gate.close();
  return decision.kind === 'refuse' ? `${said(decision)} ${why(decision).split('. ').slice(1).join('. ')}` : said(decision);
}

describe('mtls: alb passthrough checks the chain itself', () => {
  it('a chain to a client CA identifies, until its first certificate ends', async () => {
    const gate = await open(options, folder);
    const decision = gate.ask([HEADER, amzn(alice.pem + middle.pem)]);
    assert.ok(decision.kind === 'identify');
    assert.equal(decision.identity.principal, 'CN=alice');
    assert.equal(decision.identity.expires_at_ms, Date.parse('2026-07-01T00:00:00Z'));
    assert.equal(fact(decision).not_after, '2026-12-01T00:00:00.000Z');
    gate.host.clock.advance(Date.parse('2026-07-01T00:00:00Z') + 1 - NOW);
    assert.equal(said(gate.ask([HEADER, amzn(alice.pem + middle.pem)])), 'EXPIRED');
    await gate.close();
  });

  it('the root may be sent along, or the issuer be an anchor itself', async () => {
    assert.equal(await judge([alice, middle, root]), 'CN=alice');
    assert.equal(await judge([alice], [middle]), 'CN=alice');
  });

  it('a chain to nobody we know is not verified', async () => {
    const stranger = await issue({ subject: 'CN=root', ca: true });
    const fake = await issue({ issuer: stranger, subject: 'CN=alice' });
    assert.match(await judge([fake]), /^UNVERIFIED It does not chain to a CA/);
    assert.match(await judge([fake, stranger]), /^UNVERIFIED It does not chain to a CA/);
    assert.match(await judge([alice]), /^UNVERIFIED It does not chain to a CA/);
  });

  it('two chains joined, or in the wrong order, are no chain', async () => {
    const bob = await issue({ issuer: root, subject: 'CN=bob' });
    assert.match(await judge([bob, alice, middle]), /^MALFORMED A certificate was not issued by the one that follows/);
    assert.match(await judge([middle, alice]), /^MALFORMED A certificate was not issued/);
  });

  it('a client certificate cannot issue another', async () => {
    const bob = await issue({ issuer: root, subject: 'CN=bob' });
    const forged = await issue({ issuer: bob, subject: 'CN=alice' });
    assert.match(await judge([forged, bob]), /^UNVERIFIED An issuer in its chain is not a CA certificate/);
    const not_ca = await issue({ issuer: root, subject: 'CN=not a CA', ca: false });
    assert.match(
      await judge([await issue({ issuer: not_ca, subject: 'CN=alice' }), not_ca]),
      /^UNVERIFIED An issuer in its chain is not a CA/,
    );
  });

  it('a CA issues no deeper than its path length', async () => {
    const deeper = await issue({ issuer: middle, subject: 'CN=deeper', ca: true });
    assert.match(
      await judge([await issue({ issuer: deeper, subject: 'CN=x' }), deeper, middle]),
      /^UNVERIFIED Its chain is longer than a CA in it allows/,
    );
    const wide = await issue({ subject: 'CN=wide', ca: true, path_length: 1 });
    const first = await issue({ issuer: wide, subject: 'CN=first', ca: true });
    assert.equal(await judge([await issue({ issuer: first, subject: 'CN=x' }), first], [wide]), 'CN=x');
  });

  it('a certificate for servers only is refused, one for any purpose or without purposes passes', async () => {
    assert.match(await judge([await issue({ issuer: root, eku: ['1.3.6.1.5.5.7.3.1'] })]), /^UNVERIFIED Its extended key usage/);
    assert.equal(await judge([await issue({ issuer: root, eku: ['2.5.29.37.0'] })]), 'CN=client');
    assert.equal(await judge([await issue({ issuer: root })]), 'CN=client');
  });

  it('weak keys and signatures are refused', async () => {
    const rsa = await issue({ subject: 'CN=rsa', ca: true, algorithm: RSA(2_048) });
    assert.equal(await judge([await issue({ issuer: rsa, subject: 'CN=x' })], [rsa]), 'CN=x');
    const sha1 = await issue({ subject: 'CN=sha1', ca: true, algorithm: RSA(2_048, 'SHA-1') });
    assert.match(await judge([await issue({ issuer: sha1 })], [sha1]), /^UNVERIFIED Its chain is signed with an algorithm/);
    assert.match(await judge([await issue({ issuer: root, algorithm: RSA(1_024) })]), /^UNVERIFIED Its chain has a key that is too short/);
  });

  it('what is not implemented is refused, not skipped', async () => {
    const critical = new x509.Extension('1.3.6.1.4.1.99999.2', true, new Uint8Array([5, 0]));
    assert.match(await judge([await issue({ issuer: root, extensions: [critical] })]), /^UNVERIFIED Its chain has a critical extension/);
    for (const [is_critical, reason] of [
      [true, /^UNVERIFIED Its chain has a critical extension/],
      [false, /^UNVERIFIED A CA in its chain has name constraints/],
    ] as const) {
      const constrained = await issue({ issuer: root, subject: 'CN=constrained', ca: true, extensions: [NAME_CONSTRAINTS(is_critical)] });
      assert.match(await judge([await issue({ issuer: constrained }), constrained]), reason);
    }
  });

  it('an intermediate that is not valid yet makes the chain expired', async () => {
    const young = await issue({ issuer: root, subject: 'CN=young', ca: true, not_before: '2026-06-02T00:00:00Z' });
    assert.match(await judge([await issue({ issuer: young }), young]), /^EXPIRED It is not valid yet/);
  });

  it('the end of the anchor counts too', async () => {
    const old = await issue({ subject: 'CN=old', ca: true, not_after: '2026-05-31T23:59:59Z' });
    assert.match(await judge([await issue({ issuer: old })], [old]), /^EXPIRED It is not valid any more/);
  });

  it('the right key under another name issues nothing', async () => {
    const renamed = await issue({ subject: 'CN=renamed', ca: true, keys: root.keys });
    assert.match(await judge([await issue({ issuer: root })], [renamed]), /^UNVERIFIED It does not chain to a CA/);
    assert.match(await judge([await issue({ issuer: root }), renamed]), /^MALFORMED A certificate was not issued/);
  });

  it('a changed signature is not verified', async () => {
    const bent = Buffer.from(alice.der);
    bent[bent.length - 1] = (bent[bent.length - 1] as number) ^ 1;
    const pem = `-----BEGIN CERTIFICATE-----\n${bent.toString('base64')}\n-----END CERTIFICATE-----\n`;
    assert.match(await judge([{ ...alice, der: bent, pem }], [middle]), /^UNVERIFIED It does not chain/);
  });
});

describe('mtls: ca_file', () => {
  it('must be there and hold nothing but client CAs', async () => {
    await assert.rejects(open({ ...options, ca_file: 'none.pem' }, folder), /ENOENT/);
    assert.throws(() => parseAnchors(''), /ca_file: holds no CERTIFICATE block/);
    assert.throws(
      () => parseAnchors(root.pem + alice.pem),
      /ca_file: certificate 2 cannot be a client CA\. An issuer in its chain is not a CA certificate\./,
    );
    assert.throws(() => parseAnchors(root.pem.slice(0, 200)), /ca_file: certificate 1 cannot be read\./);
    assert.throws(() => parseAnchors(root.pem.repeat(101)), /ca_file: holds more than 100 certificates/);
    assert.throws(() => parseAnchors(' '.repeat(1_048_577)), /ca_file: is larger than 1048576 bytes/);
    const constrained = await issue({ subject: 'CN=c', ca: true, extensions: [NAME_CONSTRAINTS(true)] });
    assert.throws(() => parseAnchors(constrained.pem), /has name constraints, which are not supported/);
    assert.equal(parseAnchors(`# comment\n${root.pem}\n# another\n${middle.pem}`).length, 2);
  });

  it('is followed: a new CA admits, a removed one refuses what was remembered, a broken file changes nothing', async () => {
    const file = join(folder, 'moving.pem');
    const next = await issue({ subject: 'CN=next', ca: true });
    const [old_client, new_client] = [await issue({ issuer: root, subject: 'CN=old' }), await issue({ issuer: next, subject: 'CN=new' })];
    await writeFile(file, root.pem);
    const gate = await open({ ...options, ca_file: 'moving.pem' }, folder);
    const asked = () => [old_client, new_client].map((one) => said(gate.ask([HEADER, amzn(one.pem)])));
    assert.deepEqual(asked(), ['CN=old', 'UNVERIFIED']);

    await writeFile(file, root.pem + next.pem);
    await reloaded(gate, 'client CAs reloaded');
    assert.deepEqual(asked(), ['CN=old', 'CN=new']);

    await writeFile(file, 'half a file');
    await reloaded(gate, 'client CAs not reloaded; the last good ones stay');
    assert.deepEqual(asked(), ['CN=old', 'CN=new']);

    await writeFile(file, next.pem);
    await reloaded(gate, 'client CAs reloaded');
    assert.deepEqual(asked(), ['UNVERIFIED', 'CN=new']);
    await gate.close();
    assert.equal(gate.host.clock.pending, 0);
  });
});

/** Lets the gate's minute pass and waits for the log line that ends the reading. */
async function reloaded(gate: Opened, message: string): Promise<void> {
  const before = gate.host.log.lines.length;
  gate.host.clock.advance(60_000);
  for (let i = 0; gate.host.log.lines.length === before && i < 500; i += 1) await sleep(10);
  assert.equal(gate.host.log.lines.at(-1)?.message, message);
}
