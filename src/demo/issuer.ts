import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Clock } from '../contract/clock.js';
import { systemClock } from '../system-clock.js';
import { closeServer, isLoopbackName, listenOn, loopbackOnly, readBody } from './loopback.js';

const TOKEN_LIFETIME_S = 43_200;
const MAX_FORM_BYTES = 10_000;

export interface DemoIssuerOptions {
  /** A loopback address. */
  readonly host: string;
  /** 0 picks one. */
  readonly port: number;
  /** Audience of the printed token, and of others that name no `resource`. */
  readonly audience: string;
  readonly scopes: readonly string[];
  /** Default: the machine’s. */
  readonly clock?: Clock;
}

/** The development issuer, running. */
export interface DemoIssuer {
  readonly issuer: string;
  /** An access token for the audience with all scopes; valid for 12 hours. */
  readonly token: string;
  close(): Promise<void>;
}

/** Makes one access token. */
type Mint = (audience: string, subject: string, scope: string) => Promise<string>;

/**
 * Starts an OAuth issuer FOR DEVELOPMENT ONLY: it gives a token to every caller. It listens on loopback, its key lives as long
 * as the process, and nothing but the demo configuration should trust it. Discovery by RFC 8414 and OpenID Connect, ES256 keys,
 * and `client_credentials` with `resource` (RFC 8707); tokens are `at+jwt` (RFC 9068).
 */
export async function startDemoIssuer(options: DemoIssuerOptions): Promise<DemoIssuer> {
  loopbackOnly(options.host);
  const { clock = systemClock } = options;
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), kid: 'development', use: 'sig', alg: 'ES256' };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 });
  server.maxConnections = 64;
  const issuer = await listenOn(server, options);

  const mint: Mint = (audience, subject, scope) => {
    const now_s = Math.floor(clock.now_ms() / 1_000);
    return new SignJWT({ client_id: subject, scope })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(subject)
      .setIssuedAt(now_s)
      .setExpirationTime(now_s + TOKEN_LIFETIME_S)
      .setJti(crypto.randomUUID())
      .sign(privateKey);
  };
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    scopes_supported: options.scopes,
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    development_only: true,
  };
  const documents: Readonly<Record<string, object>> = {
    '/.well-known/oauth-authorization-server': metadata,
    '/.well-known/openid-configuration': metadata,
    '/jwks': { keys: [key] },
  };
  server.on('request', (request, response) => {
    serve(request, response, documents, options, mint).catch(() => response.destroy());
  });
  return {
    issuer,
    token: await mint(options.audience, 'demo-user', options.scopes.join(' ')),
    close: () => closeServer(server, clock),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  documents: Readonly<Record<string, object>>,
  options: DemoIssuerOptions,
  mint: Mint,
): Promise<void> {
  // A page that reached this port through its own domain could read a token (DNS rebinding).
  if (!isLoopbackName(request.headers.host)) return send(response, 403, oauthError('access_denied', 'The Host is not a loopback name.'));
  const path = request.url?.split('?', 1)[0] ?? '';
  const document = Object.hasOwn(documents, path) ? documents[path] : undefined;
  if (request.method === 'GET' && document !== undefined) return send(response, 200, document);
  if (request.method === 'GET' && path === '/authorize')
    return send(response, 400, oauthError('unsupported_response_type', 'There are no users here; use client_credentials.'));
  if (request.method !== 'POST' || path !== '/token') return send(response, 404, oauthError('invalid_request', 'There is nothing here.'));
  const body = await readBody(request, MAX_FORM_BYTES);
  if (body === undefined)
    return send(response.setHeader('connection', 'close'), 413, oauthError('invalid_request', 'The form is too large.'));
  const [status, answer] = await issue(new URLSearchParams(body), request.headers.authorization, options, mint);
  send(response, status, answer);
}

/** The token endpoint (RFC 6749 section 4.4, RFC 8707). The client’s secret is not looked at: there is nothing to protect. */
async function issue(
  form: URLSearchParams,
  authorization: string | undefined,
  options: DemoIssuerOptions,
  mint: Mint,
): Promise<readonly [number, object]> {
  if (form.get('grant_type') !== 'client_credentials') return [400, oauthError('unsupported_grant_type', 'Use client_credentials.')];
  const client = clientOf(authorization) ?? form.get('client_id');
  if (client === null || client === '' || client.length > 200) return [401, oauthError('invalid_client', 'Send a client_id; any will do.')];
  const [resource = options.audience, ...more] = form.getAll('resource');
  if (more.length > 0 || !isResource(resource)) return [400, oauthError('invalid_target', 'resource must be one absolute http URL.')];
  const scopes = (form.get('scope') ?? options.scopes.join(' ')).split(' ').filter((scope) => scope !== '');
  if (scopes.some((scope) => !options.scopes.includes(scope)))
    return [400, oauthError('invalid_scope', `There is ${options.scopes.join(' ')}.`)];
  const scope = scopes.join(' ');
  return [200, { access_token: await mint(resource, client, scope), token_type: 'Bearer', expires_in: TOKEN_LIFETIME_S, scope }];
}

/** The client of an HTTP Basic header (RFC 6749 section 2.3.1). */
function clientOf(authorization: string | undefined): string | undefined {
  const [scheme, value] = authorization?.split(' ') ?? [];
  if (scheme?.toLowerCase() !== 'basic' || value === undefined) return undefined;
  const [client = ''] = Buffer.from(value, 'base64').toString('utf8').split(':', 1);
  return new URLSearchParams(`client=${client}`).get('client') ?? undefined;
}

function isResource(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && !value.includes('#');
}

const oauthError = (error: string, error_description: string) => ({ error, error_description });

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body));
}
