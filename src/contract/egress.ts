/** What undici asks of a connector; a socket that is there already is used instead of a new one. */
export interface ConnectTarget {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
}

/** The shape of undici's connectors: `buildConnector()` makes one. */
export type SocketConnector = (target: never, done: never) => unknown;

/**
 * The way out of this machine: https targets outside loopback go through the proxy that `HTTPS_PROXY` names, unless `NO_PROXY` excludes
 * them; everything else is reached directly.
 */
export interface Egress {
  /** Scheme, host and port of the proxy for this target, without credentials; undefined: it is reached directly. */
  proxyFor(url: string | URL): string | undefined;
  /**
   * A connector that opens the proxy's tunnel where one is needed and lets `connect` do the rest: TLS to the target, with its
   * verification, is always `connect`'s own. A proxy that refuses, breaks HTTP or takes longer than 10 s fails the connection with an
   * Error whose `code` begins with `PROXY_`.
   */
  connector<C extends SocketConnector>(connect: C): C;
}

/** Everything is reached directly. */
export const NO_PROXY: Egress = { proxyFor: () => undefined, connector: (connect) => connect };
