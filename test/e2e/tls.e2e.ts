// A gateway process that terminates TLS itself: every arrival limit holds over it, as it does in the clear.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { head, openTlsRig, PING, portOf, SHORT_LIMITS, type TlsRig } from '../support/e2e/tls-rig.js';
import { until } from '../support/e2e/until.js';
import { rawExchange, type Step } from '../support/raw.js';
import { repositoryPath } from '../support/repository.js';

let rig: TlsRig;

before(async () => {
  rig = await openTlsRig();
});

after(() => rig?.close());

describe('limits over TLS', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await rig.start();
  });
  after(() => gateway?.stop());

  it('a connection without a handshake is closed unanswered within head_timeout_ms; the handshake is part of it', async () => {
    const { end, text, elapsed_ms } = await rawExchange(portOf(gateway), [], 6000);
    assert.deepEqual([end === 'open', text], [false, '']);
    assert.ok(elapsed_ms > 1800 && elapsed_ms < 5000, `${elapsed_ms} ms`);
    // The handshake begins late, and what is left of the time is for the head.
    const accepted = performance.now();
    const plain = connect(portOf(gateway), '127.0.0.1');
    await once(plain, 'connect');
    await sleep(1200);
    const socket = tlsConnect({ socket: plain, ca: rig.ca });
    let said = '';
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    socket.write('POST /mcp HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write('A: b\r\n'), 300);
    await once(socket, 'end');
    clearInterval(drip);
    const took_ms = performance.now() - accepted;
    socket.destroy();
    assert.match(said, /^HTTP\/1\.1 408 /);
    assert.ok(took_ms > 1800 && took_ms < 3100, `408 after ${took_ms} ms in all`);
  });

  it('garbage instead of a handshake harms nobody', async () => {
    const garbage = await rawExchange(portOf(gateway), ['GET / HTTP/1.1\r\n\r\n'], 3000);
    assert.notEqual(garbage.end, 'open');
    assert.deepEqual((await rig.raw(gateway, [head() + PING], 500)).statuses, [200]);
  });

  it('a head of exactly 32 768 bytes passes, one byte more is 431', async () => {
    const of = (size: number): string => head(`X: ${'v'.repeat(size - head('X: \r\n').length)}\r\n`);
    assert.deepEqual((await rig.raw(gateway, [of(32_768) + PING], 500)).statuses, [200]);
    const over = await rig.raw(gateway, [of(32_769) + PING]);
    assert.deepEqual([over.statuses, over.end], [[431], 'closed']);
    assert.deepEqual((await rig.raw(gateway, [head(`X:${' '.repeat(39_000)}v\r\n`) + PING])).statuses, [431]);
  });

  it('slow heads and bodies are 408 at their limits', async () => {
    const drip = (text: string): Step[] => Array.from({ length: 12 }, () => [400, text]).flat();
    const [silent, dripping, half, slow] = await Promise.all([
      rig.raw(gateway, ['POST /mcp HTTP/1.1\r\nHost'], 5000),
      rig.raw(gateway, ['POST /mcp HTTP/1.1\r\nHost: a\r\n', ...drip('A: 1\r\n')], 6000),
      rig.raw(gateway, [head() + PING.slice(0, 5)], 5000),
      rig.raw(gateway, [head('', 1000), ...drip('x')], 6000),
    ]);
    for (const [answer, limit_ms] of [
      [silent, 1000],
      [dripping, 2000],
      [half, 1000],
      [slow, 2000],
    ] as const) {
      assert.deepEqual([answer?.statuses, answer?.end], [[408], 'closed']);
      const elapsed_ms = answer?.elapsed_ms ?? 0;
      assert.ok(elapsed_ms > limit_ms - 200 && elapsed_ms < limit_ms * 3, `${elapsed_ms} ms instead of ${limit_ms}`);
    }
  });

  it('a body that is refused unread is discarded within bounds; the answer arrives', async () => {
    for (const bytes of [100_001, 200_000, 3_000_000]) {
      const { statuses, end, text } = await rig.raw(gateway, [head('', bytes) + 'x'.repeat(bytes)], 4000);
      assert.deepEqual([statuses, end], [[413], 'closed'], `${bytes}`);
      assert.match(text, /BODY_TOO_LARGE/);
    }
    await until('no connection stays', async () => (await gateway.metric('portcullis_connections')) === 0);
  });

  it('a kept connection carries one request after the other, and is idle between them', async () => {
    const { statuses } = await rig.raw(gateway, [head() + PING, 200, head() + PING, 200, head('Connection: close\r\n') + PING], 3000);
    assert.deepEqual(statuses, [200, 200, 200]);
  });

  it('each of the 69 heads has the answer that it has in the clear', async () => {
    const { cases } = JSON.parse(readFileSync(repositoryPath('test/corpus/raw-http.json'), 'utf8')) as {
      readonly cases: readonly { readonly name: string; readonly raw_latin1?: string }[];
    };
    const plain = await startGateway(`
listener: { port: 0, limits: ${SHORT_LIMITS} }
ops: { port: 0 }
runtimes: { server: { kind: proxied, url: "${rig.upstream.url}/mcp" } }
routes: [{ path: /mcp, public: true, runtime: server }]
`);
    try {
      const differ: string[] = [];
      const one = async ({ name, raw_latin1 = head('a:b\r\n'.repeat(2100)) }: (typeof cases)[number]): Promise<void> => {
        const [clear, secured] = await Promise.all([rawExchange(portOf(plain), [raw_latin1], 2500), rig.raw(gateway, [raw_latin1], 2500)]);
        const [a, b] = [clear, secured].map(({ statuses, end }) => `${statuses} ${end === 'open' ? 'open' : 'closed'}`);
        if (a !== b) differ.push(`${name}: ${a} in the clear, ${b} over TLS`);
      };
      for (let from = 0; from < cases.length; from += 23) await Promise.all(cases.slice(from, from + 23).map(one));
      assert.deepEqual(differ, []);
    } finally {
      await plain.stop();
    }
  });

  it('a drain does not wait for handshakes', async () => {
    const gateway = await rig.start();
    const silent = rawExchange(portOf(gateway), [], 8000);
    const begun = rawExchange(portOf(gateway), [Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])], 8000);
    await until('both are there', async () => (await gateway.metric('portcullis_connections', { state: 'head' })) === 2);
    const started = performance.now();
    assert.equal(await gateway.stop(), 0);
    assert.ok(performance.now() - started < 3000, 'it ended at once');
    for (const { text, end } of await Promise.all([silent, begun])) assert.deepEqual([text, end === 'open'], ['', false]);
  });
});
