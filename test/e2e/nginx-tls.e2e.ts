// A real nginx terminates TLS in front of a gateway: calls, streams, sessions, discovery, addresses, connections and refusals through it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import { issue } from '../gates/mtls/certificates.js';
import { type Child, startChild } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { INITIALIZE, legacy, modern, type SendOptions, type Sent, send, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

let upstream: Upstream;
let issuer: DemoIssuer;
let gateway: RunningGateway;
let nginx: Child;
let folder: string;
let base: string;
let ca: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-nginx-'));
  const certificate = await issue({
    subject: 'CN=localhost',
    dns: ['localhost'],
    not_before: new Date(Date.now() - 86_400_000).toISOString(),
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
  });
  ca = certificate.pem;
  writeFileSync(join(folder, 'crt.pem'), certificate.pem);
  writeFileSync(join(folder, 'key.pem'), certificate.key_pem);
  const port = await freePort();
  base = `https://localhost:${port}`;
  upstream = await startMcpUpstream();
  issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: `${base}/mcp`, scopes: ['mcp.read'] });
  gateway = await startGateway(`
listener:
  port: 0
  public_url: ${base}
  trusted_proxies: [127.0.0.1]
  gates: [edge]
ops: { port: 0 }
gates:
  edge: { use: ip-allow, options: { allow: [127.0.0.1, 127.0.0.2] } }
  token: { use: oauth-bearer, options: { issuer: "${issuer.issuer}", required_scopes: [mcp.read] } }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
routes:
  - { path: /mcp, gates: [token], runtime: server }
`);
  writeFileSync(join(folder, 'nginx.conf'), nginxConfig(port, Number(new URL(gateway.url).port)));
  nginx = startChild(['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {}, 'nginx');
  await until('nginx listens', () =>
    ask('/nowhere').then(
      () => true,
      () => false,
    ),
  );
});

