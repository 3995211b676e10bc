import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { makeClock } from '../../src/testing/clock.js';
import { UpstreamPool } from '../../src/upstream/pool.js';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import { answer, Hearing, type RawSetup, rawUpstream } from '../support/raw-upstream.js';
import { listen } from '../support/upstream.js';

const quiet = (ms = 40): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const BODY = Buffer.alloc(3_000_000);
for (let i = 0; i < BODY.length; i++) BODY[i] = (i * 31 + (i >> 8)) & 0xff;
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const CHUNKED = Buffer.concat([
  Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'),
  ...Array.from({ length: 3000 }, (_, i) =>
    Buffer.concat([Buffer.from('3e8\r\n'), BODY.subarray(i * 1000, i * 1000 + 1000), Buffer.from('\r\n')]),
  ),
  Buffer.from('0\r\n\r\n'),
]);
const SIZED = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`), BODY]);

async function encrypted(): Promise<RawSetup> {
  const day_ms = 86_400_000;
  const at = (days: number): string => new Date(Date.now() + days * day_ms).toISOString();
  const valid = { not_before: at(-1), not_after: at(1) };
  const ca: Issued = await issue({ ca: true, subject: 'CN=Test CA', ...valid });
  const leaf = await issue({ issuer: ca, ip: ['127.0.0.1'], ...valid });
  return { ca: ca.pem, tls: { key: leaf.key_pem, cert: leaf.pem } };
}

/** Stops at every piece and reads on a little later, until the answer is there. */
function hesitant(): Hearing {
  return new Hearing((_chunk, hearing) => {
    setImmediate(() => hearing.resume());
    return false;
  });
}

for (const kind of ['TCP', 'TLS'] as const) {
  describe(`upstream: a listener that stops the reading, over ${kind}`, () => {
    const setup = async (): Promise<RawSetup> => (kind === 'TLS' ? encrypted() : {});

    it('gets one read more at most, then nothing until it reads on, and loses nothing', async () => {
      for (const wire of [SIZED, CHUNKED]) {
        const up = await rawUpstream((socket) => void socket.write(wire), await setup());
        let flows = false;
        const heard = up.ask('{}', new Hearing(() => flows));
        await quiet();
        for (let i = 0; i < 3; i++) {
          const before_bytes = heard.body.length;
          heard.resume();
          await quiet();
          assert.ok(heard.body.length - before_bytes <= 131_072, `${heard.body.length - before_bytes} bytes after one resume`);
          assert.ok(heard.body.length < BODY.length && heard.ends === 0);
        }
        flows = true;
        while (heard.ends === 0) {
          heard.resume();
          await quiet(1);
        }
        assert.equal(digest(heard.body), digest(BODY));
        await up.close();
      }
    });

    it('that stops at every piece has the whole answer, and its connection goes on', async () => {
      const up = await rawUpstream((socket, _request, nth) => void socket.write([SIZED, CHUNKED][nth % 2] as Buffer), await setup());
      for (let i = 0; i < 4; i++) {
        const heard = up.ask('{}', hesitant());
        await heard.done;
        assert.equal(digest(heard.body), digest(BODY));
        await quiet(5);
      }
      assert.equal(up.accepted.length, 1);
      await up.close();
    });

    it('that stopped in the last piece leaves a connection that reads', async () => {
      for (const size of [5, 16_000, 40_000, 60_000]) {
        const up = await rawUpstream(
          (socket) => {
            const wire = answer('x'.repeat(size));
            for (let i = 0; i < 3; i++) socket.write(wire.slice((i * wire.length) / 3, ((i + 1) * wire.length) / 3));
          },
          await setup(),
        );
        for (let i = 0; i < 6; i++) {
          const heard = up.ask('{}', new Hearing(() => false));
          const nudge = setInterval(() => heard.resume(), 3);
          assert.equal((await heard.done).length, 4 + size);
          clearInterval(nudge);
          await quiet(3);
        }
        assert.equal(up.accepted.length, 1, 'connections');
        // What nobody asked for is noticed, so the connection is being read.
        for (const socket of up.open) socket.write('x');
        await quiet();
        assert.equal(up.pool.stats.free, 0);
        await up.close();
      }
    });

    it('that stopped can end the exchange', async () => {
      const up = await rawUpstream((socket) => void socket.write(SIZED), await setup());
      const heard = up.ask('{}', new Hearing(() => false));
      await quiet();
      heard.abort();
      assert.equal(await heard.done, 'ABORTED');
      assert.equal(up.pool.stats.free, 0);
      await up.close();
    });
  });
}

describe('upstream: three TLS records in one read', () => {
  it('whose first stops the reading leave a connection that reads, when they end the answer', async () => {
    const { tls, ca } = await encrypted();
    const up = await rawUpstream(
      async (socket) => {
        for (const part of ['HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab', 'cd', 'ef']) {
          socket.write(part);
          await quiet(3);
        }
      },
      { tls: tls ?? {}, ca: ca ?? '' },
    );
    const relay = createServer((near) => glue(near, connect(up.port, '127.0.0.1')));
    const port = await listen(relay);
    const clock = makeClock();
    const pool = new UpstreamPool({
      connections: 1,
      connection_max_age_ms: 300_000,
      origin: `https://127.0.0.1:${port}`,
      ca,
      clock,
      onConnected: () => undefined,
    });
    for (let i = 0; i < 3; i++) {
      const heard = new Hearing(() => false);
      pool.dispatch({ head: 'GET /mcp HTTP/1.1\r\nhost: a\r\n', body: undefined }, heard);
      const nudge = setInterval(() => heard.resume(), 3);
      const limit = setTimeout(() => heard.abort(), 5000);
      const outcome = await heard.done;
      clearInterval(nudge);
      clearTimeout(limit);
      assert.equal(outcome, '200 abcdef');
      await quiet(5);
    }
    assert.equal(up.accepted.length, 1);
    await pool.close(0);
    await up.close();
    await new Promise((resolve) => relay.close(resolve));
  });
});

/** Passes bytes on; what comes from `far` within 40 ms is one write. */
function glue(near: Socket, far: Socket): void {
  for (const socket of [near, far]) socket.on('error', () => undefined);
  near.pipe(far);
  far.on('close', () => near.destroy());
  let held: Buffer[] = [];
  far.on('data', (bytes: Buffer) => {
    if (held.push(bytes) > 1) return;
    setTimeout(() => {
      near.write(Buffer.concat(held));
      held = [];
    }, 40);
  });
}
