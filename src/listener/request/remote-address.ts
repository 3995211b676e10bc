import { BlockList, isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { HeaderView, PeerTls, RemoteAddress } from '../../contract/head.js';
import { trimOws } from '../../wire/field.js';

/** Decides whose forwarded headers are trusted. Built once from `listener.trusted_proxies` (CIDRs); empty: no proxy is trusted. */
export class RemoteAddresses {
  readonly #trusted = new BlockList();
  readonly #any: boolean;

  constructor(trusted_proxies: readonly string[]) {
    this.#any = trusted_proxies.length > 0;
    for (const cidr of trusted_proxies) {
      const [address = '', bits] = cidr.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(bits), family);
    }
  }

  isTrusted(address: string): boolean {
    if (!this.#any) return false;
    const version = isIP(address);
    return version !== 0 && this.#trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  }

  /** The peer of a connection; kept by the connection for all its requests. */
  peerOf(socket: Socket): SocketPeer {
    const address = plainAddress(socket.remoteAddress ?? '');
    return new SocketPeer(address, this.isTrusted(address), socket, this);
  }

  /**
   * The client's address as a trusted peer's `X-Forwarded-For` tells it: read from the right, the first address that is
   * not a trusted proxy; a port beside it is dropped. Empty elements do not count (RFC 9110 section 5.6.1). An element that
   * is not an address makes the client `unknown`, which is in no network: the proxy's own address is never taken for it.
   */
  clientAddress(peer: RemoteAddress, headers: HeaderView): string {
    let client = peer.address;
    const hops = headers.all('x-forwarded-for').join(',').split(',');
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = trimOws(hops[i] as string);
      if (hop === '') continue;
      client = plainAddress(withoutPort(hop));
      if (isIP(client) === 0) return UNKNOWN;
      if (!this.isTrusted(client)) break;
    }
    return client;
  }
}

const UNKNOWN = 'unknown';

/** `192.0.2.1:443`, `[2001:db8::1]` and `[2001:db8::1]:443` without brackets and port; anything else as it is. */
function withoutPort(hop: string): string {
  const found = /^\[([^\]]{2,64})\](?::[0-9]{1,5})?$/.exec(hop) ?? /^([0-9.]{7,15}):[0-9]{1,5}$/.exec(hop);
  return found?.[1] ?? hop;
}

/** A TCP or TLS peer. */
export class SocketPeer implements RemoteAddress {
  readonly address: string;
  readonly trusted: boolean;
  readonly client_address: string;
  /** The book that said whether it is trusted: a new one asks again. */
  readonly book: RemoteAddresses;
  readonly #socket: Socket;
  #tls: PeerTls | undefined;

  constructor(address: string, trusted: boolean, socket: Socket, book: RemoteAddresses) {
    this.address = this.client_address = address;
    this.trusted = trusted;
    this.#socket = socket;
    this.book = book;
  }

  get tls(): PeerTls | undefined {
    const socket = this.#socket as TLSSocket;
    if (socket.encrypted !== true) return undefined;
    this.#tls ??= { authorized: socket.authorized, certificate: socket.getPeerX509Certificate()?.raw };
    return this.#tls;
  }
}

/** A request that came through a trusted proxy: the same peer, with the client's own address. */
export class ForwardedPeer implements RemoteAddress {
  readonly address: string;
  readonly trusted = true;
  readonly client_address: string;
  readonly #peer: RemoteAddress;

  constructor(peer: RemoteAddress, client_address: string) {
    this.address = peer.address;
    this.client_address = client_address;
    this.#peer = peer;
  }

  get tls(): PeerTls | undefined {
    return this.#peer.tls;
  }
}

/** An IPv4-mapped IPv6 address is written as IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
