import { BlockList, isIP } from 'node:net';
import type { Clock } from '../contract/clock.js';
import { type ConnectTarget, type Egress, NO_PROXY, type SocketConnector } from '../contract/egress.js';
import { UpstreamFailure } from './exchange.js';
import { type EgressProxy, openTunnel, type TunnelDone } from './tunnel.js';

/** An egress that our own connections can use too. */
export interface TunnelEgress extends Egress {
  /** The proxy's way to a target; undefined: it is reached directly. The function is `openTunnel`, bound. */
  tunnel(url: string | URL): ((done: TunnelDone) => () => void) | undefined;
}

/** Everything is reached directly. */
export const DIRECT: TunnelEgress = { ...NO_PROXY, tunnel: () => undefined };

/**
 * The egress that an environment describes, read as Go programs read it: `HTTPS_PROXY` or `https_proxy` is the proxy of https targets
 * (`http://` or `https://`, which may be left out; user name and password become `Proxy-Authorization`), `NO_PROXY` or `no_proxy` the list of those that are
 * reached directly: `example.com` with all names below it, `.example.com` the names below alone, an address, a CIDR block, each with an
 * optional `:port`, or `*`. Loopback and plain http targets never go by the proxy.
 * A proxy of another scheme fails each target that would need it with `PROXY_UNREACHABLE`: nothing goes out directly by mistake.
 */
export function egressFrom(env: Readonly<Record<string, string | undefined>>, clock: Clock): TunnelEgress {
  const named = (env.HTTPS_PROXY || env.https_proxy || '').trim();
  if (named === '') return DIRECT;
  const proxy = parseProxy(named);
  const excluded = parseNoProxy(env.NO_PROXY || env.no_proxy || '');
  const needsProxy = (url: URL): boolean => {
    const host = hostOf(url);
    return url.protocol === 'https:' && !isLoopback(host) && !excluded.some((matches) => matches(host, portOf(url)));
  };
  const tunnel: TunnelEgress['tunnel'] = (target) => {
    const url = new URL(target);
    if (!needsProxy(url)) return undefined;
    if (proxy !== undefined) return (done) => openTunnel(proxy, hostOf(url), portOf(url), clock, done);
    return (done) => {
      done(new UpstreamFailure('PROXY_UNREACHABLE', 'HTTPS_PROXY is not the URL of an http or https proxy'), null);
      return () => undefined;
    };
  };
  return {
    tunnel,
    proxyFor: (target) =>
      needsProxy(new URL(target)) ? (proxy?.name ?? 'HTTPS_PROXY, which is not the URL of an http or https proxy') : undefined,
    connector: (connect) => throughProxy(connect, tunnel),
  };
}

function throughProxy<C extends SocketConnector>(connect: C, tunnel: TunnelEgress['tunnel']): C {
  const direct = connect as unknown as (target: object, done: TunnelDone) => void;
  const through = (target: ConnectTarget, done: TunnelDone): void => {
    const { protocol, hostname, port } = target;
    const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
    const open = tunnel(`${protocol}//${host}${port === '' ? '' : `:${port}`}`);
    if (open === undefined) return direct(target, done);
    open((error, socket) => (socket === null ? done(error, null) : direct({ ...target, httpSocket: socket }, done)));
  };
  return through as unknown as C;
}

/** Undefined: the proxy cannot be used. */
function parseProxy(text: string): (EgressProxy & { readonly name: string }) | undefined {
  const full = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  const { username, password } = url;
  const credential = username === '' && password === '' ? undefined : `${decoded(username)}:${decoded(password)}`;
  return {
    name: url.origin,
    tls: url.protocol === 'https:',
    host: hostOf(url),
    port: portOf(url),
    authorization: credential === undefined ? undefined : `Basic ${Buffer.from(credential).toString('base64')}`,
  };
}

/** A percent sign that begins no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Matches = (host: string, port: number) => boolean;

function parseNoProxy(list: string): readonly Matches[] {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(toMatcher);
}

function toMatcher(entry: string): Matches {
  if (entry === '*') return () => true;
  const [, bare, , port] = /^(\[[^\]]*\]|[^:]*)(:([0-9]+))?$/.exec(entry) ?? [undefined, entry, undefined, undefined];
  const only = port === undefined ? undefined : Number(port);
  const host = (bare ?? entry).replace(/^\[(.*)\]$/, '$1');
  const inBlock = toBlock(host);
  if (inBlock !== undefined) return (asked, at) => (only === undefined || only === at) && inBlock(asked);
  const name = host.replace(/^\*\./, '.').replace(/\.$/, '');
  const below = name.startsWith('.') ? name : `.${name}`;
  return (asked, at) => (only === undefined || only === at) && (asked.endsWith(below) || asked === name);
}

/** Of an address or a CIDR block; undefined: the entry is a name. */
function toBlock(entry: string): ((host: string) => boolean) | undefined {
  const [, address = '', , bits] = /^([^/]*)(\/([0-9]{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0) return undefined;
  const most = family === 6 ? 128 : 32;
  const block = new BlockList();
  block.addSubnet(address, Math.min(bits === undefined ? most : Number(bits), most), family === 6 ? 'ipv6' : 'ipv4');
  return (host) => isIP(host) !== 0 && block.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || LOOPBACK(host);
}

const LOOPBACK: (host: string) => boolean = (host) => LOOPBACK_BLOCKS.some((inBlock) => inBlock?.(host) === true);
const LOOPBACK_BLOCKS = ['127.0.0.0/8', '::1/128', '::ffff:127.0.0.0/104'].map(toBlock);

/** As socket addresses have it: no brackets, no dot at the end. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}
