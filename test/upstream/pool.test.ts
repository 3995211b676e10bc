import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { makeClock } from '../../src/testing/clock.js';
import { UpstreamPool } from '../../src/upstream/pool.js';
import { until } from '../support/e2e/until.js';
import { answer, Hearing, type RawSetup, type RawUpstream, rawUpstream } from '../support/raw-upstream.js';
import { listen } from '../support/upstream.js';

const quiet = (ms = 15): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const HELD = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe';

/** Answers `hold` with the beginning of an answer, `mute` not at all, anything else whole. */
const held = (fields = '', setup: RawSetup = {}): Promise<RawUpstream> =>
  rawUpstream((socket, request) => {
    if (request.endsWith('hold')) socket.write(HELD);
    else if (!request.endsWith('mute')) socket.write(answer('x', fields));
  }, setup);

describe('upstream: the pool', () => {
  it('the connection used last is used next', async () => {
    const up = await rawUpstream((socket) => void socket.write(answer('x')));
    const first = up.ask('{}');
    const second = up.ask('{}');
    await Promise.all([first.done, second.done]);
    await quiet();
    assert.equal(up.pool.stats.free, 2);
    const used = new Set<unknown>();
    for (let i = 0; i < 5; i++) {
      const heard = up.ask('{}');
      used.add(heard.line);
      await heard.done;
      await quiet(5);
    }
    assert.equal(used.size, 1);
    assert.equal(up.accepted.length, 2);
    await up.close();
  });

  it('an answer that ends the connection leaves none', async () => {
    const bodies = [
      answer('x', 'Connection: close\r\n'),
      'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx',
      `${answer('x')}y`,
      answer('x', 'Keep-Alive: timeout=2\r\n'),
      answer('x', 'Keep-Alive: timeout=0\r\n'),
    ];
    for (const wire of bodies) {
      const up = await rawUpstream((socket) => void socket.write(wire));
      assert.equal(await up.ask('{}').done, '200 x');
      assert.equal(up.pool.stats.free, 0, wire);
      await up.close();
    }
  });

  it('an idle connection ends after 4 s, or 2 s before the upstream’s own end, at most after 600 s', async () => {
    for (const [fields, keep_ms] of [
      ['', 4000],
      ['Keep-Alive: timeout=5\r\n', 3000],
      ['Keep-Alive: timeout=9999\r\n', 600_000],
    ] as const) {
      const up = await held(fields, { connection_max_age_ms: 3_600_000 });
      await up.ask('{}').done;
      await quiet();
      up.clock.advance(keep_ms - 1);
      assert.equal(up.pool.stats.free, 1, fields);
      up.clock.advance(1000);
      assert.equal(up.pool.stats.free, 0, fields);
      await until('it is closed', () => up.open.size === 0);
      assert.equal(up.clock.pending, 0, 'the sweep ends with the last');
      await up.close();
    }
  });

  it('one that is due is not used, though no sweep came by', async () => {
    const up = await held('Keep-Alive: timeout=3\r\n');
    await up.ask('{}').done;
    await quiet();
    up.clock.advance(500);
    await up.ask('{}').done;
    assert.equal(up.accepted.length, 1);
    await quiet();
    up.clock.advance(999);
    assert.equal(up.pool.stats.free, 1);
    await up.close();
  });

  it('an exchange that is ended hears it once, wherever it is, and the others go on', async () => {
    const up = await held();
    const waiting = up.ask('{}');
    const other = up.ask('{}');
    waiting.abort();
    waiting.abort();
    assert.equal(await waiting.done, 'ABORTED');
    assert.equal(await other.done, '200 x');
    await until('the connection of the ended one is kept', () => up.pool.stats.free === 2 && up.pool.stats.pending === 0);
    const mute = up.ask('mute');
    await quiet();
    mute.abort();
    assert.equal(await mute.done, 'ABORTED');
    assert.equal(up.pool.stats.free, 1);
    const cut = up.ask('hold');
    await until('the head is there', () => cut.head !== undefined);
    cut.abort();
    assert.equal(await cut.done, 'ABORTED');
    assert.equal(up.pool.stats.free, 0);
    assert.equal(await up.ask('{}').done, '200 x');
    for (const heard of [waiting, mute, cut]) assert.equal(heard.errors.length, 1);
    await up.close();
  });

  it('an exchange ended as it begins sends nothing', async () => {
    let requests = 0;
    const up = await rawUpstream((socket) => {
      requests++;
      socket.write(answer('x'));
    });
    await up.ask('{}').done;
    await quiet();
    const heard = new Hearing();
    heard.onConnected = (line) => {
      heard.line = line;
      heard.abort();
    };
    assert.equal(await up.ask('{}', heard).done, 'ABORTED');
    await quiet();
    assert.equal(requests, 1);
    await up.close();
  });

  it('an exchange that begins as another ends waits for its connection and opens none', async () => {
    const up = await held();
    let last = up.ask('{}');
    for (let i = 0; i < 20; i++) {
      const next = new Hearing();
      const before = last;
      const end = before.onEnd.bind(before);
      before.onEnd = () => {
        up.ask('{}', next);
        end();
      };
      await before.done;
      last = next;
    }
    assert.equal(await last.done, '200 x');
    assert.equal(up.accepted.length, 1);
    await up.close();
  });

  it('while fewer than `connections` are open, an exchange does not wait for one that rests', async () => {
    const up = await rawUpstream((socket) => socket.write(answer('x')), { connections: 2 });
    let last = up.ask('{}');
    for (let i = 0; i < 20; i++) {
      const next = new Hearing();
      const end = last.onEnd.bind(last);
      last.onEnd = () => {
        up.ask('{}', next);
        end();
      };
      await last.done;
      last = next;
    }
    assert.equal(await last.done, '200 x');
    assert.equal(up.accepted.length, 2);
    await up.close();
  });

  it('a refused connection fails one exchange each', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const clock = makeClock();
    const pool = new UpstreamPool({
      connections: 1,
      connection_max_age_ms: 300_000,
      origin: `http://127.0.0.1:${port}`,
      clock,
      onConnected: () => undefined,
    });
    const heard = Array.from({ length: 5 }, () => new Hearing());
    for (const one of heard) pool.dispatch({ head: 'GET / HTTP/1.1\r\n', body: undefined }, one);
    assert.deepEqual(await Promise.all(heard.map((one) => one.done)), Array(5).fill('ECONNREFUSED'));
    assert.deepEqual([clock.pending, ...Object.values(pool.stats)], [0, 0, 0, 0]);
    await pool.close(0);
  });

  it('no connection in time is CONNECT_TIMEOUT', async () => {
    // A TLS server that says nothing: the handshake never ends.
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    const port = await listen(silent);
    const clock = makeClock();
    const pool = new UpstreamPool({
      connections: 1,
      connection_max_age_ms: 300_000,
      origin: `https://127.0.0.1:${port}`,
      connect_timeout_ms: 700,
      clock,
      onConnected: () => undefined,
    });
    const heard = [new Hearing(), new Hearing()];
    for (const one of heard) pool.dispatch({ head: 'GET / HTTP/1.1\r\n', body: undefined }, one);
    await quiet();
    clock.advance(699);
    assert.equal(pool.stats.pending, 2);
    clock.advance(1);
    assert.deepEqual(await Promise.all(heard.map((one) => one.done)), ['CONNECT_TIMEOUT', 'CONNECT_TIMEOUT']);
    assert.equal(clock.pending, 0);
    await pool.close(0);
    await new Promise((resolve) => silent.close(resolve));
  });

  it('an address of IPv6 is an origin', async () => {
    const up = await rawUpstream((socket) => void socket.write(answer('six')), { host: '::1' });
    assert.equal(await up.ask('{}').done, '200 six');
    await up.close();
  });

  it('close lets what is under way finish, then it is STOPPED; what comes later is STOPPED at once', async () => {
    const up = await held();
    await up.ask('{}').done;
    await quiet();
    const finishing = up.ask('hold');
    const late = up.ask('hold');
    await until('both are under way', () => finishing.head !== undefined && late.head !== undefined);
    const closing = up.pool.close(1000);
    const again = up.pool.close(5000);
    const after = up.ask('{}');
    assert.equal(after.errors.length, 1);
    assert.equal(await after.done, 'STOPPED');
    up.accepted[0]?.write('llo');
    assert.equal(await finishing.done, '200 hello');
    up.clock.advance(999);
    assert.equal(late.errors.length, 0);
    up.clock.advance(1);
    await Promise.all([closing, again]);
    assert.equal(await late.done, 'STOPPED');
    assert.deepEqual(Object.values(up.pool.stats), [0, 0, 0]);
    await up.close();
  });

  it('close serves an exchange that still waits for its connection', async () => {
    const up = await held();
    const heard = up.ask('{}');
    const closing = up.pool.close(1000);
    assert.equal(await heard.done, '200 x');
    await closing;
    await up.close();
  });
});
