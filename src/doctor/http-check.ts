import { Agent, buildConnector, request } from 'undici';
import type { Egress } from '../contract/egress.js';

export interface HttpCheck {
  readonly method?: 'GET' | 'POST' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of the CAs that the server must chain to. Default: the public ones. */
  readonly ca?: string | undefined;
  /** The way there. Default: directly. */
  readonly egress?: Egress | undefined;
  /** Read an event stream up to the end of its first event. Default: not at all. */
  readonly first_event?: boolean;
}

export interface HttpCheckReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** At most the first 64 KiB, without a byte order mark. */
  readonly body: string;
}

const MAX_BODY_BYTES = 65_536;
const utf8 = new TextDecoder();

/** Sends one request on its own connection, TLS verified, no redirect followed. Rejects with Node's or undici's error. */
export async function runHttpCheck(url: string, asked: HttpCheck, signal: AbortSignal): Promise<HttpCheckReply> {
  const { method = 'GET', headers = {}, body = null, ca, egress, first_event = false } = asked;
  const connect = buildConnector(ca === undefined ? {} : { ca });
  const agent = new Agent({ pipelining: 0, connect: egress?.connector(connect) ?? connect });
  try {
    const { statusCode: status, headers: fields, body: stream } = await request(url, { dispatcher: agent, method, headers, body, signal });
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('error', () => undefined);
    // An event stream has no end: its head is answer enough.
    const endless = String(fields['content-type']).startsWith('text/event-stream');
    if (!endless || first_event) {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > MAX_BODY_BYTES || (endless && /\r?\n\r?\n/.test(chunk.toString('latin1')))) break;
      }
    }
    return { status, headers: fields, body: utf8.decode(Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES)) };
  } finally {
    await agent.destroy();
  }
}

/** Which proxy a target was reached through, for the end of a finding. */
export function viaProxy(url: string, egress: Egress): string {
  const proxy = egress.proxyFor(url);
  return proxy === undefined ? '' : `, through the proxy ${proxy}`;
}

/** The reason for a missing answer, and the remedy, as text. */
export function whyUnreachable(error: unknown): { readonly message: string; readonly remedy: string } {
  const code = codeOf(error);
  const known = WORDS[code];
  if (code.startsWith('PROXY_'))
    return {
      message: `${(error as Error).message} (${code})`,
      remedy: 'Correct HTTPS_PROXY, or let NO_PROXY name this host if it is reached directly.',
    };
  if (known !== undefined) return { message: `${known[0]} (${code})`, remedy: known[1] };
  if (/^(?:CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(code))
    return {
      message: `TLS could not be verified (${code})`,
      remedy: 'Look at its certificate: openssl s_client -connect HOST:PORT -showcerts',
    };
  return { message: `cannot be reached (${code})`, remedy: 'Check that it is running and that no firewall blocks it.' };
}

function codeOf(error: unknown): string {
  const { code, name, cause } = error as { readonly code?: unknown; readonly name?: string; readonly cause?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  return cause === undefined ? (name ?? 'unknown error') : codeOf(cause);
}

const TRUST = 'Name the CA that signed it: ca_file of a runtime, NODE_EXTRA_CA_CERTS for an issuer.';
const WORDS: Readonly<Record<string, readonly [message: string, remedy: string]>> = {
  ECONNREFUSED: ['nothing listens there', 'Start it, or correct host and port.'],
  ENOTFOUND: ['the host name is unknown', 'Correct the name, or look at the DNS of this machine.'],
  EAI_AGAIN: ['the host name could not be looked up', 'Look at the DNS of this machine.'],
  ECONNRESET: ['the connection was reset', 'Check that the port speaks HTTP, with TLS if the URL says https.'],
  UND_ERR_SOCKET: ['the connection was closed without an answer', 'Check that the port speaks HTTP, with TLS if the URL says https.'],
  UND_ERR_CONNECT_TIMEOUT: ['no connection in time', 'Check that no firewall blocks it.'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['that port does not speak TLS', 'Write http:// or correct the port.'],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'Renew it there.'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name', 'Use a name of the certificate in the URL.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', TRUST],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate chains to an unknown CA', TRUST],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate chains to an unknown CA', `${TRUST} The server may also leave out an intermediate.`],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['its certificate chains to an unknown CA', TRUST],
};
