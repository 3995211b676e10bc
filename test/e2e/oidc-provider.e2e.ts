// oauth-bearer with a real authorization server, through a running gateway, from discovery to the end of a stream.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  Client as ClientV2,
  ClientCredentialsProvider as CredentialsV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { ClientCredentialsProvider as CredentialsV1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createGateway, type Gateway } from '../../src/index.js';
import { modernBody, modernHead } from '../demo/rpc.js';
import { readMetric } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { type OidcServer, startOidc } from './oidc-server.js';

const DEMO = repositoryPath('dist/src/demo/server.js');

let oidc: OidcServer;
let gateway: Gateway;
let base: string;

before(async () => {
  oidc = await startOidc();
  const issuer = oidc.issuer;
  const introspection = { url: `${issuer}/token/introspection`, client_id: 'gateway', client_secret: 'a-secret-of-the-test', cache_s: 1 };
  gateway = createGateway({
    listener: { host: '127.0.0.1', port: 0 },
    ops: { host: '127.0.0.1', port: 0 },
    gates: {
      token: {
        use: 'oauth-bearer',
        options: { issuer, required_scopes: ['mcp.read'], tool_scopes: { 'count*': ['files.write', 'files.bulk'] } },
      },
      asked: { use: 'oauth-bearer', options: { issuer, principal_claim: 'client_id', introspection } },
      signed: {
        use: 'oauth-bearer',
        options: { issuer, principal_claim: 'client_id', introspection: { ...introspection, answer: 'jwt' } },
      },
      proof: { use: 'oauth-bearer', options: { issuer, dpop: 'require', dpop_nonce: 'require' } },
    },
    runtimes: { demo: { kind: 'hosted', module: DEMO } },
    routes: ['token', 'asked', 'signed', 'proof'].map((gate) => ({ path: `/${gate}/mcp`, gates: [gate], runtime: 'demo' })),
  });
  await gateway.start();
  base = gateway.url;
});

after(async () => {
  await gateway.close();
  await oidc.close();
});

const resourceOf = (gate: string): string => `${base}/${gate}/mcp`;

async function post(
  gate: string,
  authorization: string | undefined,
  method = 'tools/list',
  params: Record<string, unknown> = {},
  more: Record<string, string> = {},
) {
  const name = typeof params.name === 'string' ? params.name : undefined;
  const headers = { ...modernHead(method, name), ...(authorization === undefined ? {} : { authorization }), ...more };
  const response = await fetch(resourceOf(gate), { method: 'POST', headers, body: modernBody(method, params) });
  const text = await response.text();
  return { status: response.status, challenge: response.headers.get('www-authenticate'), headers: response.headers, text };
}

