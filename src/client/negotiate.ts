import { isObject } from '../core/call/params.js';
import { MODERN, SERVED_REVISIONS } from '../dialect/methods.js';
import { SERVER_INFO_KEY } from '../wire/rpc.js';
import { ClientError } from './client-error.js';
import { type ClientIdentity, encodeLegacy, encodeModern } from './encode.js';
import type { JsonRpcConnection } from './json-rpc-connection.js';
import type { JsonObject } from './messages.js';
import type { Agreement, ServerInfo, Settled } from './options.js';

/**
 * Agrees with the server on an era and a revision (MCP 2026-07-28, Versioning). A modern request first; an answer that only a modern
 * server gives settles the era, any other answer that does not refuse the caller means `initialize`. Rejects with ClientError.
 */
export async function negotiate(link: JsonRpcConnection, self: ClientIdentity, options: Settled): Promise<Agreement> {
  const speakable = link.versions(SERVED_REVISIONS);
  const legacy = speakable.filter((version) => version !== MODERN);
  const { era } = options;
  if (era === 'legacy' || (era === 'auto' && !speakable.includes(MODERN))) return initialize(link, self, options, legacy);
  if (!speakable.includes(MODERN)) throw none('modern', speakable);
  const { timeout_ms, probe_timeout_ms } = options;
  const probe_ms = link.cancels === 'message' && era === 'auto' ? Math.min(probe_timeout_ms, timeout_ms) : timeout_ms;
  const ask = (): Promise<Agreement | ClientError> => discover(link, self, options, probe_ms).catch((error: ClientError) => error);
  let probe = await ask();
  // A server that refuses a version and lists it is asked once more: the list is what counts.
  if (probe instanceof ClientError && supportedOf(probe)?.includes(MODERN) === true) probe = await ask();
  const listed = probe instanceof ClientError ? supportedOf(probe) : probe.supported_versions;
  if (listed?.includes(MODERN) === true) {
    if (probe instanceof ClientError) throw probe;
    return probe;
  }
  if (listed !== undefined) {
    // The server is modern and shares no revision with us, or it lists legacy ones that need a handshake.
    const common = legacy.filter((version) => listed.includes(version));
    if (era === 'modern' || common.length === 0) throw noCommon(listed, speakable);
    return initialize(link, self, options, common);
  }
  const error = probe as ClientError;
  if (isFinal(error, link.cancels)) throw error;
  if (era === 'modern') {
    throw new ClientError('NO_COMMON_VERSION', `the server does not speak ${MODERN}: ${error.message}; try the legacy era`, {
      cause: error,
    });
  }
  return initialize(link, self, options, legacy).catch((second: ClientError) => {
    throw second.code === 'CLOSED' || isFinal(second, link.cancels)
      ? second
      : new ClientError(second.code, `${second.message} (to initialize; before, to server/discover: ${error.message})`, {
          ...(second.status === undefined ? {} : { status: second.status }),
          ...(second.rpc === undefined ? {} : { rpc: second.rpc }),
          cause: second,
        });
  });
}

/** Sends `server/discover` to a modern server. */
export async function discover(
  link: JsonRpcConnection,
  self: ClientIdentity,
  { timeout_max_ms, signal }: Pick<Settled, 'timeout_max_ms' | 'signal'>,
  timeout_ms: number,
): Promise<Agreement> {
  const spoken = encodeModern(self, 'server/discover', {});
  const result = await link.request({
    method: 'server/discover',
    ...spoken,
    timeout_ms,
    timeout_max_ms,
    signal,
    tells_cancel: link.cancels === 'message',
  });
  const versions = result.supportedVersions;
  if (!Array.isArray(versions)) throw new ClientError('BROKEN', 'the answer to server/discover lists no supportedVersions');
  return agreement('modern', MODERN, versions.map(String), result, isObject(result._meta) ? result._meta[SERVER_INFO_KEY] : undefined);
}

/** The handshake of legacy revisions; `versions` are those that this client would speak, newest first. */
export async function initialize(
  link: JsonRpcConnection,
  self: ClientIdentity,
  options: Settled,
  versions: readonly string[],
): Promise<Agreement> {
  const [newest] = versions;
  if (newest === undefined) throw none('legacy', link.versions(SERVED_REVISIONS));
  link.session_id = undefined;
  const { timeout_ms, timeout_max_ms, signal } = options;
  const params = { protocolVersion: newest, capabilities: self.capabilities, clientInfo: self.client_info };
  const result = await link.request({
    method: 'initialize',
    ...encodeLegacy(undefined, params),
    timeout_ms,
    timeout_max_ms,
    signal,
    tells_cancel: false,
  });
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string') throw new ClientError('BROKEN', 'the answer to initialize has no protocolVersion');
  if (!versions.includes(protocolVersion)) throw noCommon([protocolVersion], versions);
  const { headers } = encodeLegacy(protocolVersion, {});
  await link.tell({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers, timeout_ms, signal);
  return agreement('legacy', protocolVersion, [protocolVersion], result, result.serverInfo);
}

const UNSUPPORTED_VERSION = -32022;
const MODERN_CODES: ReadonlySet<number> = new Set([-32020, -32021, UNSUPPORTED_VERSION]);

/** The versions that an `UnsupportedProtocolVersionError` lists. */
function supportedOf({ rpc }: ClientError): readonly string[] | undefined {
  if (rpc?.code !== UNSUPPORTED_VERSION) return undefined;
  const supported = isObject(rpc.data) ? rpc.data.supported : undefined;
  return Array.isArray(supported) ? supported.map(String) : [];
}

/** True for a failure that says nothing about the era, or says that it is the modern one. */
function isFinal({ code, status, rpc }: ClientError, cancels: 'stream' | 'message'): boolean {
  if (rpc !== undefined && MODERN_CODES.has(rpc.code)) return true;
  if (code === 'TIMEOUT') return cancels === 'stream';
  if (code === 'RPC_ERROR' || code === 'BROKEN') return status !== undefined && TELLS_NOTHING(status);
  if (code === 'REFUSED') return status === undefined || TELLS_NOTHING(status);
  return code !== 'ENDED' || cancels === 'message';
}

/** Redirects, limits, and gateways that cannot reach the server. */
const TELLS_NOTHING = (status: number): boolean => (status >= 300 && status < 400) || status === 407 || status === 429 || status > 501;

function agreement(
  era: 'modern' | 'legacy',
  revision: string,
  supported_versions: readonly string[],
  result: JsonObject,
  info: unknown,
): Agreement {
  const { capabilities, instructions } = result;
  return Object.freeze({
    era,
    revision,
    supported_versions,
    server_info: isObject(info) ? (info as unknown as ServerInfo) : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  });
}

function noCommon(theirs: readonly string[], ours: readonly string[]): ClientError {
  return new ClientError(
    'NO_COMMON_VERSION',
    `the server speaks ${theirs.map(String).join(', ') || 'no revision that it names'}; this client ${ours.join(', ')}`,
  );
}

function none(era: string, speakable: readonly string[]): ClientError {
  return new ClientError(
    'NO_COMMON_VERSION',
    `the transport speaks ${speakable.join(', ') || 'no known revision'}, none of the ${era} era`,
  );
}
