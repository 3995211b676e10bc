/** What `init` needs to know to write a config. */
export interface Answers {
  readonly server: ServerChoice;
  readonly callers: Callers;
  readonly host: string;
  readonly port: number;
  readonly ops_port: number;
  readonly path: string;
  /** How clients see the gateway; undefined: by its own address. */
  readonly public_url: string | undefined;
  readonly tls: TlsFiles | undefined;
  /** Addresses and CIDRs of the TLS terminator in front. */
  readonly trusted_proxies: readonly string[];
}

/** The MCP server behind the gateway. */
export type ServerChoice =
  | { readonly kind: 'proxied'; readonly url: string }
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] };

/** Who may call. With `mtls` and `oauth` both, a caller shows a certificate and a token. */
export interface Callers {
  readonly oauth?: { readonly issuer: string; readonly audience: string | undefined };
  readonly mtls?: { readonly source: MtlsSource };
  /** File with the SHA-256 of the key, beside the config. */
  readonly api_key?: { readonly sha256_file: string };
  readonly public?: true;
}

export interface TlsFiles {
  readonly cert_file: string;
  readonly key_file: string;
  readonly client_ca_file: string | undefined;
}

/** Who terminates TLS and how it hands over a client's certificate; `direct` is this listener. */
export const MTLS_SOURCES = ['direct', 'nginx', 'haproxy', 'xfcc', 'rfc9440', 'ingress-nginx', 'traefik', 'alb'] as const;

export type MtlsSource = (typeof MTLS_SOURCES)[number];
