// Plain HTTP beside MCP through a gateway process: a UI and a real authorization server, each mounted by prefix.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Browser } from '../support/e2e/browser.js';
import { freePort } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { mountedProvider } from '../support/e2e/mounted-provider.js';
import { startUi, type Ui } from '../support/e2e/ui-server.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { rawExchange, sendAndLeave } from '../support/raw.js';
import { type SendOptions, send, tool, whole, withHeaders } from '../support/send.js';
import { closeServer, listen, type Upstream } from '../support/upstream.js';

const KEY_SHA256 = createHash('sha256').update('key').digest('hex');
const STREAMS = 200;

let ui: Ui;
let gateway: RunningGateway;

const config = (more: string): string => `
listener: { port: 0, chunked_requests: accept, limits: { max_body_bytes: 100000, drain_timeout_ms: 3000 } }
ops: { port: 0 }
gates: { key: { use: api-key, options: { keys: [{ name: alice, sha256: ${KEY_SHA256} }] } } }
runtimes: { ui: { kind: http, url: "${ui.url}/app" } }
routes: [{ path: /console, gates: [key], runtime: ui, forward_identity: { header: x-caller } }]
${more}`;

before(async () => {
  ui = await startUi();
  gateway = await startGateway(config(''));
});

after(async () => {
  await gateway?.stop();
  await ui?.close();
});

const keyed = (options: SendOptions = {}): SendOptions => withHeaders(options, { 'x-api-key': 'key' });
const at = (path: string): string => `${gateway.url}${path}`;

