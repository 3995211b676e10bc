import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { auth, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import { systemClock } from '../../src/system-clock.js';
import type { Json } from './rpc.js';

const audience = 'http://127.0.0.1:8080/mcp';

async function withIssuer(run: (demo: DemoIssuer) => Promise<void>): Promise<void> {
  const demo = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience, scopes: ['mcp.read', 'mcp.write'], clock: systemClock });
  try {
    await run(demo);
  } finally {
    await demo.close();
  }
}

async function verified(demo: DemoIssuer, token: string, expected = audience) {
  const keys = createRemoteJWKSet(new URL(`${demo.issuer}/jwks`));
  return (await jwtVerify(token, keys, { issuer: demo.issuer, audience: expected, typ: 'at+jwt', algorithms: ['ES256'] })).payload;
}

async function json(url: string): Promise<Json> {
  return (await fetch(url)).json();
}

async function askToken(demo: DemoIssuer, form: Record<string, string> | string[][], headers: Record<string, string> = {}) {
  const response = await fetch(`${demo.issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams(form as Record<string, string>),
    headers,
  });
  return { status: response.status, body: (await response.json()) as Json };
}

describe('development issuer', () => {
  it('prints a token that verifies against its keys', () =>
    withIssuer(async (demo) => {
      const claims = await verified(demo, demo.token);
      assert.deepEqual([claims.sub, claims.client_id, claims.scope], ['demo-user', 'demo-user', 'mcp.read mcp.write']);
      assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 43_200);
      assert.deepEqual(decodeProtectedHeader(demo.token), { alg: 'ES256', typ: 'at+jwt', kid: 'development' });
      const keys = await json(`${demo.issuer}/jwks`);
      assert.deepEqual(Object.keys(keys.keys[0]).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    }));

  it('is found by both discoveries and says that it is for development only', () =>
    withIssuer(async (demo) => {
      for (const path of ['oauth-authorization-server', 'openid-configuration']) {
        const metadata = await json(`${demo.issuer}/.well-known/${path}`);
        assert.deepEqual(
          [metadata.issuer, metadata.token_endpoint, metadata.jwks_uri],
          [demo.issuer, `${demo.issuer}/token`, `${demo.issuer}/jwks`],
        );
        assert.equal(metadata.development_only, true);
      }
    }));

  it('mints for the resource that is asked for', () =>
    withIssuer(async (demo) => {
      const resource = 'http://127.0.0.1:8080/other/mcp';
      const form = { grant_type: 'client_credentials', client_id: 'me', resource, scope: 'mcp.read' };
      const { status, body } = await askToken(demo, form);
      assert.deepEqual([status, body.token_type, body.expires_in, body.scope], [200, 'Bearer', 43_200, 'mcp.read']);
      const claims = await verified(demo, body.access_token, resource);
      assert.deepEqual([claims.sub, claims.scope], ['me', 'mcp.read']);
      const basic = { authorization: `Basic ${Buffer.from('a%2Fb:secret').toString('base64')}` };
      const second = await askToken(demo, { grant_type: 'client_credentials' }, basic);
      assert.equal((await verified(demo, second.body.access_token)).sub, 'a/b');
    }));

  it('refuses as OAuth says', () =>
    withIssuer(async (demo) => {
      const base = { grant_type: 'client_credentials', client_id: 'me' };
      const cases: readonly [Record<string, string> | string[][], number, string][] = [
        [{ client_id: 'me' }, 400, 'unsupported_grant_type'],
        [{ grant_type: 'client_credentials' }, 401, 'invalid_client'],
        [{ ...base, scope: 'admin' }, 400, 'invalid_scope'],
        [{ ...base, resource: 'mcp' }, 400, 'invalid_target'],
        [{ ...base, resource: 'http://127.0.0.1/mcp#x' }, 400, 'invalid_target'],
        [[...Object.entries(base), ['resource', 'http://a/'], ['resource', 'http://b/']], 400, 'invalid_target'],
        [{ ...base, filler: 'x'.repeat(20_000) }, 413, 'invalid_request'],
      ];
      for (const [form, status, error] of cases) {
        const answer = await askToken(demo, form);
        assert.deepEqual([answer.status, answer.body.error], [status, error]);
      }
    }));

  it('is for this machine alone', async () => {
    await assert.rejects(
      startDemoIssuer({ host: '0.0.0.0', port: 0, audience, scopes: [], clock: systemClock }),
      /the demo listens on 127\.0\.0\.1, ::1, localhost only, not on 0\.0\.0\.0/,
    );
    await withIssuer(async (demo) => {
      const status = await new Promise((resolve, reject) => {
        const sent = request(`${demo.issuer}/token`, { method: 'POST', headers: { host: 'rebound.example' } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on('error', reject);
        sent.end('grant_type=client_credentials&client_id=me');
      });
      assert.equal(status, 403);
    });
  });

  it('serves an official client that is pointed at it by a protected resource', () =>
    withIssuer(async (demo) => {
      const resource = createServer((_request, response) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ resource: url, authorization_servers: [demo.issuer] }));
      });
      await new Promise<void>((resolve) => resource.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(resource.address() as AddressInfo).port}/mcp`;
      try {
        const provider = new ClientCredentialsProvider({ clientId: 'agent', clientSecret: 'any', expectedIssuer: demo.issuer });
        assert.equal(await auth(provider, { serverUrl: url }), 'AUTHORIZED');
        assert.equal((await verified(demo, provider.tokens()?.access_token ?? '', url)).sub, 'agent');
      } finally {
        resource.closeAllConnections();
        await new Promise((resolve) => resource.close(resolve));
      }
    }));
});
