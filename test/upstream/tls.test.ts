import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import { answer, rawUpstream } from '../support/raw-upstream.js';

const day_ms = 86_400_000;
const at = (days: number): string => new Date(Date.now() + days * day_ms).toISOString();
const valid = { not_before: at(-1), not_after: at(1) };
const versions: readonly SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];

describe('upstream: TLS', () => {
  let ca: Issued;
  before(async () => {
    ca = await issue({ ca: true, subject: 'CN=Test CA', ...valid });
  });

  /** What three exchanges hear, each on a connection of its own, and which of them resumed a session. */
  const three = async (leaf: Issued, maxVersion: SecureVersion, trusted = ca.pem): Promise<{ heard: string[]; resumed: boolean[] }> => {
    const resumed: boolean[] = [];
    const up = await rawUpstream(
      (socket) => {
        resumed.push((socket as TLSSocket).isSessionReused());
        socket.write(answer('x', 'Connection: close\r\n'));
      },
      { tls: { key: leaf.key_pem, cert: leaf.pem, maxVersion }, ca: trusted },
    );
    const heard: string[] = [];
    for (let i = 0; i < 3; i++) heard.push(await up.ask('{}').done);
    await up.close();
    return { heard, resumed };
  };

  it('a later handshake resumes the session', async () => {
    const leaf = await issue({ issuer: ca, ip: ['127.0.0.1'], ...valid });
    for (const version of versions) {
      const { heard, resumed } = await three(leaf, version);
      assert.deepEqual(heard, ['200 x', '200 x', '200 x']);
      assert.deepEqual(resumed, [false, true, true], version);
    }
  });

  it('a wrong name, a stranger’s and a self-made certificate are refused each time: no session passes by the check', async () => {
    const wrong = await issue({ issuer: ca, dns: ['other.example.com'], ...valid });
    const own = await issue({ ip: ['127.0.0.1'], ...valid });
    const other = await issue({ ca: true, subject: 'CN=Other CA', ...valid });
    const stranger = await issue({ issuer: other, ip: ['127.0.0.1'], ...valid });
    for (const version of versions)
      for (const [leaf, code] of [
        [wrong, 'ERR_TLS_CERT_ALTNAME_INVALID'],
        [own, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
        [stranger, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
      ] as const)
        assert.deepEqual(await three(leaf, version), { heard: [code, code, code], resumed: [] }, version);
  });
});
