import type { Claims } from './claims.js';

/** Request header fields as they arrived: each character of a value is one byte; `fieldText` reads it as UTF-8. Names are asked for in lower case. */
export interface HeaderView {
  /** The only value of the field; undefined when it is absent or repeated. */
  get(name: string): string | undefined;
  /** Every value of the field in order of arrival; empty when absent. */
  all(name: string): readonly string[];
  /** Name, value, name, value … exactly as received. */
  readonly raw: readonly string[];
}

/** The TLS side of a connection that this listener terminated. */
export interface PeerTls {
  /** True when the client certificate chains to `listener.tls.client_ca_file`. */
  readonly authorized: boolean;
  /** DER bytes of the client's leaf certificate; undefined when it sent none. */
  readonly certificate: Uint8Array | undefined;
}

/** The other end of the connection. */
export interface RemoteAddress {
  /** Address of the TCP peer; an IPv4-mapped IPv6 address is written as IPv4. */
  readonly address: string;
  /** True when `address` is in `listener.trusted_proxies`: only then are its forwarded headers believed. */
  readonly trusted: boolean;
  /** The client's address: `X-Forwarded-For` read from the right across trusted proxies, else `address`; `unknown` when that entry is not an address. */
  readonly client_address: string;
  /** Undefined on a plaintext listener. */
  readonly tls: PeerTls | undefined;
}

/** Everything known when the request head is complete and no body byte was read. Treat it as immutable. */
export interface RequestHead {
  /** Request id: in the answer's `X-Request-Id`, in error bodies and in log lines. */
  readonly id: string;
  readonly method: string;
  /** The exact path that the route table matched, without the query. */
  readonly path: string;
  /** Text after `?`, without it; empty when there is none. */
  readonly query: string;
  readonly headers: HeaderView;
  readonly peer: RemoteAddress;
  /** What the MCP headers claim. Binding for the modern era: the body is compared with it after the gates. */
  readonly claims: Claims;
  /** Milliseconds since the epoch. */
  readonly received_at_ms: number;
}
