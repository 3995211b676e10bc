import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { type Issued, issue } from '../../gates/mtls/certificates.js';
import { startMcpUpstream } from '../mcp-upstream.js';
import { type RawAnswer, rawExchange, type Step } from '../raw.js';
import type { Upstream } from '../upstream.js';
import { type RunningGateway, startGateway } from './gateway.js';

export const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
export const SHORT_LIMITS =
  '{ head_timeout_ms: 2000, read_timeout_ms: 1000, body_timeout_ms: 2000, max_body_bytes: 100000, drain_timeout_ms: 10000 }';

/** A whole head of a POST to `/mcp`. */
export const head = (extra = '', length = PING.length): string =>
  `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${extra}Content-Length: ${length}\r\n\r\n`;

/** Validity of certificates that a test makes: yesterday to tomorrow. */
export const lasting = () => ({
  not_before: new Date(Date.now() - 86_400_000).toISOString(),
  not_after: new Date(Date.now() + 86_400_000).toISOString(),
});

/** Gateways that terminate TLS, with certificates of one authority in a folder of their own. */
export interface TlsRig {
  readonly folder: string;
  readonly upstream: Upstream;
  /** PEM of the authority of the server certificates. */
  readonly ca: string;
  /** Makes a server certificate for loopback. */
  server(subject: string): Promise<Issued>;
  /** Puts a certificate and its key in place as `PREFIXcrt.pem` and `PREFIXkey.pem`, each at once. */
  put(prefix: string, issued: Issued): void;
  /** Starts a gateway with `SHORT_LIMITS`. `tls` is added to `listener.tls`, `more` takes the place of the one public route `/mcp`. */
  start(tls?: string, more?: string, prefix?: string): Promise<RunningGateway>;
  /** Raw bytes over TLS. */
  raw(gateway: RunningGateway, steps: readonly Step[], limit_ms?: number): Promise<RawAnswer>;
  /** What a handshake came to: the subject of the server's certificate, or the code of the error. */
  handshake(gateway: RunningGateway, options?: ConnectionOptions): Promise<{ readonly peer: string; readonly socket: TLSSocket }>;
  close(): Promise<void>;
}

export const portOf = ({ url }: RunningGateway): number => Number(new URL(url).port);

export async function openTlsRig(): Promise<TlsRig> {
  const upstream = await startMcpUpstream();
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-tls-'));
  const authority = await issue({ subject: 'CN=authority', ca: true, ...lasting() });
  const server = (subject: string) => issue({ issuer: authority, subject, dns: ['localhost'], ip: ['127.0.0.1'], ...lasting() });
  const secure =
    (options: ConnectionOptions = {}) =>
    (port: number, host: string): TLSSocket =>
      tlsConnect({ port, host, ca: authority.pem, ...options });
  const put: TlsRig['put'] = (prefix, { pem, key_pem }) => {
    for (const [name, text] of Object.entries({ crt: pem, key: key_pem })) {
      writeFileSync(join(folder, `${prefix}${name}.new`), text);
      renameSync(join(folder, `${prefix}${name}.new`), join(folder, `${prefix}${name}.pem`));
    }
  };
  put('', await server('CN=first'));
  return {
    folder,
    upstream,
    ca: authority.pem,
    server,
    put,
    start: (tls = '', more = 'routes: [{ path: /mcp, public: true, runtime: server }]', prefix = '') =>
      startGateway(`
listener:
  port: 0
  limits: ${SHORT_LIMITS}
  tls: { cert_file: ${folder}/${prefix}crt.pem, key_file: ${folder}/${prefix}key.pem${tls} }
ops: { port: 0 }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
${more}
`),
    raw: (gateway, steps, limit_ms) => rawExchange(portOf(gateway), steps, limit_ms, '127.0.0.1', secure()),
    handshake(gateway, options) {
      const socket = secure(options)(portOf(gateway), '127.0.0.1');
      return new Promise((resolve) => {
        socket.on('error', (error: NodeJS.ErrnoException) => resolve({ peer: error.code ?? error.message, socket }));
        socket.on('secureConnect', () => resolve({ peer: String(socket.getPeerCertificate().subject.CN), socket }));
      });
    },
    async close() {
      await upstream.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