describe('a UI behind a prefix', () => {
  it('is guarded as a whole: nothing of a request without a key reaches it', async () => {
    const before = ui.seen.length;
    for (const path of ['/console', '/console/', '/console/page', '/console/a/b?c=d'])
      for (const method of ['GET', 'POST', 'DELETE'])
        assert.equal((await whole(at(path), { method, ...(method === 'POST' ? { body: 'x' } : {}) })).status, 401);
    for (const path of ['/consoles', '/', '/app/page', '/console/../app', '/console%2fpage'])
      assert.equal((await whole(at(path), keyed())).status, 404);
    assert.equal(ui.seen.length, before);
    assert.equal(JSON.parse((await whole(at('/console/page?x=1'), keyed())).text).url, '/app/page?x=1');
    assert.equal(JSON.parse((await whole(at('/console'), keyed())).text).url, '/app');
  });

  it('learns who calls from the gateway alone, and gets no credential', async () => {
    const answer = await whole(
      at('/console/page'),
      keyed({
        headers: {
          authorization: 'Bearer secret',
          cookie: 'sid=1',
          'x-caller': 'mallory',
          'x-forwarded-for': '203.0.113.9',
          'x-forwarded-client-cert': 'Hash=0',
          'proxy-authorization': 'Basic eA==',
          'user-agent': 'browser',
          connection: 'close, x-caller',
        },
      }),
    );
    const { headers } = JSON.parse(answer.text);
    assert.equal(JSON.parse(Buffer.from(headers['x-caller'], 'base64url').toString()).sub, 'alice');
    assert.deepEqual(
      [headers.cookie, headers['user-agent'], headers['x-forwarded-for'], headers['x-forwarded-prefix'], headers.host],
      ['sid=1', 'browser', '127.0.0.1', '/console', new URL(ui.url).host],
    );
    for (const name of ['authorization', 'x-api-key', 'proxy-authorization', 'x-forwarded-client-cert'])
      assert.equal(headers[name], undefined, name);
  });

  it('keeps its cookies and redirects below the prefix', async () => {
    const { headers } = await whole(at('/console/login'), keyed());
    assert.deepEqual(headers['set-cookie'], ['sid=1; HttpOnly; Path=/console', 'app=2; Path=/console/deep', 'plain=3; Path=/console']);
    const moved = await whole(at('/console/moved'), keyed());
    assert.deepEqual([moved.status, moved.headers.location], [302, '/console/page?x=1']);
    const out = await whole(at('/console/out'), keyed());
    assert.deepEqual([out.status, out.headers.location, JSON.parse(out.text).error.data.code], [502, undefined, 'UPSTREAM_BROKEN']);
  });

  it(`carries ${STREAMS} streams at once, and lets each go when its client leaves`, async () => {
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => send(at('/console/stream'), keyed())));
    await Promise.all(streams.map((stream) => stream.shows(/data: hello/)));
    assert.equal(await gateway.metric('portcullis_requests_in_flight', { route: '/console' }), STREAMS);
    assert.equal((await whole(at('/console/page'), keyed())).status, 200);
    for (const stream of streams) stream.leave();
    await until('the upstream is let go', () => ui.open() === 0);
    await until('nothing is in flight', async () => (await gateway.metric('portcullis_requests_in_flight')) === 0);
    assert.equal(await gateway.metric('portcullis_requests_total', { route: '/console', outcome: 'cancelled' }), STREAMS);
  });

  it('takes uploads up to the limit, declared or in chunks; a client that leaves ends the upstream’s request', async () => {
    const upload = (bytes: number, headers: Readonly<Record<string, string>> = {}) =>
      whole(at('/console/upload'), keyed({ method: 'POST', body: 'x'.repeat(bytes), headers }));
    const chunked = { 'transfer-encoding': 'chunked' };
    assert.equal(JSON.parse((await upload(100_000)).text).bytes, 100_000);
    assert.equal(JSON.parse((await upload(100_000, chunked)).text).bytes, 100_000);
    const before = ui.aborted.length;
    for (const headers of [{}, chunked]) {
      const { status, text } = await upload(100_001, headers);
      assert.deepEqual([status, JSON.parse(text).error.data.code], [413, 'BODY_TOO_LARGE']);
    }
    await until('the chunked one is aborted upstream', () => ui.aborted.length === before + 1);
    const port = Number(new URL(gateway.url).port);
    const half = 'POST /console/upload HTTP/1.1\r\nHost: a\r\nX-Api-Key: key\r\nContent-Length: 100\r\n\r\nhalf';
    const begun = ui.seen.length;
    await sendAndLeave(port, half, () => until('it has begun upstream', () => ui.seen.length > begun));
    await until('the one whose client left is aborted upstream', () => ui.aborted.length === before + 2);
    assert.deepEqual((await rawExchange(port, [half])).statuses, [408]);
    await until('the one that was refused half-way is aborted upstream', () => ui.aborted.length === before + 3);
    assert.deepEqual(ui.aborted.slice(before), ['/app/upload', '/app/upload', '/app/upload']);
  });

  it('asks for a body only once its gates have admitted the request', async () => {
    const port = Number(new URL(gateway.url).port);
    const asked = (key: string): string =>
      `POST /console/upload HTTP/1.1\r\nHost: a\r\n${key}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    const refused = await rawExchange(port, [asked('')], 1000);
    assert.deepEqual([refused.statuses, refused.text.includes('100 Continue')], [[401], false]);
    const admitted = await rawExchange(port, [asked('X-Api-Key: key\r\n'), 400, 'body'], 2000);
    assert.deepEqual([admitted.statuses, admitted.text.startsWith('HTTP/1.1 100 Continue\r\n\r\n')], [[200], true]);
    assert.match(admitted.text, /"bytes":4/);
    assert.doesNotMatch(admitted.text, /"expect"/);
  });

  it('refuses chunks unless they are accepted', async () => {
    const strict = await startGateway(config('').replace('chunked_requests: accept', 'chunked_requests: refuse'));
    try {
      const answer = await whole(
        `${strict.url}/console/upload`,
        keyed({ method: 'POST', body: 'x', headers: { 'transfer-encoding': 'chunked' } }),
      );
      assert.deepEqual([answer.status, JSON.parse(answer.text).error.data.code], [411, 'LENGTH_REQUIRED']);
    } finally {
      await strict.stop();
    }
  });

  it('a drain lets a download end whole, tells half an upload to come back, and ends what stays open at the timeout', async () => {
    const other = await startGateway(config(''));
    const url = `${other.url}/console`;
    const port = Number(new URL(other.url).port);
    const download = await send(`${url}/download`, keyed());
    const stream = await send(`${url}/stream`, keyed());
    const half = rawExchange(
      port,
      ['POST /console/upload HTTP/1.1\r\nHost: a\r\nX-Api-Key: key\r\nContent-Length: 100\r\n\r\nhalf'],
      10_000,
    );
    await until('all is under way', async () => (await other.metric('portcullis_requests_in_flight')) === 3);
    const began = performance.now();
    const exit = other.stop('SIGTERM');
    assert.equal((await download.ended).how, 'whole');
    assert.equal(download.text, '01234567890123456789');
    assert.deepEqual((await half).statuses, [503]);
    const counted = (outcome: string): Promise<number> => other.metric('portcullis_requests_total', { outcome });
    assert.deepEqual(await Promise.all(['refused', 'cancelled', 'ok'].map(counted)), [1, 0, 1]);
    assert.equal((await stream.ended).how, 'cut');
    assert.ok(performance.now() - began >= 2900, 'it was left open until the timeout');
    assert.equal(await exit, 0);
    assert.match(other.output, /"killed":1,.*"message":"drain done"/);
  });
});

describe('an authorization server behind a prefix', () => {
  let mcp: Upstream;
  let issuing: RunningGateway;
  let provider: Server;
  let base: string;
  const sockets = new Set<Socket>();

  before(async () => {
    mcp = await startMcpUpstream();
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    provider = await mountedProvider('/idp', `${base}/idp`);
    provider.on('connection', (socket) => void sockets.add(socket));
    const provider_port = await listen(provider);
    issuing = await startGateway(`
listener: { port: ${port}, public_url: ${base} }
ops: { port: 0 }
gates: { token: { use: oauth-bearer, options: { issuer: ${base}/idp, required_scopes: [mcp.read] } } }
runtimes:
  server: { kind: proxied, url: "${mcp.url}/mcp" }
  idp: { kind: http, url: "http://127.0.0.1:${provider_port}/idp", redirects: any }
routes:
  - { path: /mcp, gates: [token], runtime: server }
  - { path: /idp, public: true, runtime: idp }
`);
  });

  after(async () => {
    await issuing?.stop();
    if (provider !== undefined) await closeServer(provider, sockets);
    await mcp?.close();
  });

  it('a user signs in with a browser through the gateway, and the token opens the MCP route beside it', async () => {
    const challenge = (await whole(`${base}/mcp`, tool('echo'))).headers['www-authenticate'] ?? '';
    const resource = JSON.parse((await whole(/resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '')).text);
    assert.deepEqual([resource.resource, resource.authorization_servers], [`${base}/mcp`, [`${base}/idp`]]);
    const metadata = JSON.parse((await whole(`${base}/idp/.well-known/openid-configuration`)).text);
    assert.deepEqual(
      [metadata.issuer, metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri],
      [`${base}/idp`, `${base}/idp/auth`, `${base}/idp/token`, `${base}/idp/jwks`],
    );
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: 'agent',
      response_type: 'code',
      redirect_uri: 'https://client.test/callback',
      scope: 'mcp.read',
      resource: `${base}/mcp`,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 's',
    });
    const browser = new Browser();
    const end = await browser.signIn(`${metadata.authorization_endpoint}?${query}`);
    assert.equal(`${end.origin}${end.pathname}`, 'https://client.test/callback');
    assert.ok(browser.paths.size > 0 && [...browser.paths].every((path) => path.startsWith('/idp')), [...browser.paths].join(' '));
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'agent',
      code: end.searchParams.get('code') ?? '',
      redirect_uri: 'https://client.test/callback',
      code_verifier: verifier,
      resource: `${base}/mcp`,
    });
    const answer = await whole(metadata.token_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    });
    assert.equal(answer.status, 200, answer.text);
    const token = JSON.parse(answer.text).access_token as string;
    const call = await whole(`${base}/mcp`, withHeaders(tool('echo', { text: 'hi' }), { authorization: `Bearer ${token}` }));
    assert.equal(JSON.parse(call.text).result.content[0].text, 'hi');
  });
});