after(async () => {
  await nginx?.stop();
  await gateway?.stop();
  await issuer?.close();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

function nginxConfig(port: number, gateway_port: number): string {
  return `
daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  client_max_body_size 10m;
  upstream gate { server 127.0.0.1:${gateway_port}; keepalive 8; }
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate crt.pem; ssl_certificate_key key.pem;
    location / {
      proxy_pass http://gate;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`;
}

const ask = (path: string, options: SendOptions = {}): Promise<Sent> => whole(base + path, { ca, ...options });
const asAlice = (options: SendOptions): SendOptions => ({ ca, ...withHeaders(options, { authorization: `Bearer ${issuer.token}` }) });

describe('a gateway behind nginx that terminates TLS', () => {
  it('a modern call passes, its token does not', async () => {
    const answer = await ask('/mcp', asAlice(tool('whoami')));
    assert.equal(answer.status, 200);
    const seen = JSON.parse(JSON.parse(answer.text).result.content[0].text);
    assert.deepEqual(
      [seen.authorization, seen['x-forwarded-for'], seen.host, seen['mcp-name']],
      [undefined, undefined, new URL(upstream.url).host, 'whoami'],
    );
  });

  it('a client without a token finds the authorization server by the public URL alone', async () => {
    const refused = await ask('/mcp', withHeaders(tool('echo'), { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http' }));
    assert.equal(refused.status, 401);
    const challenge = refused.headers['www-authenticate'] ?? '';
    assert.equal(challenge, `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp", scope="mcp.read"`);
    const found = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    const document = await whole(found, { ca });
    assert.equal(document.status, 200);
    const { resource, authorization_servers } = JSON.parse(document.text);
    assert.deepEqual([resource, authorization_servers], [`${base}/mcp`, [issuer.issuer]]);
  });

  it('events of a call come through one by one as they are made', async () => {
    const sent = await send(`${base}/mcp`, asAlice(tool('count', { n: 4, ms: 400 })));
    assert.equal(sent.headers['content-type'], 'text/event-stream');
    assert.equal(sent.headers['cache-control'], 'no-cache, no-transform');
    const times: number[] = [];
    for (const step of [1, 2, 3, 4]) {
      await sent.shows(new RegExp(`"progress":${step}`));
      times.push(performance.now());
    }
    assert.equal((await sent.ended).how, 'whole');
    assert.match(sent.text, /"result".*counted/);
    const gaps = times.slice(1).map((time, i) => Math.round(time - (times[i] ?? 0)));
    assert.ok(
      gaps.every((gap) => gap >= 130),
      `gaps of ${gaps.join(', ')} ms`,
    );
  });

  it('a quiet subscription is acknowledged at once, and let go when the client leaves', async () => {
    const before = upstream.seen.filter((entry) => entry.aborted).length;
    const listen = await send(`${base}/mcp`, asAlice(modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, 's')));
    await listen.shows(/subscriptions\/acknowledged/);
    assert.equal(await gateway.metric('portcullis_streams', { kind: 'listen' }), 1);
    listen.leave();
    await upstream.aborted(before + 1);
    await until('the stream is gone', async () => (await gateway.metric('portcullis_streams', { kind: 'listen' })) === 0);
    assert.equal(await gateway.metric('portcullis_streams_closed_total', { kind: 'listen', reason: 'client' }), 1);
  });

  it('a legacy session lives: initialize, notification, call, GET stream, DELETE; a forged one is 404', async () => {
    const opened = await ask('/mcp', asAlice(INITIALIZE));
    const session = opened.headers['mcp-session-id'] as string;
    assert.equal(opened.status, 200);
    assert.ok(session.length > 20 && !session.includes('upstream-session'));
    const initialized = { ...legacy('notifications/initialized', {}, session) };
    initialized.body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    assert.equal((await ask('/mcp', asAlice(initialized))).status, 202);
    const call = await ask('/mcp', asAlice(legacy('tools/call', { name: 'echo', arguments: { text: 'hi' } }, session, 'x')));
    assert.deepEqual([call.status, JSON.parse(call.text).id], [200, 'x']);
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session };
    const stream = await send(`${base}/mcp`, asAlice({ headers }));
    await stream.shows(/list_changed/);
    stream.leave();
    assert.equal((await ask('/mcp', asAlice({ method: 'DELETE', headers }))).status, 200);
    const forged = `${session.slice(0, -2)}${session.endsWith('AA') ? 'BB' : 'AA'}`;
    assert.equal((await ask('/mcp', asAlice(legacy('ping', {}, forged)))).status, 404);
    assert.equal(upstream.seen.at(-1)?.headers['mcp-session-id'], 'upstream-session');
  });

  it('the address that nginx saw decides, whatever the client claims', async () => {
    const as = async (from: string, headers: Readonly<Record<string, string>> = {}) =>
      (await ask('/mcp', { ...asAlice(withHeaders(tool('echo'), headers)), from })).status;
    assert.equal(await as('127.0.0.2'), 200);
    assert.equal(await as('127.0.0.3'), 403);
    assert.equal(await as('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' }), 403);
    assert.equal(await as('127.0.0.2', { 'x-forwarded-for': '203.0.113.9' }), 200);
    const direct = (from: string) =>
      whole(`${gateway.url}/mcp`, { ...asAlice(withHeaders(tool('echo'), { 'x-forwarded-for': '127.0.0.1' })), from });
    assert.deepEqual([(await direct('127.0.0.2')).status, (await direct('127.0.0.3')).status], [200, 403]);
  });

  it('nginx keeps its connections to the gateway', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
    const idle = () => gateway.metric('portcullis_connections');
    await whole(`${base}/mcp`, { ...asAlice(tool('echo')), agent });
    await until('everything else is over', async () => (await gateway.metric('portcullis_requests_in_flight')) === 0);
    const open = await idle();
    assert.ok(open >= 1 && open <= 8, `${open} connections`);
    for (let i = 0; i < 30; i++) assert.equal((await whole(`${base}/mcp`, { ...asAlice(tool('echo')), agent })).status, 200);
    assert.equal(await idle(), open);
    agent.destroy();
  });

  it('bodies that nginx collects arrive with a length; refusals before the body reach the client whole', async () => {
    const chunked = asAlice(withHeaders(tool('echo', { text: 'x'.repeat(100_000) }), { 'transfer-encoding': 'chunked' }));
    assert.equal((await ask('/mcp', chunked)).status, 200);
    for (const [bytes, options, status, code] of [
      [100_000, (o: SendOptions) => o, 401, 'TOKEN_REQUIRED'],
      [1_500_000, (o: SendOptions) => o, 401, 'TOKEN_REQUIRED'],
      [3_000_000, asAlice, 413, 'BODY_TOO_LARGE'],
    ] as const) {
      const answer = await ask('/mcp', { ca, ...options(tool('echo', { text: 'x'.repeat(bytes) })) });
      assert.equal(answer.status, status, `${bytes} bytes: ${answer.text.slice(0, 200)}`);
      assert.equal(JSON.parse(answer.text).error.data.code, code);
    }
  });
});
