// Tokens bound to a client certificate (RFC 8705): a real authorization server, TLS ended by the gateway itself.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { decodeJwt } from 'jose';
import { Agent, request } from 'undici';
import { createGateway, type Gateway } from '../../src/index.js';
import { modernBody, modernHead } from '../demo/rpc.js';
import { CLIENT_AUTH, type Issued, issue } from '../gates/mtls/certificates.js';
import { repositoryPath } from '../support/repository.js';
import { CERTIFICATE_FIELD, type OidcServer, startOidc } from './oidc-server.js';

const DEMO = repositoryPath('dist/src/demo/server.js');

let oidc: OidcServer;
let gateway: Gateway;
let folder: string;
let ca: Issued;
let alice: Issued;
let bob: Issued;
const agents: Agent[] = [];

before(async () => {
  const day_ms = 86_400_000;
  const dates = { not_before: new Date(Date.now() - day_ms).toISOString(), not_after: new Date(Date.now() + day_ms).toISOString() };
  ca = await issue({ subject: 'CN=test ca', ca: true, ...dates });
  const server = await issue({ issuer: ca, subject: 'CN=gateway', ip: ['127.0.0.1'], ...dates });
  [alice, bob] = [
    await issue({ issuer: ca, subject: 'CN=alice', eku: [CLIENT_AUTH], ...dates }),
    await issue({ issuer: ca, subject: 'CN=bob', eku: [CLIENT_AUTH], ...dates }),
  ];
  folder = await mkdtemp(join(tmpdir(), 'portcullis-bound-'));
  for (const [name, text] of [
    ['ca.pem', ca.pem],
    ['cert.pem', server.pem],
    ['key.pem', server.key_pem],
  ] as const)
    await writeFile(join(folder, name), text);
  oidc = await startOidc();
  const options = { issuer: oidc.issuer, certificate_bound: 'require' };
  gateway = createGateway(
    {
      listener: {
        host: '127.0.0.1',
        port: 0,
        tls: { cert_file: 'cert.pem', key_file: 'key.pem', client_ca_file: 'ca.pem', client_certificates: 'request' },
      },
      ops: { host: '127.0.0.1', port: 0 },
      gates: {
        cert: { use: 'mtls', options: { source: 'direct', required: false } },
        token: { use: 'oauth-bearer', options },
        both: { use: 'oauth-bearer', options: { ...options, certificate_from: 'gate' } },
      },
      runtimes: { demo: { kind: 'hosted', module: DEMO } },
      routes: [
        { path: '/token/mcp', gates: ['token'], runtime: 'demo' },
        { path: '/both/mcp', gates: ['cert', 'both'], runtime: 'demo' },
      ],
    },
    { folder },
  );
  await gateway.start();
});

after(async () => {
  for (const agent of agents) await agent.close();
  await gateway.close();
  await oidc.close();
  await rm(folder, { recursive: true });
});

function callerWith(
  shown: Issued | undefined,
): (path: string, token: string) => Promise<{ readonly status: number; readonly challenge: unknown }> {
  const agent = new Agent({ connect: { ca: ca.pem, ...(shown === undefined ? {} : { cert: shown.pem, key: shown.key_pem }) } });
  agents.push(agent);
  return async (path, token) => {
    const response = await request(gateway.url + path, {
      method: 'POST',
      dispatcher: agent,
      headers: { ...modernHead('tools/list'), authorization: `Bearer ${token}` },
      body: modernBody('tools/list'),
    });
    await response.body.dump();
    return { status: response.statusCode, challenge: response.headers['www-authenticate'] };
  };
}

describe('oauth-bearer with certificate-bound tokens of oidc-provider', () => {
  for (const path of ['/token/mcp', '/both/mcp'])
    it(`${path}: the token opens nothing without the certificate that it is bound to`, async () => {
      const resource = gateway.url + path;
      const token = await oidc.token({ client: 'bound', resource, headers: { [CERTIFICATE_FIELD]: encodeURIComponent(alice.pem) } });
      const thumbprint = Buffer.from(new X509Certificate(alice.der).fingerprint256.replaceAll(':', ''), 'hex').toString('base64url');
      assert.deepEqual(decodeJwt(token).cnf, { 'x5t#S256': thumbprint });
      const [asAlice, asBob, asNobody] = [callerWith(alice), callerWith(bob), callerWith(undefined)];
      assert.deepEqual(await asAlice(path, token), { status: 200, challenge: undefined });
      for (const ask of [asBob, asNobody]) {
        const refused = await ask(path, token);
        assert.equal(refused.status, 401);
        assert.match(
          String(refused.challenge),
          /^Bearer error="invalid_token", error_description="The token is not bound to the certificate of this caller\."/,
        );
      }
      assert.equal((await asAlice(path, token)).status, 200);
      assert.equal((await asAlice(path, await oidc.token({ resource }))).status, 401);
    });
});
