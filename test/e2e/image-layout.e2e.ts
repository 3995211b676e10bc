// What the Dockerfile lays out, run as a container runs it: PID 1, uid 65532, no capability, everything read-only but /tmp.
// Needs root, unshare, setpriv and npm.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contained, prepareTree, runContained, startContained } from '../support/e2e/container.js';
import { type ImageTree, layOutImage } from '../support/e2e/image-tree.js';
import { until } from '../support/e2e/until.js';

let image: ImageTree;

before(() => {
  image = layOutImage();
  prepareTree(image);
  mkdirSync(join(image.root, 'etc/portcullis'), { recursive: true });
  writeFileSync(
    join(image.root, 'etc/portcullis/portcullis.yaml'),
    JSON.stringify({
      listener: { port: 0, limits: { drain_delay_ms: 500, drain_timeout_ms: 10_000 } },
      ops: { port: 0 },
      runtimes: { demo: { kind: 'hosted', module: '/app/dist/src/demo/server.js' } },
      routes: [{ path: '/mcp', public: true, runtime: 'demo' }],
    }),
  );
});

after(() => image?.remove());

describe('the layout of the image', () => {
  it('holds the build and what production needs, and nothing else', () => {
    assert.deepEqual(readdirSync(join(image.root, 'app')).sort(), ['LICENSE', 'config', 'dist', 'node_modules', 'package.json']);
    assert.deepEqual(readdirSync(join(image.root, 'app/dist')).sort(), ['gates', 'src']);
    const modules = join(image.root, 'app/node_modules');
    assert.ok(existsSync(join(modules, 'fastify')));
    for (const name of ['typescript', '@biomejs', '@modelcontextprotocol']) assert.ok(!existsSync(join(modules, name)), name);
  });

  it('lets the user write to /tmp and nowhere else', async () => {
    const places = ['/', '/app', '/app/dist/src', '/etc/portcullis', '/dev', '/usr/lib', '/tmp'];
    const program = `
      const { writeFileSync } = require('node:fs');
      for (const place of ${JSON.stringify(places)}) {
        try { writeFileSync(place + '/probe', 'x'); console.log('wrote ' + place); } catch (error) { if (!['EROFS', 'EACCES'].includes(error.code)) throw error; }
      }`;
    const { code, output } = await runContained(image, [image.command[0] ?? '', '-e', program]);
    assert.equal(output, 'wrote /tmp\n');
    assert.equal(code, 0);
  });

  it('answers --version and validate', async () => {
    const [node = '', main = '', run = '', ...config] = image.command;
    assert.equal(run, 'run');
    const version = await runContained(image, [node, main, '--version']);
    assert.deepEqual([version.code, /^\d+\.\d+\.\d+\n$/.test(version.output)], [0, true], version.output);
    const valid = await runContained(image, [node, main, 'validate', ...config]);
    assert.match(valid.output, /^OK .*: 1 route, 0 gates, 1 runtime$/m);
  });
});

describe('the gateway in it', () => {
  let gateway: Contained;
  let url: string;
  let ops_url: string;

  before(async () => {
    gateway = await startContained(image, image.command);
    [, url = '', ops_url = ''] = await gateway.child.says(/"url":"([^"]+)".*"ops":"([^"]+)".*listens on/);
  });

  after(() => gateway?.child.stop('SIGKILL'));

  it('is PID 1, unprivileged', () => {
    assert.deepEqual(gateway.status('NSpid').split('\t').slice(-1), ['1']);
    assert.equal(gateway.status('Uid'), '65532\t65532\t65532\t65532');
    assert.equal(gateway.status('Gid'), '65532\t65532\t65532\t65532');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(gateway.status(set), /^0+$/, set);
    assert.equal(gateway.status('NoNewPrivs'), '1');
  });

  it('answers its probes and serves', async () => {
    for (const path of ['/startupz', '/livez', '/readyz']) assert.equal((await fetch(`${ops_url}${path}`)).status, 200, path);
    assert.deepEqual(await call('echo', { text: 'hello' }), 'hello');
  });

  it('drains as PID 1: the call under way is answered, new ones are taken until the delay is over, then it exits with 0', {
    timeout: 60_000,
  }, async () => {
    const running = call('countdown', { from: 5 });
    await sleep(200);
    gateway.signal('SIGTERM');
    await until('readiness off', async () => (await fetch(`${ops_url}/readyz`)).status === 503);
    assert.equal((await fetch(`${ops_url}/livez`)).status, 200);
    assert.equal(await call('echo', { text: 'during the delay' }), 'during the delay');
    assert.match(await running, /\S/);
    assert.equal(await gateway.child.ended, 0);
    assert.match(gateway.child.output, /"killed":0[,}].*drain done/);
  });

  async function call(name: string, args: object): Promise<string> {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } }),
    });
    const text = await response.text();
    const message = JSON.parse(
      text.startsWith('{')
        ? text
        : (text
            .split('\n')
            .findLast((line) => line.startsWith('data:'))
            ?.slice(5) ?? 'null'),
    );
    assert.ok(message.result !== undefined, text);
    return message.result.content[0].text;
  }
});
