import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { tlsSettings, watchTls } from '../../src/assembly/tls.js';
import { resolveConfig } from '../../src/config/load.js';
import { makeClock, makeLog } from '../../src/testing.js';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import { folderWith } from '../support/config-files.js';

let one: Issued;
let two: Issued;

before(async () => {
  [one, two] = await Promise.all([issue({ subject: 'CN=one' }), issue({ subject: 'CN=two' })]);
});

/** Watches a certificate, a key and a client CA; `put` writes them, `pass` moves the time on. */
function watched() {
  const files = folderWith({ 'crt.pem': one.pem, 'key.pem': one.key_pem, 'ca.pem': one.pem });
  const tls = {
    cert_file: 'crt.pem',
    key_file: 'key.pem',
    client_ca_file: 'ca.pem',
    min_version: 'TLSv1.3',
    client_certificates: 'require',
  };
  const input = {
    listener: { tls },
    runtimes: { s: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
    routes: [{ path: '/mcp', public: true, runtime: 's' }],
  };
  const { config } = resolveConfig(input, { folder: files.folder });
  const clock = makeClock();
  const log = makeLog();
  const renewed: string[] = [];
  const timer = watchTls(config, clock, log, (settings) => {
    renewed.push(
      `${settings.cert === undefined ? '' : String(settings.cert) === two.pem ? 'two' : 'one'} ${String(settings.ca) === two.pem ? 'two' : 'one'}`,
    );
  });
  return {
    config,
    log,
    renewed,
    put: (name: 'crt' | 'key' | 'ca', text: string) => writeFileSync(`${files.folder}/${name}.pem`, text),
    pass: () => clock.advance(10_000),
    end() {
      timer?.cancel();
      files.remove();
      return clock.pending;
    },
  };
}

describe('TLS settings', () => {
  it('say which clients must show a certificate and which versions are spoken', () => {
    const { config, end } = watched();
    const settings = tlsSettings(config);
    assert.deepEqual(
      { ...settings, cert: '', key: '', ca: '' },
      { cert: '', key: '', ca: '', minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true },
    );
    assert.equal(end(), 0);
  });
});

describe('renewal of TLS files', () => {
  let up: ReturnType<typeof watched>;
  before(() => {
    up = watched();
  });
  after(() => up.end());

  it('hands over what changed, within ten seconds and once', () => {
    up.pass();
    assert.deepEqual(up.renewed, []);
    up.put('ca', two.pem);
    up.pass();
    up.pass();
    assert.deepEqual(up.renewed.splice(0), ['one two']);
  });

  it('a half-done rotation changes nothing until it is whole, and is said once', () => {
    up.put('crt', two.pem);
    up.pass();
    up.pass();
    assert.deepEqual(up.renewed, []);
    const said = () => up.log.lines.filter(({ level }) => level === 'error');
    assert.equal(said().length, 1);
    assert.match(String(said()[0]?.fields.error), /listener\.tls\.key_file: the key does not belong/);
    up.put('key', two.key_pem);
    up.pass();
    assert.deepEqual(up.renewed.splice(0), ['two two']);
  });

  it('an empty CA file would refuse everybody: the old one stays, and the right one is taken when it comes back', () => {
    up.put('ca', '');
    up.pass();
    assert.deepEqual(up.renewed, []);
    up.put('ca', one.pem);
    up.pass();
    assert.deepEqual(up.renewed.splice(0), ['two one']);
  });
});
