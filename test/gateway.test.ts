import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { resolveConfig } from '../src/config/load.js';
import { ConfigError } from '../src/errors/error.js';
import { assembleGateway } from '../src/gateway.js';
import { createGateway, type Gateway } from '../src/index.js';
import { makeClock, makeLog } from '../src/testing.js';
import { issue } from './gates/mtls/certificates.js';
import { configErrorOf, folderWith } from './support/config-files.js';
import { freePort } from './support/e2e/everything-server.js';
import { startMcpUpstream } from './support/mcp-upstream.js';
import { legacy, send, tool, whole } from './support/send.js';
import { closeServer, listen, type Upstream } from './support/upstream.js';

let upstream: Upstream;

before(async () => {
  upstream = await startMcpUpstream();
});

after(() => upstream.close());

type Parts = Readonly<Record<string, object>>;

/** A config with one public route to the upstream, and ops on a free port. */
function config(parts: Parts = {}): object {
  return {
    listener: { port: 0 },
    ops: { port: 0 },
    runtimes: { server: { kind: 'proxied', url: `${upstream.url}/mcp` } },
    routes: [{ path: '/mcp', public: true, runtime: 'server' }],
    ...parts,
  };
}

async function occupied(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  return { port: await listen(server), server };
}

/** True when this process can listen there. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

const refused = (url: string): Promise<string> =>
  whole(url).then(
    () => 'answered',
    (error) => error.code,
  );

describe('createGateway', () => {
  it('binds a free port for 0, serves, drains once however often it is asked, and is closed then', async () => {
    const gateway = createGateway(config());
    assert.deepEqual([gateway.url, gateway.ops_url], ['', undefined]);
    await gateway.start();
    assert.match(gateway.url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    assert.match(gateway.ops_url ?? '', /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    const answer = await whole(`${gateway.url}/mcp`, tool('echo', { text: 'hello' }));
    assert.equal(JSON.parse(answer.text).result.content[0].text, 'hello');
    assert.deepEqual(JSON.parse((await whole(`${gateway.ops_url}/readyz`)).text), { ready: true, reason: 'serving' });
    const [first, second] = await Promise.all([gateway.drain(), gateway.drain()]);
    assert.equal(first.killed, 0);
    assert.equal(second, first);
    await gateway.closed;
    await gateway.close();
    assert.deepEqual([await refused(gateway.url), await refused(gateway.ops_url ?? '')], ['ECONNREFUSED', 'ECONNREFUSED']);
  });

  it('reads a YAML file, with the environment that it is given', async () => {
    const { folder, remove } = folderWith({
      'gw.yaml': `listener: { port: "\${P}" }\nops: { enabled: false }\nruntimes: { s: { kind: proxied, url: "\${U}" } }\nroutes: [{ path: /mcp, public: true, runtime: s }]\n`,
    });
    try {
      assert.throws(() => createGateway(`${folder}/gw.yaml`), /environment variable P is not set/);
      const gateway = createGateway(`${folder}/gw.yaml`, { env: { P: '0', U: `${upstream.url}/mcp` } });
      await gateway.start();
      assert.equal(gateway.ops_url, undefined);
      assert.equal((await whole(`${gateway.url}/mcp`, tool('echo'))).status, 200);
      await gateway.close();
    } finally {
      remove();
    }
  });

  it('tells every problem of a config at once, and binds nothing', () => {
    const { problems } = configErrorOf(() =>
      createGateway({ ...config(), listener: { prot: 1 }, routes: [{ path: '/mcp', runtime: 'sever' }] }),
    );
    assert.deepEqual(
      problems.map(({ where, message }) => `${where}: ${message}`),
      [
        'listener.prot: unknown key; did you mean port?',
        'routes[0].runtime: no runtime has this name; did you mean server?',
        'routes[0]: a route without gates lets everybody in: add gates, or say public: true',
      ],
    );
  });

  it('an address in use rejects the start with the system’s error; everything that was open is closed', async () => {
    const { port, server } = await occupied();
    try {
      const taken = createGateway(config({ listener: { port } }));
      await assert.rejects(taken.start(), { code: 'EADDRINUSE', syscall: 'listen', port });
      await taken.closed;
      const own = await freePort();
      const ops_taken = createGateway(config({ listener: { port: own }, ops: { port } }));
      await assert.rejects(ops_taken.start(), { code: 'EADDRINUSE', port });
      await ops_taken.closed;
      assert.equal(await isFree(own), true);
    } finally {
      await closeServer(server, []);
    }
  });

  it('a gate that does not open rejects the start with a ConfigError; the gates that did open are closed', async () => {
    const { folder, remove } = folderWith({
      'good.mjs':
        "export const gate = { name: 'good', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => ({ decide: () => ({ kind: 'pass' }), close: async () => void (globalThis.goodClosed = (globalThis.goodClosed ?? 0) + 1) }) };\n",
      'bad.mjs':
        "export const gate = { name: 'bad', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => { throw new Error('no database'); } };\n",
    });
    try {
      const port = await freePort();
      const gateway = createGateway(
        config({
          listener: { port },
          gates: { good: { use: 'file:./good.mjs' }, bad: { use: 'file:./bad.mjs' } },
          routes: [{ path: '/mcp', gates: ['good', 'bad'], runtime: 'server' }],
        } as unknown as Parts),
        { folder },
      );
      await assert.rejects(gateway.start(), (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(error.problems, [{ where: 'gates.bad', message: 'could not be opened for /mcp: no database' }]);
        return true;
      });
      await gateway.closed;
      assert.equal((globalThis as { goodClosed?: number }).goodClosed, 1);
      assert.equal(await isFree(port), true);
    } finally {
      remove();
    }
  });

  it('TLS files and CAs that cannot be used are problems of the config', async () => {
    const [one, other] = await Promise.all([issue(), issue()]);
    const encrypted = createPrivateKey(one.key_pem).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' });
    const files = {
      'crt.pem': one.pem,
      'key.pem': one.key_pem,
      'other.pem': other.key_pem,
      'encrypted.pem': encrypted,
      'junk.pem': 'junk',
      'half.pem': `${one.pem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    };
    const { folder, remove } = folderWith(files);
    const faults = (cert_file: string, key_file: string, client_ca_file?: string, ca_file?: string): string[] => {
      const tls = { cert_file, key_file, ...(client_ca_file === undefined ? {} : { client_ca_file }) };
      const server = { kind: 'proxied', url: 'https://127.0.0.1:1/mcp', ...(ca_file === undefined ? {} : { ca_file }) };
      try {
        const gateway = createGateway(config({ listener: { port: 0, tls }, runtimes: { server } }), { folder });
        void gateway.close();
        return [];
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
        return error.problems.map(({ where, message }) => `${where}: ${message}`);
      }
    };
    try {
      assert.deepEqual(faults('crt.pem', 'key.pem', 'crt.pem', 'crt.pem'), []);
      assert.deepEqual(faults('crt.pem', 'other.pem'), [
        'listener.tls.key_file: the key does not belong to the first certificate of cert_file',
      ]);
      assert.deepEqual(faults('crt.pem', 'encrypted.pem'), [
        'listener.tls.key_file: the key is encrypted; it must be stored without a passphrase',
      ]);
      const none = 'the file holds no certificate: it must be PEM, with -----BEGIN CERTIFICATE-----';
      assert.deepEqual(faults('junk.pem', 'junk.pem', 'key.pem', 'half.pem'), [
        `listener.tls.cert_file: ${none}`,
        'listener.tls.key_file: the file holds no private key in PEM',
        `listener.tls.client_ca_file: ${none}`,
        'runtimes.server.ca_file: certificate 2 of the file cannot be read',
      ]);
    } finally {
      remove();
    }
  });

  it('an audit on standard output needs one', () => {
    const telemetry = { audit: { file: '-' } };
    assert.throws(() => createGateway(config({ telemetry })), /telemetry\.audit\.file: "-" needs the stdout/);
  });
});

describe('the end of a gateway', () => {
  const assembled = (parts: Parts = {}): { gateway: Gateway; clock: ReturnType<typeof makeClock> } => {
    const clock = makeClock();
    return { gateway: assembleGateway(resolveConfig(config(parts), { folder: '.' }), { log: makeLog(), clock }), clock };
  };

  it('no timer is left, whether it was started, drained, closed or never used', async () => {
    for (const use of [
      async () => undefined,
      async (gateway: Gateway) => gateway.start(),
      async (gateway: Gateway) => {
        await gateway.start();
        await gateway.drain();
      },
      async (gateway: Gateway) => {
        await gateway.start();
        await gateway.close();
      },
    ]) {
      const { gateway, clock } = assembled();
      await use(gateway);
      await gateway.close();
      await gateway.closed;
      assert.equal(clock.pending, 0, use.toString());
    }
  });

  it('closing ends calls and streams under way at once, and lets the upstream go', async () => {
    const gateway = createGateway(config());
    await gateway.start();
    const before = upstream.seen.length;
    const call = whole(`${gateway.url}/mcp`, tool('slow', { ms: 60_000 })).catch((error) => error.code);
    const get = await send(`${gateway.url}/mcp`, { headers: { accept: 'text/event-stream' } });
    while (upstream.seen.length < before + 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await gateway.close();
    assert.equal(await call, 'ECONNRESET');
    assert.equal((await get.ended).how, 'cut');
    await upstream.aborted(2);
  });

  it('a close during the start ends it: nothing stays bound, gates that open late are closed', async () => {
    const { folder, remove } = folderWith({
      'late.mjs':
        "export const gate = { name: 'late', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => new Promise((done) => setTimeout(() => done({ decide: () => ({ kind: 'pass' }), close: async () => void (globalThis.lateClosed = true) }), 300)) };\n",
    });
    try {
      const [port, ops_port] = [await freePort(), await freePort()];
      const gateway = createGateway(
        config({
          listener: { port },
          ops: { port: ops_port },
          gates: { late: { use: 'file:./late.mjs' } },
          routes: [{ path: '/mcp', gates: ['late'], runtime: 'server' }],
        } as unknown as Parts),
        { folder },
      );
      const starting = gateway.start();
      while (await isFree(port)) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal((await whole(`http://127.0.0.1:${port}/mcp`, legacy('ping'))).status, 503);
      await gateway.close();
      await assert.rejects(starting, /closed (while it started|meanwhile)/);
      assert.equal((globalThis as { lateClosed?: boolean }).lateClosed, true);
      assert.deepEqual([await isFree(port), await isFree(ops_port)], [true, true]);
    } finally {
      remove();
    }
  });
});
