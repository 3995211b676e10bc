import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Issued, issue } from '../../gates/mtls/certificates.js';
import { modernCall, openProxied } from '../../support/proxied-bench.js';
import { startUpstream } from '../../support/upstream.js';

const day_ms = 86_400_000;
const at = (days: number): string => new Date(Date.now() + days * day_ms).toISOString();
const valid = { not_before: at(-1), not_after: at(1) };

describe('proxied: TLS toward the upstream', () => {
  let ca: Issued;
  let other: Issued;
  before(async () => {
    ca = await issue({ ca: true, subject: 'CN=Test CA', ...valid });
    other = await issue({ ca: true, subject: 'CN=Other CA', ...valid });
  });

  /** How a call ends, and how many requests the upstream saw. */
  const call = async (leaf: Issued, trusted: string | undefined, host = '127.0.0.1'): Promise<string> => {
    const answer = '{"jsonrpc":"2.0","id":1,"result":{}}';
    const upstream = await startUpstream(
      (_request, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer),
      {
        key: leaf.key_pem,
        cert: leaf.pem,
      },
    );
    const bench = await openProxied(`https://${host}:${upstream.port}/mcp`, { ca: trusted });
    const result = await bench.send(modernCall('ping')).done;
    const reason = bench.log.lines[0]?.fields.reason;
    await bench.runtime.close(1000);
    await upstream.close();
    return `${result.error?.code ?? result.by} ${upstream.seen.length}${reason === undefined ? '' : ` ${String(reason)}`}`;
  };

  it('a certificate of the configured authority for the upstream’s address or name is taken', async () => {
    const leaf = await issue({ issuer: ca, ip: ['127.0.0.1'], dns: ['localhost'], ...valid });
    assert.equal(await call(leaf, ca.pem), 'respond 1');
    assert.equal(await call(leaf, ca.pem, 'localhost'), 'respond 1');
  });

  it('any other certificate is UPSTREAM_UNREACHABLE and no byte of a request is sent', async () => {
    const good = await issue({ issuer: ca, ip: ['127.0.0.1'], ...valid });
    assert.equal(await call(good, undefined), 'UPSTREAM_UNREACHABLE 0 UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    assert.equal(await call(good, other.pem), 'UPSTREAM_UNREACHABLE 0 UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    const named = await issue({ issuer: ca, dns: ['other.example.com'], ...valid });
    assert.equal(await call(named, ca.pem), 'UPSTREAM_UNREACHABLE 0 ERR_TLS_CERT_ALTNAME_INVALID');
    const expired = await issue({ issuer: ca, ip: ['127.0.0.1'], not_before: at(-2), not_after: at(-1) });
    assert.equal(await call(expired, ca.pem), 'UPSTREAM_UNREACHABLE 0 CERT_HAS_EXPIRED');
    const own = await issue({ ip: ['127.0.0.1'], ...valid });
    assert.equal(await call(own, ca.pem), 'UPSTREAM_UNREACHABLE 0 DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});
