import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';

/** A real oidc-provider, mounted below a path as express would mount it. */
export async function mountedProvider(prefix: string, issuer: string): Promise<Server> {
  // @ts-expect-error The package ships no types.
  const { default: Provider } = await import('oidc-provider');
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: 'one' }] },
    scopes: ['mcp.read'],
    clients: [
      {
        client_id: 'agent',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: ['https://client.test/callback'],
      },
    ],
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, audience: string) => ({
          audience,
          scope: 'mcp.read',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  provider.proxy = true;
  const handle = provider.callback();
  return createServer((request, response) => {
    const { url = '' } = request;
    if (!url.startsWith(prefix)) return void response.writeHead(404).end();
    Object.assign(request, { originalUrl: url, url: url.slice(prefix.length) || '/' });
    handle(request, response);
  });
}
