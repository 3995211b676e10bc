// A gateway process that terminates TLS itself: every arrival limit holds over it, certificates are renewed and clients asked for theirs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { type RawAnswer, rawExchange, type Step } from '../support/raw.js';
import { repositoryPath } from '../support/repository.js';
import { type SendOptions, tool, whole } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const head = (extra = '', length = PING.length): string =>
  `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${extra}Content-Length: ${length}\r\n\r\n`;
const LIMITS = '{ head_timeout_ms: 2000, read_timeout_ms: 1000, body_timeout_ms: 2000, max_body_bytes: 100000, drain_timeout_ms: 10000 }';

let upstream: Upstream;
let folder: string;
let authority: Issued;

const lasting = () => ({
  not_before: new Date(Date.now() - 86_400_000).toISOString(),
  not_after: new Date(Date.now() + 86_400_000).toISOString(),
});
const server = (subject: string): Promise<Issued> =>
  issue({ issuer: authority, subject, dns: ['localhost'], ip: ['127.0.0.1'], ...lasting() });

before(async () => {
  upstream = await startMcpUpstream();
  folder = mkdtempSync(join(tmpdir(), 'portcullis-tls-'));
  authority = await issue({ subject: 'CN=authority', ca: true, ...lasting() });
  put('', await server('CN=first'));
});

after(async () => {
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Puts a certificate and its key in place, as a rotation does: at once. */
function put(prefix: string, { pem, key_pem }: Issued): void {
  for (const [name, text] of [
    ['crt', pem],
    ['key', key_pem],
  ] as const) {
    writeFileSync(join(folder, `${prefix}${name}.new`), text);
    renameSync(join(folder, `${prefix}${name}.new`), join(folder, `${prefix}${name}.pem`));
  }
}

function start(tls = '', more = '', prefix = ''): Promise<RunningGateway> {
  return startGateway(`
listener:
  port: 0
  limits: ${LIMITS}
  tls: { cert_file: ${folder}/${prefix}crt.pem, key_file: ${folder}/${prefix}key.pem${tls} }
ops: { port: 0 }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
${more === '' ? 'routes: [{ path: /mcp, public: true, runtime: server }]' : more}
`);
}

const portOf = ({ url }: RunningGateway): number => Number(new URL(url).port);
const secure =
  (options: ConnectionOptions = {}) =>
  (port: number, host: string): TLSSocket =>
    tlsConnect({ port, host, ca: authority.pem, ...options });
const raw = (gateway: RunningGateway, steps: readonly Step[], limit_ms?: number): Promise<RawAnswer> =>
  rawExchange(portOf(gateway), steps, limit_ms, '127.0.0.1', secure());

/** What a handshake came to: the subject of the server's certificate, or why there was none. */
function handshake(
  gateway: RunningGateway,
  options: ConnectionOptions = {},
): Promise<{ readonly peer: string; readonly socket: TLSSocket }> {
  const socket = secure(options)(portOf(gateway), '127.0.0.1');
  return new Promise((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve({ peer: error.code ?? error.message, socket }));
    socket.on('secureConnect', () => resolve({ peer: String(socket.getPeerCertificate().subject.CN), socket }));
  });
}

describe('limits over TLS', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await start();
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
    const socket = tlsConnect({ socket: plain, ca: authority.pem });
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
    assert.deepEqual((await raw(gateway, [head() + PING], 500)).statuses, [200]);
  });

  it('a head of exactly 32 768 bytes passes, one byte more is 431', async () => {
    const of = (size: number): string => head(`X: ${'v'.repeat(size - head('X: \r\n').length)}\r\n`);
    assert.deepEqual((await raw(gateway, [of(32_768) + PING], 500)).statuses, [200]);
    const over = await raw(gateway, [of(32_769) + PING]);
    assert.deepEqual([over.statuses, over.end], [[431], 'closed']);
    assert.deepEqual((await raw(gateway, [head(`X:${' '.repeat(39_000)}v\r\n`) + PING])).statuses, [431]);
  });

  it('slow heads and bodies are 408 at their limits', async () => {
    const drip = (text: string): Step[] => Array.from({ length: 12 }, () => [400, text]).flat();
    const [silent, dripping, half, slow] = await Promise.all([
      raw(gateway, ['POST /mcp HTTP/1.1\r\nHost'], 5000),
      raw(gateway, ['POST /mcp HTTP/1.1\r\nHost: a\r\n', ...drip('A: 1\r\n')], 6000),
      raw(gateway, [head() + PING.slice(0, 5)], 5000),
      raw(gateway, [head('', 1000), ...drip('x')], 6000),
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
      const { statuses, end, text } = await raw(gateway, [head('', bytes) + 'x'.repeat(bytes)], 4000);
      assert.deepEqual([statuses, end], [[413], 'closed'], `${bytes}`);
      assert.match(text, /BODY_TOO_LARGE/);
    }
    await until('no connection stays', async () => (await gateway.metric('portcullis_connections')) === 0);
  });

  it('a kept connection carries one request after the other, and is idle between them', async () => {
    const { statuses } = await raw(gateway, [head() + PING, 200, head() + PING, 200, head('Connection: close\r\n') + PING], 3000);
    assert.deepEqual(statuses, [200, 200, 200]);
  });

  it('each of the 69 heads has the answer that it has in the clear', async () => {
    const { cases } = JSON.parse(readFileSync(repositoryPath('test/corpus/raw-http.json'), 'utf8')) as {
      readonly cases: readonly { readonly name: string; readonly raw_latin1?: string }[];
    };
    const plain = await startGateway(`
listener: { port: 0, limits: ${LIMITS} }
ops: { port: 0 }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
routes: [{ path: /mcp, public: true, runtime: server }]
`);
    try {
      const differ: string[] = [];
      const one = async ({ name, raw_latin1 = head('a:b\r\n'.repeat(2100)) }: (typeof cases)[number]): Promise<void> => {
        const [clear, secured] = await Promise.all([rawExchange(portOf(plain), [raw_latin1], 2500), raw(gateway, [raw_latin1], 2500)]);
        const [a, b] = [clear, secured].map(({ statuses, end }) => `${statuses} ${end === 'open' ? 'open' : 'closed'}`);
        if (a !== b) differ.push(`${name}: ${a} in the clear, ${b} over TLS`);
      };
      for (let from = 0; from < cases.length; from += 23) await Promise.all(cases.slice(from, from + 23).map(one));
      assert.deepEqual(differ, []);
    } finally {
      await plain.stop();
    }
  });
});

