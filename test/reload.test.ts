import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../src/errors/error.js';
import { createGateway } from '../src/index.js';
import { rawExchange } from './support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const GET = 'GET /a/mcp HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n';
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('reload', () => {
  let upstream: Server;
  let upstream_url = '';
  let folder = '';
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portcullis-reload-'));
    upstream = createServer((request, response) => {
      request.resume();
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        setTimeout(() => response.end('id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'), 1500);
        return;
      }
      request.on('end', () =>
        setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}'), 20),
      );
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    upstream_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
  });
  after(() => {
    upstream.closeAllConnections();
    upstream.close();
    rmSync(folder, { recursive: true });
  });

  const yaml = (path: string, extra = ''): string =>
    `listener: { port: 0 }\nops: { port: 0 }\nruntimes: { u: { kind: proxied, url: "${upstream_url}" } }\nroutes:\n  - { path: ${path}, public: true, runtime: u }\n${extra}`;
  const post = async (base: string, path: string): Promise<number> =>
    (await fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: PING })).status;

  test('routes change, an open stream finishes on the old config, a bad file changes nothing and says why', async () => {
    const file = join(folder, 'a.yaml');
    writeFileSync(file, yaml('/a/mcp', 'reload: { watch: false }\n'));
    const gateway = createGateway(file);
    await gateway.start();
    try {
      const { url } = gateway;
      const stream = rawExchange(Number(new URL(url).port), [GET], 5000);
      await wait(100);
      writeFileSync(file, yaml('/b/mcp', 'reload: { watch: false }\n'));
      assert.deepEqual(await gateway.reload(), { restart: [] });
      assert.deepEqual([await post(url, '/a/mcp'), await post(url, '/b/mcp')], [404, 200]);
      writeFileSync(file, yaml('/c/mcp', 'nonsense: 1\n'));
      await assert.rejects(gateway.reload(), (error) => error instanceof ConfigError && /nonsense: unknown key/.test(error.message));
      assert.deepEqual([await post(url, '/b/mcp'), await post(url, '/c/mcp')], [200, 404]);
      const answer = await stream;
      assert.match(answer.text, /data: \{"jsonrpc":"2\.0","method":"notifications\/x"\}/);
      const metrics = await (await fetch(`${gateway.ops_url}/metrics`)).text();
      assert.match(metrics, /portcullis_config_reloads_total\{outcome="succeeded"\} 1\n/);
      assert.match(metrics, /portcullis_config_reloads_total\{outcome="failed"\} 1\n/);
      assert.match(metrics, /portcullis_config_last_reload_success 0\n/);
      const posted = await fetch(`${gateway.ops_url}/reload`, { method: 'POST' });
      assert.deepEqual([posted.status, /nonsense/.test(await posted.text())], [422, true]);
      assert.equal((await fetch(`${gateway.ops_url}/reload`, { method: 'POST', headers: { origin: 'http://evil.test' } })).status, 403);
    } finally {
      await gateway.close();
    }
  });

  test('keys that are read once are named', async () => {
    const file = join(folder, 'limits.yaml');
    writeFileSync(file, yaml('/a/mcp'));
    const gateway = createGateway(file);
    await gateway.start();
    writeFileSync(file, yaml('/a/mcp').replace('{ port: 0 }', '{ port: 0, limits: { max_connections: 5 } }'));
    assert.deepEqual(await gateway.reload(), { restart: ['listener.limits'] });
    assert.deepEqual(await gateway.reload(), { restart: ['listener.limits'] }, 'still waiting for the restart');
    const status = JSON.parse(await (await fetch(`${gateway.ops_url}/status.json`)).text());
    const told = [status.max_connections, status.config.values.listener.limits.max_connections];
    assert.deepEqual(told, [1024, 1024], 'what is told to be in force is in force');
    writeFileSync(file, yaml('/a/mcp'));
    assert.deepEqual(await gateway.reload(), { restart: [] });
    writeFileSync(file, yaml('/a/mcp', 'reload: { watch: false }\n'));
    assert.deepEqual(await gateway.reload(), { restart: ['reload'] });
    await gateway.close();
  });

  test('code that changed is named; code that did not load and was mended is loaded', async () => {
    const file = join(folder, 'code.yaml');
    const hosted = (name: string): string =>
      yaml('/a/mcp').replace('runtimes: {', `runtimes: { h: { kind: hosted, module: ./${name}.mjs },`);
    const code = (text: string): void => writeFileSync(join(folder, 'server.mjs'), text);
    const server = `import { defineServer } from '${pathToFileURL(join(import.meta.dirname, '../src/server.js')).href}';\nexport const server = defineServer({ name: 'h', version: '1.0.0' });\n`;
    writeFileSync(file, yaml('/a/mcp', 'reload: { watch: false }\n'));
    const gateway = createGateway(file);
    await gateway.start();
    try {
      writeFileSync(file, `${hosted('server')}  - { path: /h/mcp, public: true, runtime: h }\nreload: { watch: false }\n`);
      for (const broken of ['export const server = ;', 'throw new Error("no database")', 'import "no-such-package";']) {
        code(broken);
        await assert.rejects(
          gateway.reload(),
          (error) => error instanceof ConfigError && /runtimes\.h\.module: could not be loaded/.test(error.message),
        );
      }
      await assert.rejects(gateway.reload(), /when you mended a file that it imports, restart/);
      code(server);
      assert.deepEqual(await gateway.reload(), { restart: [] });
      assert.equal(await post(gateway.url, '/h/mcp'), 200);
      code(`${server}// another\n`);
      assert.deepEqual(await gateway.reload(), { restart: ['runtimes.h.module (its file)'] });
      code(server);
      assert.deepEqual(await gateway.reload(), { restart: [] });
    } finally {
      await gateway.close();
    }
  });

  test('a watched file is put in force, also when a ConfigMap swaps its link a second time', async () => {
    const mount = join(folder, 'mount');
    mkdirSync(mount);
    const swap = (version: string, path: string): void => {
      mkdirSync(join(mount, version));
      writeFileSync(join(mount, version, 'portcullis.yaml'), yaml(path));
      symlinkSync(version, join(mount, '..data_tmp'));
      renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    swap('v1', '/v1/mcp');
    symlinkSync('..data/portcullis.yaml', join(mount, 'portcullis.yaml'));
    const gateway = createGateway(join(mount, 'portcullis.yaml'));
    await gateway.start();
    try {
      for (const version of ['v2', 'v3']) {
        swap(version, `/${version}/mcp`);
        let status = 404;
        for (let i = 0; i < 100 && status === 404; i++) {
          await wait(100);
          status = await post(gateway.url, `/${version}/mcp`);
        }
        assert.equal(status, 200, version);
      }
      assert.equal(await post(gateway.url, '/v1/mcp'), 404);
    } finally {
      await gateway.close();
    }
  });

  test('a hundred reloads under load lose no call', async () => {
    const file = join(folder, 'load.yaml');
    writeFileSync(file, yaml('/a/mcp'));
    const gateway = createGateway(file);
    await gateway.start();
    const statuses = new Map<number, number>();
    let going = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (going) {
        const status = await post(gateway.url, '/a/mcp');
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    for (let i = 0; i < 100; i++) {
      writeFileSync(file, yaml('/a/mcp', `  - { path: /extra${i}/mcp, public: true, runtime: u }\n`));
      await gateway.reload();
      await wait(15);
    }
    going = false;
    await Promise.all(clients);
    await gateway.close();
    assert.deepEqual([...statuses.keys()], [200]);
    assert.ok((statuses.get(200) ?? 0) >= 16, `${statuses.get(200)}`);
  });
});
