import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createGateway, type Gateway } from '../src/index.js';
import { type FakeIssuer, startIssuer } from './gates/oauth-bearer/support/fake-issuer.js';
import { folderWith } from './support/config-files.js';
import { startMcpUpstream } from './support/mcp-upstream.js';
import { tool, whole } from './support/send.js';
import type { Upstream } from './support/upstream.js';

const ROOT = '/.well-known/oauth-protected-resource';
const PUBLIC = 'https://mcp.example.com';

describe('OAuth through a whole gateway', () => {
  let upstream: Upstream;
  let issuer: FakeIssuer;
  const { folder, remove } = folderWith({});
  before(async () => {
    upstream = await startMcpUpstream();
    issuer = await startIssuer();
  });
  after(async () => {
    await upstream.close();
    await issuer.close();
    remove();
  });

  type Route = Readonly<Record<string, unknown>>;
  const guarded = (path: string, more: Route = {}): Route => ({ path, gates: ['token'], runtime: 'up', ...more });
  const open = (path: string): Route => ({ path, public: true, runtime: 'up' });
  const config = (...routes: readonly Route[]): object => ({
    listener: { port: 0, public_url: PUBLIC },
    ops: { enabled: false },
    reload: { watch: false },
    gates: {
      token: { use: 'oauth-bearer', options: { issuer: issuer.url } },
      other: { use: 'oauth-bearer', options: { issuer: issuer.url, resource_name: 'other' } },
    },
    runtimes: { up: { kind: 'proxied', url: `${upstream.url}/mcp` } },
    routes,
  });
  /** The `resource` of the document there, or the status without one. */
  async function resource(gateway: Gateway, path = ROOT): Promise<unknown> {
    const { status, text } = await whole(`${gateway.url}${path}`);
    return status === 200 ? JSON.parse(text).resource : status;
  }
  async function running(work: (gateway: Gateway) => Promise<void>, ...routes: readonly Route[]): Promise<void> {
    const gateway = createGateway(config(...routes));
    await gateway.start();
    try {
      await work(gateway);
    } finally {
      await gateway.close();
    }
  }

  const rows: readonly (readonly [what: string, routes: readonly Route[], expected: unknown])[] = [
    ['one OAuth route', [guarded('/mcp')], `${PUBLIC}/mcp`],
    ['one OAuth route and open ones', [guarded('/a/mcp'), open('/b/mcp')], `${PUBLIC}/a/mcp`],
    [
      'one OAuth route with a URL of its own',
      [guarded('/mcp', { public_url: 'https://files.example.com/mcp' })],
      'https://files.example.com/mcp',
    ],
    [
      'one OAuth route whose URL has another path',
      [guarded('/mcp', { public_url: 'https://h.example/base/mcp' })],
      'https://h.example/base/mcp',
    ],
    ['two routes with one gate', [guarded('/a/mcp'), guarded('/b/mcp')], 404],
    ['two routes with two gates', [guarded('/a/mcp'), guarded('/b/mcp', { gates: ['other'] })], 404],
    [
      'two hosts',
      [guarded('/a/mcp', { public_url: 'https://a.example/mcp' }), guarded('/b/mcp', { public_url: 'https://b.example/mcp' })],
      404,
    ],
    ['no OAuth route', [open('/mcp')], 404],
    ['a route at / beside another', [guarded('/'), guarded('/b/mcp')], PUBLIC],
  ];
  for (const [what, routes, expected] of rows)
    it(`the root discovery document: ${what}`, () =>
      running(async (gateway) => assert.equal(await resource(gateway), expected), ...routes));

  it('each document stays at its own path, and where the public URL has another path, at that too', () =>
    running(
      async (gateway) => {
        assert.equal(await resource(gateway, `${ROOT}/a/mcp`), 'https://h.example/base/a/mcp');
        assert.equal(await resource(gateway, `${ROOT}/base/a/mcp`), 'https://h.example/base/a/mcp');
        assert.equal(await resource(gateway, `${ROOT}/b/mcp`), `${PUBLIC}/b/mcp`);
        assert.equal(await resource(gateway, `${ROOT}/base/b/mcp`), 404);
      },
      guarded('/a/mcp', { public_url: 'https://h.example/base/a/mcp' }),
      guarded('/b/mcp'),
    ));

  it('a reload that adds or removes an OAuth route changes whether the root answers', async () => {
    const file = join(folder, 'portcullis.yaml');
    const write = (...routes: readonly Route[]): void => writeFileSync(file, JSON.stringify(config(...routes)));
    write(guarded('/a/mcp'));
    const gateway = createGateway(file);
    await gateway.start();
    const found: unknown[] = [await resource(gateway)];
    for (const routes of [[guarded('/a/mcp'), guarded('/b/mcp')], [guarded('/b/mcp')], [open('/a/mcp')]]) {
      write(...routes);
      await gateway.reload();
      found.push(await resource(gateway));
    }
    await gateway.close();
    assert.deepEqual(found, [`${PUBLIC}/a/mcp`, 404, `${PUBLIC}/b/mcp`, 404]);
  });

  it('the head has room for the longest token, a DPoP proof and more; a longer token is 431 without a challenge', () =>
    running(async (gateway) => {
      const call = async (token: string, more: Readonly<Record<string, string>> = {}) => {
        const { headers, ...rest } = tool('echo');
        return whole(`${gateway.url}/mcp`, { ...rest, headers: { ...headers, ...more, authorization: `Bearer ${token}` } });
      };
      const room = { dpop: 'x'.repeat(4096), 'x-forwarded-client-cert': 'x'.repeat(8000) };
      const full = await call('x'.repeat(16_384), room);
      assert.deepEqual([full.status, JSON.parse(full.text).error.data.code], [401, 'TOKEN_INVALID']);
      const long = await call('x'.repeat(16_385), room);
      assert.deepEqual([long.status, JSON.parse(long.text).error.data.code], [431, 'TOKEN_TOO_LONG']);
      assert.equal(long.headers['www-authenticate'], undefined);
    }, guarded('/mcp')));

  it('a byte order mark before a client’s body stays 400', () =>
    running(async (gateway) => {
      const { body = '', ...rest } = tool('echo');
      assert.equal((await whole(`${gateway.url}/mcp`, { ...rest, body })).status, 200);
      const marked = await whole(`${gateway.url}/mcp`, { ...rest, body: `\ufeff${body}` });
      assert.deepEqual([marked.status, JSON.parse(marked.text).error.code], [400, -32700]);
    }, open('/mcp')));
});
