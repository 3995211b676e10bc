// Chunked requests as they are sent in the field: by fetch with a stream, by curl, and by nginx that does not buffer; and what bodies in tiny pieces cost.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Child, startProgram } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { type SendOptions, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

let upstream: Upstream;
let gateway: RunningGateway;
let strict: RunningGateway;
let nginx: Child;
let folder: string;
let front: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-chunked-'));
  upstream = await startMcpUpstream();
  const config = (more: string): string => `
listener: { port: 0${more} }
ops: { port: 0 }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
routes: [{ path: /mcp, public: true, runtime: server }]
`;
  [gateway, strict] = await Promise.all([startGateway(config('')), startGateway(config(', chunked_requests: refuse'))]);
  const port = await freePort();
  front = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'nginx.conf'), nginxConfig(port, new URL(gateway.url).port, new URL(strict.url).port));
  nginx = startProgram('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr']);
  await until('nginx listens', () =>
    whole(`${front}/nowhere`).then(
      () => true,
      () => false,
    ),
  );
});

after(async () => {
  await nginx?.stop();
  await gateway?.stop();
  await strict?.stop();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

function nginxConfig(port: number, ...[accepting, refusing]: readonly string[]): string {
  const place = (path: string, target: string | undefined): string =>
    `location ${path} { proxy_pass http://127.0.0.1:${target}/mcp; proxy_http_version 1.1; proxy_request_buffering off; proxy_set_header Host $http_host; }`;
  return `
daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  client_max_body_size 10m;
  server { listen 127.0.0.1:${port}; ${place('= /mcp', accepting)} ${place('= /strict', refusing)} }
}
`;
}

const chunked = (options: SendOptions): SendOptions => withHeaders(options, { 'transfer-encoding': 'chunked' });
const largeCall = (bytes: number): SendOptions => tool('echo', { text: 'x'.repeat(bytes) });

describe('chunked requests', () => {
  for (const [name, bytes] of [
    ['small', 10],
    ['large', 300_000],
  ] as const) {
    it(`from fetch with a stream, ${name}`, async () => {
      const { headers, body } = largeCall(bytes);
      const stream = new Blob([body as string]).stream();
      const answer = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: headers ?? {},
        body: stream,
        duplex: 'half',
      } as RequestInit);
      assert.equal(answer.status, 200);
      assert.ok((await answer.text()).includes('x'.repeat(bytes)));
    });

    it(`through nginx that does not buffer requests, ${name}`, async () => {
      const answer = await whole(`${front}/mcp`, chunked(largeCall(bytes)));
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.ok(answer.text.includes('x'.repeat(bytes)));
    });

    it(`from curl, ${name}`, async () => {
      const { headers, body } = largeCall(bytes);
      writeFileSync(join(folder, 'body.json'), body as string);
      const fields = Object.entries({ ...headers, 'Transfer-Encoding': 'chunked' }).flatMap(([field, value]) => [
        '-H',
        `${field}: ${value}`,
      ]);
      const curl = startProgram('curl', [
        '-sS',
        '-w',
        '%{http_code}',
        '--data-binary',
        `@${join(folder, 'body.json')}`,
        ...fields,
        `${gateway.url}/mcp`,
      ]);
      assert.equal(await curl.ended, 0, curl.output.slice(0, 300));
      assert.match(curl.output, /200$/);
    });
  }

  it('over max_body_bytes are 413, and none is taken where they are refused', async () => {
    const over = await whole(`${gateway.url}/mcp`, chunked(largeCall(2_000_000)));
    assert.deepEqual([over.status, JSON.parse(over.text).error.data.code], [413, 'BODY_TOO_LARGE']);
    for (const url of [`${strict.url}/mcp`, `${front}/strict`]) {
      const refused = await whole(url, chunked(largeCall(300_000)));
      assert.deepEqual([refused.status, JSON.parse(refused.text).error.data.code], [411, 'LENGTH_REQUIRED']);
    }
  });
});

describe('a body of 1 MB in pieces of one byte', () => {
  const wireOf = (framing: (body: string) => readonly [string, string]): Buffer => {
    const { headers = {}, body } = largeCall(2 ** 20);
    const [field, framed] = framing(body as string);
    const lines = Object.entries({ host: 'a', connection: 'close', ...headers }).map((line) => line.join(': '));
    return Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n${field}\r\n\r\n${framed}`);
  };
  const declared = (body: string) => [`content-length: ${Buffer.byteLength(body)}`, body] as const;
  const tiny = (body: string) => ['transfer-encoding: chunked', `${body.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`] as const;

  for (const [name, framing, step, right] of [
    ['segments', declared, 1, 200],
    ['chunks', tiny, 65_536, 400],
  ] as const)
    it(`costs at most 8 MiB, as ${name}`, async () => {
      // What the first large body makes the process load is not the cost of this one.
      for (let i = 0; i < 3; i++) assert.equal((await whole(`${gateway.url}/mcp`, largeCall(2 ** 20))).status, 200);
      writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5');
      const before_kib = status('VmRSS');
      assert.equal(await sendSlowly(wireOf(framing), step), right);
      const grown = (status('VmHWM') - before_kib) / 1024;
      assert.ok(grown <= 8, `${grown.toFixed(1)} MiB`);
    });

  function status(row: string): number {
    return Number(new RegExp(`^${row}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]);
  }

  function sendSlowly(wire: Buffer, step: number): Promise<number> {
    return new Promise((resolve) => {
      const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', noDelay: true });
      let got = '';
      const answered = (): void => {
        const code = /^HTTP\/1\.1 (\d{3}) /.exec(got)?.[1];
        if (code === undefined) return;
        socket.destroy();
        resolve(Number(code));
      };
      socket.on('data', (chunk) => {
        got += chunk.toString('latin1');
        answered();
      });
      socket.on('error', () => resolve(0));
      socket.on('connect', async () => {
        for (let at = 0; at < wire.length && socket.writable; at += step) {
          socket.write(wire.subarray(at, at + step));
          if (at % 16 === 0) await turn();
        }
      });
    });
  }
});
