import { publicUrl } from '../assembly/urls.js';
import { type ClientError, connect } from '../client.js';
import type { LoadedConfig } from '../config/load.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import { assembleGateway, type WatchedGateway } from '../gateway.js';
import { DIRECT, type TunnelEgress } from '../upstream/egress.js';
import { type Finding, fail, ok } from './check.js';
import { runHttpCheck, whyUnreachable } from './http-check.js';

/** A route as a client meets it. */
export interface CheckedEndpoint {
  /** For the names of the findings. */
  readonly name: string;
  /** Where it is dialled from here. */
  readonly url: string;
  /** What its discovery document must name as resource; undefined: whatever it names. */
  readonly resource: string | undefined;
  /** Where the document is, when it cannot be asked for at the URL that the challenge names. */
  readonly document: string | undefined;
  readonly token: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What a TLS terminator in front would add to every request: the client's certificate. */
  readonly added: Readonly<Record<string, string>>;
  readonly ca: string | undefined;
}

/** How a client without credentials is met: admitted, or refused with a challenge whose discovery document is right. */
export async function checkChallenge(
  endpoint: CheckedEndpoint,
  signal: AbortSignal,
): Promise<{ readonly findings: readonly Finding[]; readonly open: boolean }> {
  const check = `${endpoint.name} challenge`;
  try {
    const answer = await runHttpCheck(
      endpoint.url,
      { method: 'POST', headers: { ...CALL, ...endpoint.added }, body: PING, ca: endpoint.ca },
      signal,
    );
    const challenge = String(answer.headers['www-authenticate'] ?? '');
    if (answer.status === 401) {
      const document = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
      if (document !== undefined) {
        const findings = [
          ok(check, 'asks for a token, and names its discovery document'),
          await readDocument(endpoint, endpoint.document ?? document, signal),
        ];
        return { findings, open: false };
      }
      if (challenge === '')
        return {
          findings: [fail(check, '401 without WWW-Authenticate', 'No client can find out what to send; look what stands in front.')],
          open: false,
        };
      return { findings: [ok(check, `asks for credentials: ${challenge.slice(0, 200)}`)], open: false };
    }
    if (answer.status === 404 && codeIn(answer.body) === 'NO_ROUTE')
      return { findings: [fail(check, '404: no route has this path', 'Correct the path of the URL.')], open: false };
    if (answer.status === 403)
      return { findings: [ok(check, `refuses who has no credentials: 403 ${codeIn(answer.body)}`.trim())], open: false };
    return { findings: [ok(check, 'asks this machine for no credentials')], open: true };
  } catch (error) {
    signal.throwIfAborted();
    const { message, remedy } = whyUnreachable(error);
    return { findings: [fail(check, message, remedy)], open: false };
  }
}

/** The RFC 9728 document: JSON whose resource is the URL that clients dial, with an authorization server. */
async function readDocument(endpoint: CheckedEndpoint, url: string, signal: AbortSignal): Promise<Finding> {
  const check = `${endpoint.name} discovery`;
  try {
    const { status, body } = await runHttpCheck(url, { headers: { accept: 'application/json' }, ca: endpoint.ca }, signal);
    if (status !== 200) return fail(check, `${url} answers ${status}`, 'Route /.well-known/oauth-protected-resource to the gateway too.');
    const { resource, authorization_servers } = JSON.parse(body) as { resource?: unknown; authorization_servers?: unknown };
    if (endpoint.resource !== undefined && resource !== endpoint.resource)
      return fail(
        check,
        `names ${String(resource)} as resource, and clients dial ${endpoint.resource}`,
        'Set listener.public_url to what clients dial; they refuse another resource.',
      );
    if (!Array.isArray(authorization_servers) || authorization_servers.length === 0)
      return fail(check, 'names no authorization server', 'Look who answers there: it is not the gateway.');
    return ok(check, `resource ${String(resource)}, authorization server ${authorization_servers.join(', ')}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SyntaxError) return fail(check, `${url} is not JSON`, 'Look who answers there: it is not the gateway.');
    const { message, remedy } = whyUnreachable(error);
    return fail(check, `${url}: ${message}`, remedy);
  }
}

/** Shakes hands in one era. `open`: the route asks for no credentials. */
export async function shakeHands(
  endpoint: CheckedEndpoint,
  era: 'modern' | 'legacy',
  open: boolean,
  clock: Clock,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<Finding> {
  const check = `${endpoint.name} ${era}`;
  const headers = { ...endpoint.headers, ...endpoint.added };
  const armed = endpoint.token !== undefined || Object.keys(headers).length > 0;
  if (!open && !armed) return ok(check, 'not tried: the gates ask for credentials; give --token-file, --certificate or --header');
  const { url: http, token, ca } = endpoint;
  try {
    const client = await connect(
      { http, headers, ...(token === undefined ? {} : { bearer: token }), ...(ca === undefined ? {} : { ca }) },
      { era, signal, timeout_ms, start_timeout_ms: timeout_ms, clock },
    );
    const { revision, server_info: info } = client.server;
    await client.close({ signal });
    return ok(check, `${info === undefined ? 'a server' : `${info.name} ${info.version}`.slice(0, 120)} speaks ${revision}`);
  } catch (error) {
    signal.throwIfAborted();
    return refusal(check, error as ClientError);
  }
}

function refusal(check: string, { code, message, status }: ClientError): Finding {
  const told = message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 300);
  if (code === 'UNAUTHORIZED' || code === 'FORBIDDEN')
    return fail(
      check,
      `refused with ${status ?? code}: ${told}`,
      'portcullis explain --route PATH --token-file FILE says which gate decided, and why.',
    );
  if (code === 'NO_COMMON_VERSION') return ok(check, 'the server behind does not speak this era');
  return fail(check, `${code}: ${told}`, 'Look at the server behind the route; its log, or that of the gateway, says more.');
}

function codeIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { data?: { code?: unknown } } };
    return typeof error?.data?.code === 'string' ? error.data.code : '';
  } catch {
    return '';
  }
}

const CALL = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/**
 * A gateway of the config in this process, on a free loopback port: same gates, routes and runtimes; no TLS, no ops listener, no audit,
 * and every `Host`. The URL that clients use for it is unchanged, so that audiences are checked as in production. `terminated`: this
 * machine is believed as the TLS terminator is.
 */
export function createEmbeddedGateway(loaded: LoadedConfig, terminated: boolean, log: Log, egress: TunnelEgress = DIRECT): WatchedGateway {
  const { config } = loaded;
  const { tls: _, ...listener } = config.listener;
  const { audit: __, ...telemetry } = config.telemetry;
  const own = {
    ...config,
    listener: {
      ...listener,
      host: '127.0.0.1',
      port: 0,
      public_url: publicUrl(config),
      allowed_hosts: [],
      trusted_proxies: terminated ? [...listener.trusted_proxies, '127.0.0.1'] : listener.trusted_proxies,
    },
    ops: { ...config.ops, enabled: false },
    telemetry,
    reload: { ...config.reload, watch: false },
  };
  return assembleGateway({ ...loaded, config: own, warnings: [] }, { log, egress });
}