describe('oauth-bearer with oidc-provider', () => {
  it('from a bare 401 to an answer, following only what the gateway says', async () => {
    const refused = await post('token', undefined);
    const metadata = `${base}/.well-known/oauth-protected-resource/token/mcp`;
    assert.equal(refused.status, 401);
    assert.equal(refused.challenge, `Bearer resource_metadata="${metadata}", scope="mcp.read"`);
    const document = (await (await fetch(metadata)).json()) as {
      readonly resource: string;
      readonly authorization_servers: readonly string[];
    };
    assert.deepEqual(document, {
      resource: resourceOf('token'),
      authorization_servers: [oidc.issuer],
      scopes_supported: ['mcp.read'],
      bearer_methods_supported: ['header'],
    });
    const token = await oidc.token({ resource: document.resource, scope: 'mcp.read' });
    const answered = await post('token', `Bearer ${token}`);
    assert.equal(answered.status, 200);
    assert.match(answered.text, /"tools":/);
  });

  it('a token for a sibling route, a cut one and one without the scope are refused', async () => {
    const sibling = await post('token', `Bearer ${await oidc.token({ resource: resourceOf('asked'), scope: 'mcp.read' })}`);
    assert.equal(sibling.status, 401);
    assert.match(sibling.challenge ?? '', /^Bearer error="invalid_token", error_description="The token is meant for another audience\.", /);
    const token = await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read' });
    assert.equal((await post('token', `Bearer ${token.slice(0, -8)}`)).status, 401);
    const weak = await post('token', `Bearer ${await oidc.token({ resource: resourceOf('token'), scope: 'files.write' })}`);
    assert.equal(weak.status, 403);
    assert.match(weak.challenge ?? '', /^Bearer error="insufficient_scope", scope="mcp\.read", /);
  });

  it('step-up: a tool that needs more is challenged with all of it, in both eras, and then works', async () => {
    const weak = `Bearer ${await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read' })}`;
    const call = { name: 'countdown', arguments: { from: 1 } };
    const modern = await post('token', weak, 'tools/call', call);
    assert.equal(modern.status, 403);
    const scope = /scope="([^"]+)"/.exec(modern.challenge ?? '')?.[1];
    assert.equal(scope, 'mcp.read files.write files.bulk');
    const legacy = await fetch(resourceOf('token'), {
      method: 'POST',
      headers: {
        authorization: weak,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: call }),
    });
    assert.equal(legacy.status, 403);
    assert.equal(legacy.headers.get('www-authenticate'), modern.challenge);
    await legacy.body?.cancel();
    const strong = `Bearer ${await oidc.token({ resource: resourceOf('token'), scope })}`;
    assert.equal((await post('token', strong, 'tools/call', call)).status, 200);
  });

  it('the official clients, v1 and v2, log in by themselves', async () => {
    const given = { clientId: 'agent', clientSecret: 'a-secret-of-the-test', expectedIssuer: oidc.issuer, scope: 'mcp.read' };
    const v1 = new ClientV1({ name: 'v1', version: '0' });
    await v1.connect(new TransportV1(new URL(resourceOf('token')), { authProvider: new CredentialsV1(given) }) as never);
    assert.ok((await v1.listTools()).tools.length > 0);
    await v1.close();
    const v2 = new ClientV2({ name: 'v2', version: '0' });
    await v2.connect(new TransportV2(new URL(resourceOf('token')), { authProvider: new CredentialsV2(given) }));
    assert.ok((await v2.listTools()).tools.length > 0);
    await v2.close();
  });

  for (const gate of ['asked', 'signed'])
    it(`opaque tokens are introspected (${gate}), also once they are revoked`, async () => {
      const token = await oidc.token({ client: 'opaque', resource: resourceOf(gate), scope: 'mcp.read' });
      assert.ok(!token.includes('.'));
      const answered = await post(gate, `Bearer ${token}`);
      assert.deepEqual([answered.status, answered.challenge], [200, null]);
      await oidc.revoke(token);
      await until('the revocation counts', async () => (await post(gate, `Bearer ${token}`)).status === 401, 5000);
      const foreign = await oidc.token({ client: 'opaque', resource: resourceOf('token'), scope: 'mcp.read' });
      assert.equal((await post(gate, `Bearer ${foreign}`)).status, 401);
    });

  it('DPoP: nonce, bound token, replay, downgrade', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const prove = (htu: string, claims: Record<string, unknown> = {}): Promise<string> =>
      new SignJWT({ jti: randomUUID(), htm: 'POST', htu, ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .setIssuedAt()
        .sign(privateKey);
    const resource = resourceOf('proof');
    const token = await oidc.token({ resource, scope: 'mcp.read', headers: { dpop: await prove(`${oidc.issuer}/token`) } });
    assert.deepEqual(decodeJwt(token).cnf, { jkt: await calculateJwkThumbprint(jwk) });
    const ath = createHash('sha256').update(token).digest('base64url');
    const ask = (dpop: string, scheme = 'DPoP') => post('proof', `${scheme} ${token}`, 'tools/list', {}, { dpop });

    const first = await ask(await prove(resource, { ath }));
    assert.equal(first.status, 401);
    assert.match(first.challenge ?? '', /^DPoP algs="[^"]+", error="use_dpop_nonce", resource_metadata="/);
    const nonce = first.headers.get('dpop-nonce');
    const proof = await prove(resource, { ath, nonce });
    assert.equal((await ask(proof)).status, 200);
    assert.match((await ask(proof)).challenge ?? '', /error="invalid_dpop_proof"/);
    assert.equal((await ask(await prove(resource, { ath, nonce }))).status, 200);
    assert.equal((await ask(await prove(resourceOf('token'), { ath, nonce }))).status, 401);
    assert.equal((await ask(await prove(resource, { ath, nonce }), 'Bearer')).status, 401);
  });

  it('a stream ends when its token expires', async () => {
    oidc.ttl_s = 3;
    const token = await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read' });
    oidc.ttl_s = 3600;
    const response = await fetch(resourceOf('token'), {
      method: 'POST',
      headers: { ...modernHead('subscriptions/listen'), authorization: `Bearer ${token}` },
      body: modernBody('subscriptions/listen', { notifications: { resourceSubscriptions: ['demo://ticks'] } }),
    });
    assert.equal(response.status, 200);
    await response.text().catch(() => '');
    const late_ms = Date.now() - (decodeJwt(token).exp ?? 0) * 1000;
    assert.ok(late_ms > -100 && late_ms < 2000, `ended ${late_ms} ms after exp`);
    assert.equal(await readMetric(`${gateway.ops_url}/metrics`, 'portcullis_streams_closed_total', { reason: 'identity_expired' }), 1);
  });

  it('a key rotation is followed at once, and the former key is good as long as it is published', async () => {
    const before = await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read' });
    await oidc.rotate(true);
    const next = await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read' });
    assert.equal((await post('token', `Bearer ${next}`)).status, 200);
    assert.equal((await post('token', `Bearer ${before}`)).status, 200);
  });

  it('while the authorization server is down good tokens work on; a cold start is 503 until it is back', async () => {
    const known = `Bearer ${await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read' })}`;
    const unseen = `Bearer ${await oidc.token({ resource: resourceOf('token'), scope: 'mcp.read files.write' })}`;
    assert.equal((await post('token', known)).status, 200);
    await oidc.down();
    assert.equal((await post('token', known)).status, 200);
    assert.equal((await post('token', unseen)).status, 200);
    const cold = createGateway({
      listener: { host: '127.0.0.1', port: 0, public_url: base },
      ops: { host: '127.0.0.1', port: 0 },
      gates: { token: { use: 'oauth-bearer', options: { issuer: oidc.issuer } } },
      runtimes: { demo: { kind: 'hosted', module: DEMO } },
      routes: [{ path: '/token/mcp', gates: ['token'], runtime: 'demo' }],
    });
    await cold.start();
    try {
      const ask = () =>
        fetch(`${cold.url}/token/mcp`, {
          method: 'POST',
          headers: { ...modernHead('tools/list'), authorization: known },
          body: modernBody('tools/list'),
        });
      const refused = await ask();
      assert.equal(refused.status, 503);
      assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
      assert.equal(refused.headers.get('www-authenticate'), null);
      await refused.body?.cancel();
      await oidc.up();
      await until('the keys arrive', async () => (await ask()).status === 200);
      assert.ok(
        (await readMetric(`${cold.ops_url}/metrics`, 'portcullis_jwks_fetches_total', { issuer: 'token', outcome: 'unreachable' })) >= 1,
      );
    } finally {
      await cold.close();
    }
  });
});
