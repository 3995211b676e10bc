import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { issue } from '../../gates/mtls/certificates.js';
import { code, get, openFront } from '../../support/http-front.js';
import { startUpstream } from '../../support/upstream.js';

describe('opaque http: upstream', () => {
  it('TLS is verified; a named authority is taken', async () => {
    const valid = {
      not_before: new Date(Date.now() - 86_400_000).toISOString(),
      not_after: new Date(Date.now() + 86_400_000).toISOString(),
    };
    const ca = await issue({ ca: true, subject: 'CN=Test CA', ...valid });
    const leaf = await issue({ issuer: ca, ip: ['127.0.0.1'], ...valid });
    const upstream = await startUpstream((_request, response) => void response.end('ok'), { key: leaf.key_pem, cert: leaf.pem });
    const closed = await openFront(upstream.url);
    assert.equal(code(await get(closed.port, '/console/x')), '502 UPSTREAM_UNREACHABLE');
    assert.equal(upstream.seen.length, 0);
    assert.equal(closed.log.lines[0]?.fields.reason, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await closed.close();
    const open = await openFront(upstream.url, { ca: ca.pem });
    assert.equal((await get(open.port, '/console/x')).body, 'ok');
    assert.equal(upstream.seen[0]?.url, '/x');
    await open.close();
    assert.equal(open.runtime.health, 'stopped');
    await upstream.close();
  });

  it('a connection takes no more requests beyond its age, and is kept until then', async () => {
    const upstream = await startUpstream((_request, response) => void response.end('ok'));
    for (const [connection_max_age_ms, most] of [
      [1, 2],
      [3_600_000, 1],
    ] as const) {
      const front = await openFront(upstream.url, { connection_max_age_ms });
      const before = upstream.connection_count;
      for (let i = 0; i < 2; i++) {
        assert.equal((await get(front.port, '/console/x')).body, 'ok');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      assert.equal(upstream.connection_count - before, most);
      await front.close();
    }
    await upstream.close();
  });

  it('a URL with a query and header names that must not pass are refused at start', async () => {
    await assert.rejects(openFront('http://x/?a'), /runtimes\.console\.url: must not have a query/);
    await assert.rejects(
      openFront('http://x/', { request_headers: ['Authorization', 'X-Forwarded-For', 'x_y', 'x-fine'] }),
      (error: Error) => {
        assert.equal(error.message.split('\n').length, 3);
        return true;
      },
    );
  });
});
