// A gateway process that terminates TLS itself: who may shake hands, in which version, and certificates that are renewed while serving.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import type { RunningGateway } from '../support/e2e/gateway.js';
import { head, lasting, openTlsRig, PING, type TlsRig } from '../support/e2e/tls-rig.js';
import { until } from '../support/e2e/until.js';
import { type SendOptions, tool, whole } from '../support/send.js';

let rig: TlsRig;

before(async () => {
  rig = await openTlsRig();
});

after(() => rig?.close());

describe('versions and client certificates', () => {
  let client: Issued;
  let stranger: Issued;
  let clients: Issued;

  before(async () => {
    clients = await issue({ subject: 'CN=clients', ca: true, ...lasting() });
    client = await issue({ subject: 'CN=client', issuer: clients, ...lasting() });
    stranger = await issue({ subject: 'CN=client', ...lasting() });
    writeFileSync(join(rig.folder, 'clients.pem'), clients.pem);
  });

  const guarded = `
gates: { cert: { use: mtls, options: { source: direct } } }
routes:
  - { path: /mcp, gates: [cert], runtime: server }
  - { path: /open/mcp, public: true, runtime: server }
`;
  const as = (who: Issued | undefined): SendOptions => ({
    ca: rig.ca,
    ...(who === undefined ? {} : { cert: who.pem, key: who.key_pem }),
  });
  const status = async (gateway: RunningGateway, path: string, who: Issued | undefined): Promise<string> =>
    whole(gateway.url + path, { ...tool('echo'), ...as(who) }).then(
      (answer) => `${answer.status} ${answer.status === 200 ? '' : JSON.parse(answer.text).error.data.code}`.trim(),
      () => 'no answer',
    );

  it('request: the handshake takes anybody, the gate decides', async () => {
    const gateway = await rig.start(`, client_ca_file: ${rig.folder}/clients.pem`, guarded);
    try {
      assert.equal(await status(gateway, '/mcp', client), '200');
      assert.equal(await status(gateway, '/mcp', stranger), '403 CLIENT_CERTIFICATE_UNVERIFIED');
      assert.equal(await status(gateway, '/mcp', undefined), '403 CLIENT_CERTIFICATE_REQUIRED');
      assert.equal(await status(gateway, '/open/mcp', undefined), '200');
    } finally {
      await gateway.stop();
    }
  });

  it('require: the handshake of anybody else ends, and no request is seen', async () => {
    const gateway = await rig.start(`, client_ca_file: ${rig.folder}/clients.pem, client_certificates: require`, guarded);
    try {
      assert.equal(await status(gateway, '/open/mcp', client), '200');
      assert.equal(await status(gateway, '/open/mcp', stranger), 'no answer');
      assert.equal(await status(gateway, '/open/mcp', undefined), 'no answer');
      assert.equal(await gateway.metric('portcullis_requests_total'), 1);
    } finally {
      await gateway.stop();
    }
  });

  it('min_version TLSv1.3 refuses 1.2; by default 1.2 is spoken and 1.1 is not', async () => {
    const [strict, usual] = await Promise.all([rig.start(', min_version: TLSv1.3'), rig.start()]);
    const version = async (gateway: RunningGateway, maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> => {
      const { socket } = await rig.handshake(gateway, { maxVersion, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' });
      const spoken = socket.authorized ? socket.getProtocol() : null;
      socket.destroy();
      return spoken;
    };
    try {
      assert.deepEqual(
        [
          await version(strict, 'TLSv1.2'),
          await version(strict, 'TLSv1.3'),
          await version(usual, 'TLSv1.1'),
          await version(usual, 'TLSv1.2'),
        ],
        [null, 'TLSv1.3', null, 'TLSv1.2'],
      );
    } finally {
      await Promise.all([strict.stop(), usual.stop()]);
    }
  });

  it('certificates, keys and client CAs are renewed within seconds, without a restart', { timeout: 60_000 }, async () => {
    rig.put('renewed-', await rig.server('CN=first'));
    writeFileSync(join(rig.folder, 'renewed-clients.pem'), clients.pem);
    const tls = `, client_ca_file: ${rig.folder}/renewed-clients.pem, client_certificates: require`;
    const gateway = await rig.start(tls, guarded, 'renewed-');
    try {
      const shown = async (): Promise<string> => {
        const { peer, socket } = await rig.handshake(gateway, { cert: client.pem, key: client.key_pem });
        socket.destroy();
        return peer;
      };
      assert.equal(await shown(), 'first');
      const kept = await rig.handshake(gateway, { cert: client.pem, key: client.key_pem, maxVersion: 'TLSv1.2' });
      const asked = async (): Promise<string> => {
        kept.socket.write(head() + PING);
        const [chunk] = await once(kept.socket, 'data');
        return String(chunk);
      };
      assert.match(await asked(), /^HTTP\/1\.1 200 /);
      const session = kept.socket.getSession();
      // Half a rotation: the certificate without its key.
      const second = await rig.server('CN=second');
      writeFileSync(join(rig.folder, 'renewed-crt.pem'), second.pem);
      await until('the half is noticed', () => gateway.output.includes('the old ones stay'), 20_000);
      assert.equal(await shown(), 'first');
      const next_clients = await issue({ subject: 'CN=next', ca: true, ...lasting() });
      writeFileSync(join(rig.folder, 'renewed-clients.pem'), next_clients.pem);
      rig.put('renewed-', second);
      await until('the new files are in force', () => gateway.output.includes('TLS certificates were renewed'), 20_000);
      const next = await issue({ subject: 'CN=client', issuer: next_clients, ...lasting() });
      assert.equal(await status(gateway, '/mcp', next), '200');
      assert.equal(await status(gateway, '/mcp', client), 'no answer');
      // A session of the old CA opens nothing any more.
      const resumed = await rig.handshake(gateway, {
        cert: client.pem,
        key: client.key_pem,
        maxVersion: 'TLSv1.2',
        ...(session === undefined ? {} : { session }),
      });
      const refused = await new Promise((resolve) => {
        resumed.socket.on('error', () => resolve(true));
        resumed.socket.on('close', () => resolve(true));
        if (resumed.socket.destroyed) resolve(true);
        setTimeout(() => resolve(false), 2000);
        resumed.socket.write(head() + PING);
      });
      assert.equal(refused, true);
      // What was open before goes on.
      assert.match(await asked(), /^HTTP\/1\.1 200 /);
      kept.socket.destroy();
    } finally {
      await gateway.stop();
    }
  });
});
