// A real authorization server for the end-to-end scripts: oidc-provider on loopback.
import { createServer, type RequestListener, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { freePort } from '../support/e2e/everything-server.js';

/** What a token request may ask for beside the grant. */
export interface TokenWish {
  readonly client?: 'agent' | 'opaque' | 'bound';
  readonly resource: string;
  readonly scope?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OidcServer {
  readonly issuer: string;
  /** Paths it was asked for. */
  readonly asked: readonly string[];
  /** Seconds that tokens live from now on. */
  ttl_s: number;
  /** A token by client_credentials; throws with the server's answer when it is refused. */
  token(wish: TokenWish): Promise<string>;
  revoke(token: string): Promise<void>;
  /** Signs with a new key from now on; the old one stays published, or does not. */
  rotate(keep: boolean): Promise<void>;
  /** Stops listening, and listens again on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

/** Name of the field in which a client shows its certificate to this server, as a TLS terminator would. */
export const CERTIFICATE_FIELD = 'x-client-certificate';

const SECRET = 'a-secret-of-the-test';
const SCOPES = ['mcp.read', 'files.write', 'files.bulk'];

/** Clients: `agent` (JWT), `opaque` (opaque tokens, introspected by `gateway`), `bound` (JWT bound to the certificate shown). */
export async function startOidc(): Promise<OidcServer> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const asked: string[] = [];
  const lifetime = { ttl_s: 3600 };
  const stored = new Map<string, unknown>();
  let keys: JWK[] = [await newKey()];
  let answer = await createProvider(issuer, keys, lifetime, stored);
  let server = await listen(port, asked, () => answer);
  const post = (path: string, form: Record<string, string>, client: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(issuer + path, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`, ...headers },
      body: new URLSearchParams(form),
    });
  const down = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    issuer,
    asked,
    get ttl_s() {
      return lifetime.ttl_s;
    },
    set ttl_s(seconds) {
      lifetime.ttl_s = seconds;
    },
    token: async ({ client = 'agent', resource, scope, headers }) => {
      const form = { grant_type: 'client_credentials', resource, ...(scope === undefined ? {} : { scope }) };
      const response = await post('/token', form, client, headers);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      return (JSON.parse(text) as { readonly access_token: string }).access_token;
    },
    revoke: async (token) => {
      const { status } = await post('/token/revocation', { token }, 'opaque');
      if (status !== 200) throw new Error(`revocation answered ${status}`);
    },
    rotate: async (keep) => {
      keys = [await newKey(), ...(keep ? keys : [])];
      answer = await createProvider(issuer, keys, lifetime, stored);
    },
    down,
    up: async () => {
      await sleep(10);
      server = await listen(port, asked, () => answer);
    },
    close: down,
  };
}

let made = 0;

async function newKey(): Promise<JWK> {
  made += 1;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: `key-${made}` };
}

function listen(port: number, asked: string[], answer: () => RequestListener): Promise<Server> {
  const server = createServer((request, response) => {
    asked.push((request.url ?? '').split('?', 1)[0] ?? '');
    answer()(request, response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

type Provider = new (issuer: string, configuration: object) => { callback(): RequestListener };
type Context = { get(name: string): string };

async function createProvider(issuer: string, keys: JWK[], lifetime: { readonly ttl_s: number }, stored: Map<string, unknown>) {
  // @ts-expect-error The package ships no types.
  const { default: Provider } = (await import('oidc-provider')) as { readonly default: Provider };
  const client = (client_id: string, more: object = {}) => ({
    client_id,
    client_secret: SECRET,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    ...more,
  });
  return new Provider(issuer, {
    jwks: { keys },
    scopes: SCOPES,
    clients: [client('agent'), client('opaque'), client('bound', { tls_client_certificate_bound_access_tokens: true }), client('gateway')],
    adapter: memoryAdapter(stored),
    ttl: { ClientCredentials: () => lifetime.ttl_s },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      jwtIntrospection: { enabled: true },
      revocation: { enabled: true },
      dPoP: { enabled: true },
      mTLS: {
        enabled: true,
        certificateBoundAccessTokens: true,
        getCertificate: (ctx: Context) => decodeURIComponent(ctx.get(CERTIFICATE_FIELD)) || undefined,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: Context, resource: string, { clientId }: { readonly clientId: string }) => ({
          audience: resource,
          scope: SCOPES.join(' '),
          accessTokenFormat: clientId === 'opaque' ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  }).callback();
}

/** Tokens survive a rotation, which makes a new provider. */
function memoryAdapter(stored: Map<string, unknown>) {
  return class {
    readonly #model: string;
    constructor(model: string) {
      this.#model = model;
    }
    async upsert(id: string, payload: unknown): Promise<void> {
      stored.set(`${this.#model}:${id}`, payload);
    }
    async find(id: string): Promise<unknown> {
      return stored.get(`${this.#model}:${id}`);
    }
    async destroy(id: string): Promise<void> {
      stored.delete(`${this.#model}:${id}`);
    }
  };
}