describe('versions and client certificates', () => {
  let client: Issued;
  let stranger: Issued;
  let clients: Issued;

  before(async () => {
    clients = await issue({ subject: 'CN=clients', ca: true, ...lasting() });
    client = await issue({ subject: 'CN=client', issuer: clients, ...lasting() });
    stranger = await issue({ subject: 'CN=client', ...lasting() });
    writeFileSync(join(folder, 'clients.pem'), clients.pem);
  });

  const guarded = `
gates: { cert: { use: mtls, options: { source: direct } } }
routes:
  - { path: /mcp, gates: [cert], runtime: server }
  - { path: /open/mcp, public: true, runtime: server }
`;
  const as = (who: Issued | undefined): SendOptions => ({
    ca: authority.pem,
    ...(who === undefined ? {} : { cert: who.pem, key: who.key_pem }),
  });
  const status = async (gateway: RunningGateway, path: string, who: Issued | undefined): Promise<string> =>
    whole(gateway.url + path, { ...tool('echo'), ...as(who) }).then(
      (answer) => `${answer.status} ${answer.status === 200 ? '' : JSON.parse(answer.text).error.data.code}`.trim(),
      () => 'no answer',
    );

  it('request: the handshake takes anybody, the gate decides', async () => {
    const gateway = await start(`, client_ca_file: ${folder}/clients.pem`, guarded);
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
    const gateway = await start(`, client_ca_file: ${folder}/clients.pem, client_certificates: require`, guarded);
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
    const [strict, usual] = await Promise.all([start(', min_version: TLSv1.3'), start()]);
    const version = async (gateway: RunningGateway, maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> => {
      const { socket } = await handshake(gateway, { maxVersion, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' });
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
    put('renewed-', await server('CN=first'));
    writeFileSync(join(folder, 'renewed-clients.pem'), clients.pem);
    const tls = `, client_ca_file: ${folder}/renewed-clients.pem, client_certificates: require`;
    const gateway = await start(tls, guarded, 'renewed-');
    try {
      const shown = async (): Promise<string> => {
        const { peer, socket } = await handshake(gateway, { cert: client.pem, key: client.key_pem });
        socket.destroy();
        return peer;
      };
      assert.equal(await shown(), 'first');
      const kept = await handshake(gateway, { cert: client.pem, key: client.key_pem, maxVersion: 'TLSv1.2' });
      const asked = async (): Promise<string> => {
        kept.socket.write(head() + PING);
        const [chunk] = await once(kept.socket, 'data');
        return String(chunk);
      };
      assert.match(await asked(), /^HTTP\/1\.1 200 /);
      const session = kept.socket.getSession();
      // Half a rotation: the certificate without its key.
      const second = await server('CN=second');
      writeFileSync(join(folder, 'renewed-crt.pem'), second.pem);
      await until('the half is noticed', () => gateway.output.includes('the old ones stay'), 20_000);
      assert.equal(await shown(), 'first');
      const next_clients = await issue({ subject: 'CN=next', ca: true, ...lasting() });
      writeFileSync(join(folder, 'renewed-clients.pem'), next_clients.pem);
      put('renewed-', second);
      await until('the new files are in force', () => gateway.output.includes('TLS certificates were renewed'), 20_000);
      const next = await issue({ subject: 'CN=client', issuer: next_clients, ...lasting() });
      assert.equal(await status(gateway, '/mcp', next), '200');
      assert.equal(await status(gateway, '/mcp', client), 'no answer');
      // A session of the old CA opens nothing any more.
      const resumed = await handshake(gateway, {
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

  it('a drain does not wait for handshakes', async () => {
    const gateway = await start();
    const silent = rawExchange(portOf(gateway), [], 8000);
    const begun = rawExchange(portOf(gateway), [Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])], 8000);
    await until('both are there', async () => (await gateway.metric('portcullis_connections', { state: 'head' })) === 2);
    const started = performance.now();
    assert.equal(await gateway.stop(), 0);
    assert.ok(performance.now() - started < 3000, 'it ended at once');
    for (const { text, end } of await Promise.all([silent, begun])) assert.deepEqual([text, end === 'open'], ['', false]);
  });
});
