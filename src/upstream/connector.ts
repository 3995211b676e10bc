import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, createSecureContext } from 'node:tls';

/** Takes what was read: `n` bytes at the start of the buffer that all connections share. False: stop reading. */
export type OnRead = (n: number, shared: Buffer) => boolean;

/** Opens sockets to one origin. */
export interface Connector {
  /** The event that says that the socket may be written to. */
  readonly ready: 'connect' | 'secureConnect';
  open(onread: OnRead): Socket;
}

/**
 * Makes the connector of an http or https origin. TLS is always verified, against `ca` (PEM) or the public authorities, with the
 * origin's host as server name; a later handshake resumes the last session.
 */
export function createConnector(origin: string, ca: string | undefined): Connector {
  const { protocol, hostname, port } = new URL(origin);
  // An IPv6 address stands in brackets in a URL and without them in a socket address.
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const shared = { host, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  if (protocol === 'http:') {
    const options = { ...shared, port: port === '' ? 80 : Number(port) };
    return {
      ready: 'connect',
      open: (callback) => connectTcp({ ...options, onread: { buffer: readBuffer, callback: callback as never } }),
    };
  }
  // Made once: building the trust store for each connection costs milliseconds.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  const options = {
    ...shared,
    port: port === '' ? 443 : Number(port),
    rejectUnauthorized: true,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
  let session: Buffer | undefined;
  return {
    ready: 'secureConnect',
    open(callback) {
      // The types know of `onread` for TCP only; Node's TLS socket takes it alike.
      const reading = { onread: { buffer: readBuffer, callback } } as ConnectionOptions;
      const socket = connectTls({ ...options, ...reading, ...(session === undefined ? {} : { session }) });
      // Node tells a session only once the peer was verified.
      socket.on('session', (latest: Buffer) => {
        session = latest;
      });
      // One that the upstream does not take any more must not spoil the next attempt too.
      socket.once('error', () => {
        session = undefined;
      });
      return socket;
    },
  };
}

/** Node reads one socket at a time and its bytes are copied out before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(65_536);
const readBuffer = (): Buffer => READ_BUFFER;
