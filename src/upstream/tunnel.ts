import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../contract/clock.js';
import { UpstreamFailure } from './exchange.js';

/** A proxy that opens tunnels by CONNECT (RFC 9110 section 9.3.6). */
export interface EgressProxy {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; undefined: none is sent. */
  readonly authorization: string | undefined;
}

/** Takes the open tunnel, or why there is none. Called once. */
export type TunnelDone = (error: Error | null, socket: Socket | null) => void;

/** From the first packet to the proxy until its answer; beyond it the tunnel fails with `PROXY_TIMEOUT`. */
export const TUNNEL_TIMEOUT_MS = 10_000;
/** Bytes of the proxy's answer; more fail the tunnel with `PROXY_BROKEN`. */
const MAX_ANSWER_BYTES = 16_384;

/**
 * Opens a tunnel to `host:port`. Fails with `PROXY_UNREACHABLE`, `PROXY_TIMEOUT`, `PROXY_BROKEN`, or `PROXY_REFUSED_` and the proxy's status;
 * no message holds an address or a credential. Returns what gives the attempt up without a call of `done`.
 */
export function openTunnel(proxy: EgressProxy, host: string, port: number, clock: Clock, done: TunnelDone): () => void {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const shared = { host: proxy.host, port: proxy.port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  const socket = proxy.tls ? connectTls({ ...shared, ...(isName(proxy.host) ? { servername: proxy.host } : {}) }) : connectTcp(shared);
  let answer = Buffer.alloc(0);
  const release = (): void => {
    timer.cancel();
    socket.removeListener('data', read);
    socket.removeListener('end', closed);
    socket.removeListener('close', closed);
  };
  const fail = (error: UpstreamFailure): void => {
    release();
    socket.destroy();
    done(error, null);
  };
  const closed = (): void => fail(new UpstreamFailure('PROXY_BROKEN', 'the egress proxy closed the connection'));
  const unreachable = (cause: Error): void =>
    fail(new UpstreamFailure('PROXY_UNREACHABLE', `the egress proxy cannot be reached (${String((cause as NodeJS.ErrnoException).code)})`));
  const read = (bytes: Buffer): void => {
    answer = Buffer.concat([answer, bytes]);
    const end = answer.indexOf('\r\n\r\n');
    if (end < 0 && answer.length <= MAX_ANSWER_BYTES) return;
    const status = /^HTTP\/1\.[01] ([1-5][0-9]{2})(?: |\r\n)/.exec(answer.toString('latin1', 0, 64))?.[1];
    if (end < 0 || status === undefined) return fail(new UpstreamFailure('PROXY_BROKEN', 'the egress proxy does not answer in HTTP/1.1'));
    if (!status.startsWith('2')) return fail(new UpstreamFailure(`PROXY_REFUSED_${status}`, `the egress proxy answered ${status}`));
    release();
    socket.removeListener('error', unreachable);
    socket.pause();
    const rest = answer.subarray(end + 4);
    if (rest.length > 0) socket.unshift(rest);
    done(null, socket);
  };
  const timer = clock.timer(TUNNEL_TIMEOUT_MS, () => fail(new UpstreamFailure('PROXY_TIMEOUT', 'the egress proxy did not answer in time')));
  socket.once(proxy.tls ? 'secureConnect' : 'connect', () => {
    const credential = proxy.authorization === undefined ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credential}\r\n`, 'latin1');
  });
  socket.on('data', read);
  socket.on('end', closed);
  socket.on('close', closed);
  socket.once('error', unreachable);
  return () => {
    release();
    socket.removeListener('error', unreachable);
    socket.on('error', () => undefined);
    socket.destroy();
  };
}

function isName(host: string): boolean {
  return !host.includes(':') && !/^[0-9.]+$/.test(host);
}
